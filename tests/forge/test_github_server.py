"""The server of the tests holds what is asked of it, and what it answers, against GitHub's own description."""

import json
import urllib.error
import urllib.request

import pytest
from support.github_server import GitHub


class Asking:
    """Asks the API with one token, and no library between."""

    def __init__(self, github, token):
        self._github = github
        self._token = token

    def __call__(self, path, body=None, method="", **headers):
        """Return status, headers and parsed body. Paths are below the repository unless they begin with "/"."""
        url = self._github.api + (path if path.startswith("/") else f"/repos/acme/shop/{path}".rstrip("/"))
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        asked = urllib.request.Request(
            path if path.startswith("http") else url,
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self._token.text}", **named},
            method=method or ("GET" if body is None else "POST"),
        )
        try:
            answered = urllib.request.urlopen(asked)
        except urllib.error.HTTPError as error:
            answered = error
        with answered:
            text = answered.read()
        return answered.status, answered.headers, json.loads(text) if text else None


@pytest.mark.parametrize(
    ("path", "body", "what"),
    [
        ("issue", None, "GitHub has no such operation"),
        ("issues?labls=x", None, "there is no query parameter 'labls'"),
        ("issues?per_page=101", None, "per_page is at most 100"),
        ("issues?state=done", None, "'done' is not one of"),
        ("issues", {"titel": "T"}, "'title' is a required property"),
    ],
)
def test_what_github_does_not_have_fails_the_test_that_asks_for_it(tmp_path, path, body, what):
    github = GitHub(tmp_path)
    github.repository("acme/shop").grant("noface-bot", "write")
    status, _, answered = Asking(github, github.token("noface-bot"))(path, body)
    github.close()
    assert status == 500
    assert what in answered["message"] == github.violations[0]


def test_what_github_never_answers_fails_the_test_that_gets_it(tmp_path):
    github = GitHub(tmp_path)
    repo = github.repository("acme/shop")
    number = repo.person("alice").opens_issue("T")
    repo.issue(number).state_reason = "because"
    assert Asking(github, github.token("bob"))(f"issues/{number}")[0] == 500
    github.close()
    assert "'because' is not one of" in github.violations[0]
