"""What an answer of GitHub's means: fine, later, or refused, with what a person can do."""

import json
from email.utils import formatdate
from types import NoneType

import pytest

from noface.forge.limits import Away, HttpReply, Refused, Request, judged, judged_graphql, outage_wait

NOW = 1_800_000_000.0
ASKED = Request("POST /repos/acme/shop/issues", "acme/shop", "github.com", "GH_TOKEN")


def reply(status, message="", /, **headers):
    named = {name.replace("_", "-"): str(value) for name, value in headers.items()}
    return HttpReply(status, named, json.dumps({"message": message}) if message else "")


@pytest.mark.parametrize(
    ("answer", "failures", "wait_s"),
    [
        (reply(403, "API rate limit exceeded", x_ratelimit_remaining=0, x_ratelimit_reset=NOW + 1500), 0, 1500),
        (reply(429, "API rate limit exceeded", x_ratelimit_remaining=0, x_ratelimit_reset=NOW + 1500), 5, 1500),
        # this machine's clock is ten minutes slow: the server's own date counts
        (
            reply(403, x_ratelimit_remaining=0, x_ratelimit_reset=NOW + 900, date=formatdate(NOW + 600, usegmt=True)),
            0,
            300,
        ),
        (reply(403, x_ratelimit_remaining=0, x_ratelimit_reset=NOW - 5), 0, 1),
        (reply(403, x_ratelimit_remaining=0, x_ratelimit_reset=NOW + 1e9), 0, 3700),
        (reply(403, x_ratelimit_remaining=0, x_ratelimit_reset="soon"), 0, 60),
        (reply(403, "You have exceeded a secondary rate limit", x_ratelimit_remaining=4000), 0, 60),
        (reply(403, "You have exceeded a secondary rate limit", x_ratelimit_remaining=4000), 2, 240),
        (reply(403, "You have triggered an abuse detection mechanism", retry_after=30), 3, 30),
        (reply(429, "Too many"), 0, 60),
        (reply(403, retry_after="nan"), 0, None),
    ],
)
def test_a_rate_limit_lasts_as_long_as_the_server_says(answer, failures, wait_s):
    verdict = judged(answer, ASKED, NOW, failures)
    if wait_s is None:
        assert isinstance(verdict, Refused)
    else:
        assert isinstance(verdict, Away)
        assert (verdict.wait_s, verdict.limit) == (pytest.approx(wait_s), True)


@pytest.mark.parametrize("status", [500, 502, 503, 504, 408])
def test_an_outage_is_waited_out(status):
    verdict = judged(reply(status, "Server Error"), ASKED, NOW, 1, 0.5)
    assert verdict == Away(
        f"github.com answered {status} to POST /repos/acme/shop/issues: Server Error", 15.0, limit=False
    )
    assert judged(reply(503, retry_after=42), ASKED, NOW).wait_s == 42


def test_an_outages_wait_grows_to_a_quarter_of_an_hour_and_is_never_none():
    assert [outage_wait(failures, 0.999) for failures in (0, 1, 2, 20, 2000)] == [
        pytest.approx(wait_s, rel=0.01) for wait_s in (15, 30, 60, 900, 900)
    ]
    assert outage_wait(5, 0.0) == 5.0


@pytest.mark.parametrize(
    ("answer", "why", "hint"),
    [
        (reply(401, "Bad credentials"), "does not accept the token from GH_TOKEN: Bad credentials", "make a new one"),
        (
            reply(
                403, "Resource not accessible by personal access token", x_accepted_github_permissions="issues=write"
            ),
            "not accessible by personal access token",
            "Give the token for acme/shop the permission issues: write.",
        ),
        (
            reply(403, "no", x_accepted_github_permissions="pull_requests=write,contents=read; issues=write"),
            "github.com does not allow POST /repos/acme/shop/issues with the token from GH_TOKEN: no",
            "the permission pull requests: write and contents: read, or issues: write.",
        ),
        (
            reply(403, "no", x_github_sso="required; url=https://github.com/orgs/acme/sso?authorization_request=x"),
            ": no",
            "wants single sign-on",
        ),
        (reply(403, "Repository was archived so is read-only."), "archived so is read-only", "write access"),
        (reply(404, "Not Found"), "knows nothing at POST /repos/acme/shop/issues, or does not show it", "acme/shop"),
        (reply(410, "Issues has been disabled"), "is gone, or turned off in acme/shop: Issues has", "Features"),
        (reply(451, "DMCA"), "does not allow", "write access"),
        (reply(409, "Git Repository is empty."), "with 409: Git Repository is empty", ""),
        (HttpReply(400, {}, "<html>"), "refused POST /repos/acme/shop/issues with 400", ""),
    ],
)
def test_a_refusal_says_what_a_person_can_do(answer, why, hint):
    verdict = judged(answer, ASKED, NOW)
    assert isinstance(verdict, Refused)
    assert why in verdict.why
    assert hint in verdict.hint


@pytest.mark.parametrize(
    ("errors", "kind", "said"),
    [
        (None, NoneType, ""),
        ([], NoneType, ""),
        ([{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}], Away, "asks for a pause: API rate"),
        ([{"message": "You have exceeded a secondary rate limit"}], Away, "asks for a pause"),
        ([{"message": "Something went wrong while executing your query."}], Away, "failed at"),
        ([{"type": "FORBIDDEN", "message": "Resource not accessible"}], Refused, "Resource not accessible"),
        ([{"type": "UNPROCESSABLE", "message": "Pull request is in clean status"}], Refused, "clean status"),
    ],
)
def test_graphql_answers_say_their_errors_with_status_200(errors, kind, said):
    body = {"data": None} | ({"errors": errors} if errors is not None else {})
    verdict = judged_graphql(HttpReply(200, {}, json.dumps(body)), ASKED, NOW)
    assert isinstance(verdict, kind)
    assert said in getattr(verdict, "why", "")
