"""A lock of the person's git costs a run no landing: it waits and tries again, with an end (law 3)."""

import pytest
from support.cases import first_ones
from support.processes import wait_for

from noface.engine.landing.waiting import PATIENCE_S, QueueEntry
from noface.model.issue import Issue


@pytest.mark.parametrize("name", first_ones(["index.lock", "refs/heads/main.lock"]))
def test_a_run_waits_for_a_lock_that_another_git_holds_and_lands_then(project, name):
    project.issue(7)
    project.commit()
    lock = project.path / ".git" / name
    lock.write_text("")
    process = project.start("run")

    def held():
        (issue,) = project.shown("status")["issues"] or [{"status": ""}]
        return issue["status"] == "landing" and str(lock) in issue["reason"]

    wait_for(held)
    lock.unlink()
    assert process.wait() == 0
    assert project.git("rev-parse", "main:b.txt")
    assert project.git("status", "--porcelain") == ""


def test_a_lock_that_stays_is_waited_for_so_long_and_no_longer():
    entry = QueueEntry(Issue("7", "x"), 1, "c")
    assert entry.worth_waiting(1000.0)
    entry.held = "local changes"
    assert not entry.worth_waiting(1000.0)
    entry.held, entry.passing_since = "index.lock", 1000.0
    assert [entry.worth_waiting(1000.0 + s) for s in (0, PATIENCE_S - 0.1, PATIENCE_S)] == [True, True, False]
