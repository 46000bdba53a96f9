"""From GitHub's JSON to checks, reviews and pull requests."""

import pytest

from noface.forge.parse import annotations_text, checks, pull_request, reviews
from noface.model.pull_request import CheckState, PullState, ReviewState

PULL = {
    "number": 7,
    "html_url": "https://github.com/acme/shop/pull/7",
    "state": "open",
    "title": "t",
    "body": None,
    "head": {"ref": "noface/1", "sha": "a" * 40, "repo": {"id": 1}},
    "base": {"ref": "main", "sha": "b" * 40, "repo": {"id": 1}},
    "merge_commit_sha": "c" * 40,
    "updated_at": "2026-11-22T10:00:00Z",
}


def run(name="test", conclusion="success", status="completed", number=1, suite=1, app="github-actions", **more):
    return {
        "id": number,
        "name": name,
        "status": status,
        "conclusion": conclusion,
        "check_suite": {"id": suite},
        "app": {"slug": app},
        "html_url": f"https://github.com/acme/shop/actions/runs/9/job/{number}",
        **more,
    }


def states(*runs, jobs=(), statuses=()):
    return {check.name: check.state for check in checks(runs, jobs, statuses)}


@pytest.mark.parametrize(
    ("status", "conclusion", "state"),
    [
        ("completed", "success", CheckState.PASSED),
        ("completed", "neutral", CheckState.SKIPPED),
        ("completed", "skipped", CheckState.SKIPPED),
        ("completed", "failure", CheckState.FAILED),
        ("completed", "timed_out", CheckState.FAILED),
        ("completed", "startup_failure", CheckState.FAILED),
        ("completed", "cancelled", CheckState.CANCELLED),
        ("completed", "stale", CheckState.CANCELLED),
        ("completed", "action_required", CheckState.NEEDS_PERSON),
        ("completed", "something_new", CheckState.NEEDS_PERSON),
        ("queued", None, CheckState.PENDING),
        ("in_progress", None, CheckState.PENDING),
        ("waiting", None, CheckState.PENDING),
    ],
)
def test_each_conclusion_has_its_meaning(status, conclusion, state):
    assert states(run(status=status, conclusion=conclusion)) == {"test": state}


def test_a_check_that_ran_again_counts_as_it_ended_last():
    assert states(run(number=2), run(number=1, conclusion="failure")) == {"test": CheckState.PASSED}


@pytest.mark.parametrize(
    ("first", "second", "state"),
    [
        ("failure", "success", CheckState.FAILED),
        ("cancelled", "success", CheckState.PASSED),
        ("skipped", "success", CheckState.PASSED),
        ("action_required", "failure", CheckState.FAILED),
    ],
)
def test_two_workflows_with_a_job_of_one_name_are_one_check(first, second, state):
    """A push and a pull request start one each; one that superseded the other cancels it."""
    both = (run(conclusion=first, suite=1), run(conclusion=second, suite=2, number=2))
    assert states(*both) == states(*reversed(both)) == {"test": state}


def test_a_checks_id_finds_its_log_again():
    other = run("scan", "failure", number=5, app="scanner", output={"title": "2 findings", "summary": "see"})
    job = run("build", number=3, details_url="https://github.com/acme/shop/actions/runs/9/job/33?pr=7")
    found = {check.name: check for check in checks([other, job], [], [{"context": "cla", "state": "failure"}])}
    assert {name: check.id for name, check in found.items()} == {"scan": "run:5", "build": "job:33", "cla": ""}
    assert found["scan"].summary == "2 findings see"


def test_what_a_check_run_says_is_its_words_and_its_points():
    said = annotations_text(
        {"output": {"title": "Scan", "summary": "1 finding", "text": None}},
        [
            {"path": "shop.py", "start_line": 3, "annotation_level": "failure", "message": "bad", "title": "R1"},
            {"path": ".github", "start_line": 1, "annotation_level": "notice", "message": "Node 20 is deprecated"},
            {
                "path": ".github",
                "start_line": 9,
                "annotation_level": "failure",
                "message": "Process completed with exit code 1.",
            },
        ],
    )
    assert said == "Scan\n1 finding\nshop.py:3: failure: R1: bad"


def user(login, kind="User"):
    return {"login": login, "type": kind}


def test_reviews_hold_their_own_comments_and_those_without_one_stand_alone():
    given = [
        {"id": 1, "state": "CHANGES_REQUESTED", "user": user("ann"), "body": "no", "commit_id": "a" * 40,
         "submitted_at": "2026-11-22T10:00:00Z"},
        {"id": 2, "state": "PENDING", "user": user("me"), "body": "not sent yet"},
        {"id": 3, "state": "DISMISSED", "user": None, "body": ""},
    ]  # fmt: skip
    comments = [
        {"id": 11, "pull_request_review_id": 1, "user": user("ann"), "body": "here", "path": "shop.py", "line": 4},
        {"id": 12, "pull_request_review_id": 1, "user": user("ann"), "body": "and here", "path": "shop.py",
         "start_line": 6, "line": 9},
        {"id": 13, "pull_request_review_id": None, "user": user("bob"), "body": "old", "path": "old.py", "line": None,
         "original_line": 5, "commit_id": "b" * 40},
        {"id": 14, "pull_request_review_id": 2, "user": user("me"), "body": "not sent either", "path": "x"},
    ]  # fmt: skip
    plain = [{"id": 21, "user": user("eve"), "body": "me too", "created_at": "2026-11-22T11:00:00Z"}]
    found = [review for review, _ in reviews(given, comments, plain)]
    assert [(r.id, r.author, r.state, r.text) for r in found] == [
        (1, "ann", ReviewState.CHANGES_REQUESTED, "no"),
        (3, "ghost", ReviewState.DISMISSED, ""),
        (13, "bob", ReviewState.COMMENTED, ""),
        (21, "eve", ReviewState.COMMENTED, "me too"),
    ]
    assert [[(c.path, c.line, c.text) for c in r.comments] for r in found] == [
        [("shop.py", 4, "here"), ("shop.py", 6, "and here")],
        [],
        [("old.py", 5, "old")],
        [],
    ]
    assert [bool(r.commit) for r in found] == [True, False, True, False]


@pytest.mark.parametrize(
    ("more", "state", "commit", "by"),
    [
        ({}, PullState.OPEN, "", "eve"),
        ({"merged_at": "2026-11-22T10:00:00Z", "state": "closed", "merged_by": user("ann")}, PullState.MERGED, "c" * 40, "ann"),
        ({"state": "closed", "closed_at": "2026-11-22T10:00:00Z"}, PullState.CLOSED, "", "eve"),
    ],
)  # fmt: skip
def test_a_pull_request_is_open_merged_or_closed(more, state, commit, by):
    pull = pull_request({**PULL, **more}, "eve")
    assert (pull.state, pull.merge_commit, pull.closed_by) == (state, commit, by)
    assert (pull.branch, pull.head, pull.base, pull.body, pull.mergeable) == (
        "noface/1", "a" * 40, "b" * 40, "", None,
    )  # fmt: skip
