"""What a person commits to `noface/<id>` is never moved away: the issue waits, and `retry` builds on it (law 2)."""

import pytest

BAD = [{"write": "bad", "text": "x"}, {"write": "mine.txt", "text": "worker\n"}]
GATE = "test ! -e bad"


def a_blocked_issue(project):
    """Have issue 7 fail until it is blocked; its work stands on noface/7."""
    project.play(("7", 0, BAD))
    project.config(gate=GATE)
    project.issue(7, max_attempts=1)
    project.commit()
    project.run(code=3)
    return project.git("rev-parse", "noface/7")


def commit_by_hand(project, name, text, branch="noface/7"):
    """Commit as a person does in a working tree of their own, which is gone afterwards."""
    place = project.folder / f"by-hand-{name}"
    project.git("worktree", "add", "-q", str(place), branch)
    (place / "bad").unlink(missing_ok=True)
    (place / name).write_text(text)
    project.git("-C", str(place), "add", "-A")
    project.git("-C", str(place), "commit", "-q", "-m", "by hand")
    commit = project.git("rev-parse", branch)
    project.git("worktree", "remove", str(place))
    return commit


def test_a_commit_of_a_person_makes_the_issue_wait_until_retry_which_builds_on_it(project):
    a_blocked_issue(project)
    theirs = commit_by_hand(project, "theirs.txt", "person\n")
    project.issue(7, body="Asked anew.", max_attempts=1)  # an edit gives the issue back, and takes nobody's commit
    project.run(code=3)
    (blocked,) = project.shown("blocked")["blocked"]
    assert "a person has committed to noface/7" in blocked["summary"]
    assert blocked["commands"][0] == "noface approve 7"
    assert (project.git("rev-parse", "noface/7"), len(project.attempts("7"))) == (theirs, 1)
    status = project.shown("status")["issues"][0]
    assert (status["status"], "a retry starts from that" in status["reason"]) == ("blocked", True)
    project.play(("7", 0, [{"write": "more.txt", "text": "worker\n"}]))
    project.noface("retry", "7")
    project.run()
    assert project.git("show", "main:theirs.txt") == "person"
    assert project.git("show", "main:more.txt") == "worker"
    assert project.git("merge-base", "--is-ancestor", theirs, "main") == ""
    assert "I have committed work of my own" in project.prompt("7", 2)


@pytest.mark.thorough
def test_a_commit_made_while_the_worker_works_is_not_moved_away(project):
    a_blocked_issue(project)
    go = project.folder / "go"
    waits = {"shell": f"until test -e {go}; do sleep 0.02; done"}
    project.play(("7", 0, [{"delete": "bad"}, {"write": "begun", "text": "x"}, waits]))
    project.noface("retry", "7")
    process = project.start("run")
    project.in_slots("begun")
    theirs = commit_by_hand(project, "theirs.txt", "person\n")
    go.touch()
    assert process.wait() == 3
    assert (project.git("rev-parse", "noface/7"), project.attempts("7")[1]["outcome"]) == (theirs, "PASSED")
    assert "a person has committed" in project.shown("blocked")["blocked"][0]["summary"]
    assert project.git("log", "--format=%s", "main") == "work\nfirst"


@pytest.mark.thorough
def test_a_branch_of_a_person_s_that_was_there_before_the_first_attempt_is_not_moved(project):
    project.play(("7", 0, [{"write": "a-new", "text": "x"}]))
    project.issue(7)
    project.commit()
    project.git("branch", "noface/7")
    theirs = commit_by_hand(project, "theirs.txt", "person\n")
    project.run(code=3)
    assert (project.git("rev-parse", "noface/7"), project.statuses()) == (theirs, {"7": "blocked"})
    project.noface("retry", "7")
    project.run()
    assert project.git("show", "main:theirs.txt") == "person"


@pytest.mark.thorough
def test_a_branch_that_is_checked_out_is_not_moved_under_a_person_s_feet(project):
    at = a_blocked_issue(project)
    place = project.folder / "looking"
    project.git("worktree", "add", "-q", str(place), "noface/7")
    project.play(("7", 0, [*BAD, {"write": "second.txt", "text": "x"}]))
    project.noface("retry", "7")
    project.run(code=3)
    assert project.git("rev-parse", "noface/7") == at
    assert project.git("-C", str(place), "status", "--porcelain") == ""
    assert "checked out" in project.shown("blocked")["blocked"][0]["summary"]


def test_clean_keeps_what_a_person_committed_unless_it_is_forced(project):
    a_blocked_issue(project)
    theirs = commit_by_hand(project, "theirs.txt", "person\n")
    project.noface("tools", "clean")
    assert project.git("rev-parse", "noface/7") == theirs
    project.noface("tools", "clean", "--force")
    assert project.git("branch", "--list", "noface/7") == ""
