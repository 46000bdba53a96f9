"""What a person, or an agent, does to the repository while noface works is said, and landings of noface's own are not."""

from support.git_ground import a_bench, git, write

from noface.git.survey import differences, main_moved, outside_state

MAIN = "refs/heads/main"
KILLED = -9


def test_branches_tags_configuration_and_hooks_that_changed_are_named(tmp_path):
    bench = a_bench(tmp_path)
    git(bench.path, "branch", "gone")
    git(bench.path, "branch", "moved")
    before = outside_state(bench.plumbing)
    assert differences(before, outside_state(bench.plumbing), MAIN) == ()
    git(bench.path, "branch", "-D", "gone")
    git(bench.path, "tag", "v1")
    git(bench.path, "commit", "-q", "--allow-empty", "-m", "mine")
    git(bench.path, "branch", "-f", "moved")
    git(bench.path, "branch", "noface/7")
    git(bench.path, "config", "user.name", "Somebody Else")
    write(bench.path, {".git/hooks/post-checkout": "#!/bin/sh\n"})
    found = differences(before, outside_state(bench.plumbing), MAIN)
    assert [what.split()[:2] for what in found[:3]] == [["branch", "gone,"], ["branch", "moved"], ["tag", "v1"]]
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
    project.play(
        ("1", 0, [{"write": "one.txt", "text": "1"}, {"sleep": 2}]), ("2", 0, [{"write": "two.txt", "text": "2"}])
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


def test_a_main_that_somebody_made_red_is_charged_to_no_worker(project):
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
    out, _ = running.communicate(timeout=90)
    assert running.returncode == 3, out
    assert project.attempts("2") == []  # no worker is paid for what could not be proven
    (attempt,) = project.attempts("1")
    assert (attempt["outcome"], attempt["charged"]) == ("BASELINE_RED", False)
    assert "main itself is red at gate check" in attempt["failure"]["message"]
    project.git("rm", "-q", "bad")
    project.commit("green again")
    assert project.noface("run", NOFACE_FAILPOINT="attempt_started").returncode == KILLED
    project.run()
    assert project.statuses() == {"1": "merged", "2": "merged"}
    assert calls.read_text() == "call\n"  # what was finished is judged, and not paid for again
    judged = project.attempts("1")[1]
    assert (judged["outcome"], judged["cost_usd"]) == ("PASSED", 0.0)
    assert any("the work of attempt 1 was judged again; no worker was called" in note for note in judged["notes"])
    assert project.git("show", "main:one.txt") == "1"


def test_finished_work_whose_issue_was_edited_meanwhile_goes_to_a_worker(project):
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
