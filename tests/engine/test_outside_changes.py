"""What a person, or an agent, does to the repository while noface works is said, and landings of noface's own are not."""

import pytest
from support.clocked_run import clocked
from support.git_ground import a_bench, git, write
from support.processes import wait_for

from noface.git.survey import differences, main_moved, persons_state

MAIN = "refs/heads/main"
KILLED = -9


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
    assert found[3:] == (
        f"{bench.path}/.git/config was changed",
        f"{bench.path}/.git/hooks/post-checkout was changed",
    )


def test_main_moved_by_landings_alone_was_moved_by_nobody_else(tmp_path):
    bench = a_bench(tmp_path)
    old = bench.main
    landed = bench.merged({"landed.txt": "l\n"})
    git(bench.path, "update-ref", MAIN, landed)
    assert not main_moved(bench.plumbing, old, landed, [landed])
    assert main_moved(bench.plumbing, old, landed, [])
    assert main_moved(bench.plumbing, landed, old, [landed])


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


def not_patient(project):
    """Have a run wait for nothing outside it."""
    text = (project.path / "noface.toml").read_text()
    project.write("noface.toml", text.replace("[retry]\n", '[retry]\noutage_max = "1s"\n'))


def a_red_main(project, *plays):
    """Break main while the worker of issue 1 is at it; return the run, and the file that counts the worker's calls."""
    calls = project.folder / "calls"
    done = '{"status": "done", "summary": "wrote one.txt", "confidence": 0.9}'
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


@pytest.mark.thorough
def test_a_main_that_passes_again_by_itself_is_seen_by_looking_again(project):
    down, slept = project.folder / "down", project.folder / "slept"
    project.config(gate=f"{{ test ! -e {down} || test $(cat {slept}) -ge 600; }} && test -e a.txt")
    project.play(("1", 0, [{"write": "one.txt", "text": "1"}, {"shell": f"touch {down}"}]))
    project.issue(1)
    project.commit()
    done = clocked(project, step_s=20.0)
    assert done.returncode == 0, done.stdout + done.stderr
    assert project.statuses() == {"1": "merged"}


@pytest.mark.thorough
def test_a_main_that_stays_red_is_a_persons_until_the_next_run(project):
    not_patient(project)
    running, calls = a_red_main(project)
    out, _ = running.communicate(timeout=90)
    assert running.returncode == 3, out
    (attempt,) = project.attempts("1")
    assert "main itself is red at gate check" in attempt["failure"]["message"]
    mend(project)
    assert project.noface("run", NOFACE_FAILPOINT="attempt_started").returncode == KILLED
    project.run()
    assert project.statuses() == {"1": "merged", "2": "merged"}
    assert calls.read_text() == "call\n"  # what was finished is judged, and not paid for again
    judged = project.attempts("1")[1]
    assert (judged["outcome"], judged["cost_usd"]) == ("PASSED", 0.0)
    assert any("the work of attempt 1 was judged again; no worker was called" in note for note in judged["notes"])
    assert project.git("show", "main:one.txt") == "1"


@pytest.mark.thorough
def test_finished_work_whose_issue_was_edited_meanwhile_goes_to_a_worker(project):
    not_patient(project)
    project.play(
        ("1", 1, [{"write": "one.txt", "text": "1"}, {"sleep": 2}]), ("1", 2, [{"write": "b.txt", "text": "2"}])
    )
    project.issue(1)
    project.commit()
    running = project.start("run")
    project.in_slots("one.txt")
    project.write("bad", "x\n")
    project.commit("red")
    out, _ = running.communicate(timeout=90)
    assert project.attempts("1")[0]["outcome"] == "BASELINE_RED", out
    project.git("rm", "-q", "bad")
    project.issue(1, body="Do it otherwise.")
    project.commit("green again")
    project.run()
    assert project.git("show", "main:b.txt") == "2"
