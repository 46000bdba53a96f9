"""What noface knows of its pull requests, and what people see of their issues."""

import pytest

from noface.model.issue import Backlog, Issue
from noface.model.pull_request import PullRequest, PullState
from noface.recovery.schedule import plan
from noface.store.database import Database
from noface.store.journal import Journal
from noface.store.pull_requests import PullRequests, PullStep
from noface.store.reader import Reader

URL = "https://github.example.com/acme/shop/pull/12"
INTENT = {"attempt": 2, "branch": "noface/7", "head": "h1", "pushed": "", "base": "b1", "tree": "t1"}
PULL = PullRequest(12, URL, PullState.OPEN, "noface/7", head="h1")
DEPENDANT = Issue("8", "Eight", depends_on=("7",))


@pytest.fixture
def database():
    made = Database.memory()
    Journal(made).sync_backlog(Backlog((Issue("7", "Seven"), DEPENDANT)), "f1")
    yield made
    made.close()


@pytest.fixture
def pulls(database):
    return PullRequests(database, Journal(database, "run-1"))


def waiting_reason(database):
    states = Reader(database).states()
    return plan((Issue("7", "Seven"), DEPENDANT), states, {}, {}, 1, 0.0).waiting[0]


def test_a_pull_request_goes_from_the_intent_over_the_push_to_open(database, pulls):
    pulls.intended(1.0, "7", ("k",), (), **INTENT)
    assert pulls.row("7").state == PullStep.INTENT
    assert (pulls.row("7").head, pulls.row("7").pushed, pulls.row("7").number) == ("h1", "", None)
    pulls.pushed(2.0, "7", "h1")
    assert pulls.row("7").pushed == "h1"
    pulls.opened(3.0, "7", PULL)
    assert (pulls.row("7").state, pulls.row("7").number, pulls.row("7").url) == (PullStep.OPEN, 12, URL)
    issue = Reader(database).issue("7")
    assert (issue.status, issue.reason) == ("review", f"pull request #12 is open: {URL}")
    steps = [event.data["state"] for event in Reader(database).events("7") if event.kind == "pull_request"]
    assert steps == ["intent", "pushed", "open"]


def test_the_next_attempt_keeps_the_number_and_the_rounds_of_the_pull_request(pulls):
    pulls.intended(1.0, "7", ("k",), (), **INTENT)
    pulls.pushed(2.0, "7", "h1")
    pulls.opened(3.0, "7", PULL)
    pulls.seen(4.0, "7", seen={"reviews": [3]}, checks="failed", rounds=1)
    pulls.intended(5.0, "7", ("k",), (), **INTENT | {"attempt": 3, "head": "h2", "pushed": "h1"})
    row = pulls.row("7")
    assert (row.state, row.head, row.pushed, row.number, row.rounds) == (PullStep.INTENT, "h2", "h1", 12, 1)
    assert row.seen == {"reviews": [3]}


def test_what_depends_on_an_issue_in_review_waits_for_a_person_and_names_the_pull_request(database, pulls):
    pulls.intended(1.0, "7", ("k",), (), **INTENT)
    pulls.opened(3.0, "7", PULL)
    waits = waiting_reason(database)
    assert waits.reason == "waits for 7 to be merged (pull request #12 in review)"


def test_a_merge_elsewhere_lets_what_depends_on_it_start(database, pulls):
    pulls.intended(1.0, "7", ("k",), (), **INTENT)
    pulls.opened(2.0, "7", PULL)
    pulls.merged(3.0, "7", "m" * 40)
    assert pulls.rows(PullStep.MERGED)
    assert pulls.rows(PullStep.OPEN) == []
    issue = Reader(database).issue("7")
    assert (issue.status, issue.merged_commit) == ("merged", "m" * 40)
    assert issue.reason == f"merged as {'m' * 12} by pull request #12"
    planned = plan((Issue("7", "Seven"), DEPENDANT), Reader(database).states(), {}, {}, 1, 0.0)
    assert [issue.id for issue in planned.start] == ["8"]


def test_a_pull_request_that_a_lost_database_knew_is_known_again(database, pulls):
    pulls.recovered(1.0, "7", PULL, attempt=2, tree="t1", head="h1")
    row = pulls.row("7")
    assert (row.state, row.number, row.pushed, row.head, row.attempt) == (PullStep.OPEN, 12, "h1", "h1", 2)
    assert Reader(database).issue("7").status == "review"
