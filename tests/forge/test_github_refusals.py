"""What the forge does where GitHub does not give what was asked for: it says so, and does what can be done."""

import json

import pytest

from noface.forge.github import Forge, People
from noface.forge.rest import RefusedError
from noface.model.pull_request import Check, CheckState, PullDraft

HOME = {"id": 1, "full_name": "acme/shop", "owner": {"login": "acme"}, "allow_merge_commit": False}
DRAFT = PullDraft("noface/1", "main", "Title", "Body")
LISTED = "/repos/acme/shop/pulls?direction=desc&head=acme%3Anoface%2F1&per_page=100&sort=created&state=all"
REPO = "/repos/acme/shop"
FAILED = Check("test", CheckState.FAILED, id="job:5")


def pull(number=7, state="open", **more):
    return {
        "number": number,
        "node_id": "PR_7",
        "state": state,
        "html_url": f"https://github.com/acme/shop/pull/{number}",
        "head": {"ref": "noface/1", "sha": "a" * 40, "repo": {"id": 1}},
        "base": {"ref": "main", "sha": "b" * 40, "repo": {"id": 1}},
        **more,
    }


@pytest.fixture
def people(client, clock):
    return People(client, ("renovate[bot]",), clock)


@pytest.fixture
def forge(client, people, script):
    script.on(REPO, 200, HOME)
    return Forge(client, people)


def sent(script, verb):
    return [(path, json.loads(body)) for asked, path, _, body in script.asked if asked == verb]


def test_a_pull_request_that_somebody_opened_meanwhile_is_updated(script, forge):
    script.on(LISTED, 200, []).on(LISTED, 200, [pull()])
    script.on(f"{REPO}/pulls", 422, {"errors": [{"message": "A pull request already exists for acme:noface/1."}]})
    script.on(f"{REPO}/pulls/7", 200, pull(title="Title"))
    assert forge.open(DRAFT).number == 7
    assert sent(script, "PATCH") == [(f"{REPO}/pulls/7", {"title": "Title", "body": "Body"})]


def test_a_pull_request_from_a_fork_with_a_branch_of_that_name_is_not_ours(script, forge):
    fork = pull(9, head={"ref": "noface/1", "sha": "f" * 40, "repo": {"id": 2}})
    script.on(LISTED, 200, [fork, pull(5, state="closed")])
    assert forge.find("noface/1").number == 5


def test_auto_merge_takes_a_way_that_the_repository_allows_and_is_told_where_it_cannot_be_had(script, forge):
    script.on(LISTED, 200, [])
    script.on(f"{REPO}/pulls", 201, pull())
    refusal = [{"type": "UNPROCESSABLE", "message": "Auto merge is not allowed for this repository"}]
    script.on("/graphql", 200, {"data": None, "errors": refusal})
    opened = forge.open(PullDraft("noface/1", "main", "T", "B", auto_merge=True))
    assert "Auto merge is not allowed for this repository" in opened.notes[0]
    assert sent(script, "POST")[1][1]["variables"] == {"id": "PR_7", "how": "SQUASH"}


def test_a_token_that_may_not_read_check_runs_reads_the_workflows_jobs(script, forge):
    sha = "a" * 40
    script.on(f"{REPO}/commits/{sha}/check-runs?per_page=100", 403, {"message": "Resource not accessible"})
    script.on(f"{REPO}/actions/runs?head_sha={sha}&per_page=100", 200, {"workflow_runs": [{"id": 3}]})
    job = {"id": 5, "run_id": 3, "name": "test", "status": "completed", "conclusion": "failure"}
    script.on(f"{REPO}/actions/runs/3/jobs?per_page=100", 200, {"jobs": [job]})
    script.on(f"{REPO}/commits/{sha}/status?per_page=100", 403, {"message": "Resource not accessible"})
    assert forge.checks(sha) == (FAILED,)


def test_checks_that_cannot_be_read_at_all_name_the_first_permission(script, forge):
    sha = "a" * 40
    script.on(f"{REPO}/commits/{sha}/check-runs?per_page=100", 403, None, x_accepted_github_permissions="checks=read")
    script.on(f"{REPO}/actions/runs?head_sha={sha}&per_page=100", 403, None)
    with pytest.raises(RefusedError) as caught:
        forge.checks(sha)
    assert "checks: read" in caught.value.hint


def test_the_token_of_a_workflow_has_no_user_and_yet_a_name(script, forge):
    script.on("/user", 403, {"message": "Resource not accessible by integration"})
    script.on("/graphql", 200, {"data": {"viewer": {"login": "github-actions[bot]"}}})
    assert [forge.whoami(), forge.whoami()] == ["github-actions[bot]"] * 2
    assert len(script.asked) == 2


def test_a_comment_with_our_mark_that_somebody_else_wrote_is_left_alone(script, forge):
    script.on("/user", 200, {"login": "noface"})
    path = f"{REPO}/issues/7/comments"
    script.on(f"{path}?per_page=100", 200, [{"id": 1, "user": {"login": "eve"}, "body": "<!-- noface:x --> haha"}])
    script.on(path, 201, {"id": 2})
    forge.comment(7, "<!-- noface:x -->", "text")
    assert sent(script, "POST") == [(path, {"body": "text\n\n<!-- noface:x -->"})]


@pytest.mark.parametrize(
    ("login", "bot", "answer", "trusted"),
    [
        ("ann", False, (200, {"permission": "write"}), True),
        ("ann", False, (200, {"permission": "read", "role_name": "maintain"}), True),
        ("ann", False, (200, {"permission": "read", "role_name": "triage"}), False),
        ("ann", False, (404, {"message": "ann is not a user"}), False),
        ("ci[bot]", True, (200, {"permission": "write"}), False),
        ("Renovate[bot]", True, (404, None), True),
        ("", False, (200, {"permission": "admin"}), False),
    ],
)
def test_only_those_with_write_access_and_those_that_are_named_may_decide(script, people, login, bot, answer, trusted):
    script.on(f"{REPO}/collaborators/{login}/permission", *answer)
    assert [people.may_decide(login, bot=bot) for _ in range(2)] == [trusted] * 2
    assert len(script.asked) <= 1
