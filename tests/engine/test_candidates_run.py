"""Best of several, in whole runs: others end at once where one has passed, and a kill loses no choice."""

import signal

import pytest
from support.processes import wait_for

WRITES, WAITS, FAILS = {"write": "b.txt", "text": "b"}, {"sleep": 60}, {"write": "bad", "text": "x"}


def rows(project, issue="1"):
    return [(row["outcome"], row["charged"]) for row in project.attempts(issue)]


def test_the_first_that_passes_ends_those_at_work_and_lands_for_the_price_of_one_attempt(project):
    project.config(workers=3)
    project.issue(1, candidates=3)
    project.commit()
    project.play(("1", 1, [WAITS]), ("1", 2, [WRITES]), ("1", 3, [WAITS]))
    out = project.run()
    assert rows(project) == [("INTERRUPTED", False), ("PASSED", True), ("INTERRUPTED", False)]
    assert "1 attempt 2 is taken: the only one that passed" in out
    assert "1 attempt 1 is kept: a candidate beside attempt 2, whose work was taken" in out
    assert project.git("show", "main:b.txt") == "b"
    assert not project.processes()
    logs = project.noface("logs", "1")
    assert "attempt 2" in logs.stdout + logs.stderr, "not the newest, whose work was not taken"


@pytest.mark.thorough
def test_a_kill_while_one_has_ended_and_another_works_loses_no_work_and_charges_once(project):
    project.config(workers=2)
    project.issue(1, candidates=2)
    project.commit()
    project.play(("1", 1, [FAILS]), ("1", 2, [WRITES, WAITS]), ("*", 0, [{"shell": "rm -f bad"}, WRITES]))
    run = project.start("run")
    wait_for(lambda: (project.state / "attempts/1/1/gates").exists() or None)
    wait_for(lambda: list((project.state / "attempts/1/1").glob("**/*check*")) or None)
    run.send_signal(signal.SIGKILL)
    run.wait(60)
    project.run()
    first, second, *later = project.attempts("1")
    assert (second["outcome"], second["charged"]) == ("INTERRUPTED", False)
    assert first["charged"]
    assert [row["outcome"] for row in later if row["charged"]] == ["PASSED"]
    assert project.statuses()["1"] == "merged"
    assert "No problems found" in project.noface("tools", "fsck").stdout
