"""What others do to the repository while noface works is said; a main that fails its own gates meanwhile is waited for."""

import pytest
from support.git_ground import a_bench, git, write
from support.processes import wait_for

from noface.git.survey import differences, main_moved, persons_state

MAIN = "refs/heads/main"


def test_branches_tags_configuration_and_hooks_that_changed_are_named(tmp_path):
    bench = a_bench(tmp_path)
    git(bench.path, "branch", "gone")
    git(bench.path, "branch", "moved")
    before = persons_state(bench.plumbing)
    assert differences(before, persons_state(bench.plumbing), MAIN) == ()
    git(bench.path, "branch", "-D", "gone")
    git(bench.path, "tag", "v1")
    git(bench.path, "commit", "-q", "--allow-empty", "-m", "mine")
    git(bench.path, "branch", "-f", "moved")
    git(bench.path, "branch", "noface/7")
    git(bench.path, "config", "user.name", "Somebody Else")
    write(bench.path, {".git/hooks/post-checkout": "#!/bin/sh\n"})
    found = differences(before, persons_state(bench.plumbing), MAIN)
    assert [what.split()[:2] for what in found[:3]] == [["branch", "gone"], ["branch", "moved"], ["tag", "v1"]]
    assert found[3:] == (f"{bench.path}/.git/config was changed", f"{bench.path}/.git/hooks/post-checkout was changed")


def test_main_moved_by_landings_alone_was_moved_by_nobody_else(tmp_path):
    bench = a_bench(tmp_path)
    old = bench.main
    landed = bench.merged({"landed.txt": "l\n"})
    git(bench.path, "update-ref", MAIN, landed)
    assert not main_moved(bench.plumbing, old, landed, [landed])
    assert main_moved(bench.plumbing, old, landed, [])
    assert main_moved(bench.plumbing, landed, old, [landed])


@pytest.mark.thorough
def test_a_commit_on_main_during_an_attempt_is_said_in_the_run_and_in_show(project):
    moved = f"until git -C {project.path} show main:mine.txt; do sleep 0.05; done > /dev/null 2>&1"
    project.play(
        ("1", 0, [{"write": "one.txt", "text": "1"}, {"shell": moved}]), ("2", 0, [{"write": "two.txt", "text": "2"}])
    )
    project.issue(1)
    project.issue(2)
    project.commit()
    running = project.start("run")
    project.in_slots("one.txt")
    project.write("mine.txt", "mine\n")
    old, new = project.git("rev-parse", "main"), project.commit("mine")
    out, _ = running.communicate(timeout=90)
    assert running.returncode == 0, out
    said = f"main moved from {old[:12]} to {new[:12]} while attempt 1 was at work, not by noface: git log"
    assert said in out
    assert out.count("not by noface") == out.count(said)  # landings of noface's own are not told of
    notes = project.attempts("1")[0]["notes"]
    assert any(said in note for note in notes)
    assert not any("not by noface" in note for note in project.attempts("2")[0]["notes"])


def a_red_main(project, *plays):
    """Break main while the worker of issue 1 is at it; return the run, and the file that counts the worker's calls."""
    calls = project.folder / "calls"
    done = '{"status": "done", "summary": "wrote one.txt"}'
    told = [{"shell": f"echo call >> {calls}"}, {"say": f"```json\n{done}\n```"}]
    project.play(
        ("1", 0, [{"write": "one.txt", "text": "1"}, {"sleep": 2}, *told]),
        ("2", 0, [{"write": "two.txt", "text": "2"}]),
    )
    project.issue(1)
    project.issue(2)
    project.commit()
    running = project.start("run")
    project.in_slots("one.txt")
    project.write("bad", "x\n")
    project.commit("red")
    return running, calls


def mend(project):
    project.git("rm", "-q", "bad")
    project.commit("green again")


def test_a_main_that_is_red_for_a_while_is_waited_for_and_finished_work_is_judged_then(project):
    running, calls = a_red_main(project)
    wait_for(lambda: project.statuses() == {"1": "waiting", "2": "waiting"})
    assert project.attempts("2") == []  # no worker is paid for what could not be proven
    (attempt,) = project.attempts("1")
    assert (attempt["outcome"], attempt["charged"]) == ("BASELINE_RED", False)
    mend(project)
    out, _ = running.communicate(timeout=90)
    assert running.returncode == 0, out
    assert project.statuses() == {"1": "merged", "2": "merged"}
    assert calls.read_text() == "call\n"
