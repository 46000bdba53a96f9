"""Where the token comes from, and what is said where there is none. The gh of these tests is a small real program."""

import pytest

from noface.errors import UsageError
from noface.forge.location import located
from noface.forge.token import find_token

PUBLIC = located("https://github.com/acme/shop")
SERVER = located("https://git.acme.example/acme/shop")
LOOPBACK = located("http://127.0.0.1:8080/acme/shop")


@pytest.fixture
def gh(tmp_path):
    def make(script):
        program = tmp_path / "gh"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return {"PATH": f"{tmp_path}:/usr/bin:/bin"}

    return make


@pytest.mark.parametrize(
    ("place", "given", "source"),
    [
        (PUBLIC, {"GITHUB_TOKEN": "c", "GH_TOKEN": "b", "NOFACE_GITHUB_TOKEN": "a"}, "NOFACE_GITHUB_TOKEN"),
        (PUBLIC, {"GITHUB_TOKEN": "c", "GH_TOKEN": " b\n"}, "GH_TOKEN"),
        (PUBLIC, {"GITHUB_TOKEN": "c", "GH_TOKEN": "", "GH_ENTERPRISE_TOKEN": "x"}, "GITHUB_TOKEN"),
        (SERVER, {"GH_TOKEN": "b", "GITHUB_ENTERPRISE_TOKEN": "e"}, "GITHUB_ENTERPRISE_TOKEN"),
        (SERVER, {"GITHUB_TOKEN": "c", "GITHUB_SERVER_URL": "https://git.acme.example"}, "GITHUB_TOKEN"),
        (LOOPBACK, {"GH_TOKEN": "b"}, "GH_TOKEN"),
    ],
)
def test_the_environment_is_asked_in_a_fixed_order(place, given, source):
    found = find_token(place, {"PATH": "", **given})
    assert (found.source, found.variable, found.value) == (source, source, given[source].strip())
    assert found.value not in repr(found).removeprefix("Token(from ")


def test_a_token_of_github_com_is_not_sent_to_a_companys_own_server():
    with pytest.raises(UsageError, match=r"no token for git\.acme\.example: NOFACE_GITHUB_TOKEN, GH_ENTERPRISE_TOKEN"):
        find_token(SERVER, {"PATH": "", "GH_TOKEN": "b", "GITHUB_TOKEN": "c"})


def test_gh_is_asked_for_the_host_where_no_variable_is_set(gh):
    found = find_token(SERVER, gh('test "$*" = "auth token --hostname git.acme.example" && echo gho_of_gh'))
    assert (found.value, found.source) == ("gho_of_gh", "gh auth token")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo no oauth token >&2; exit 1", "`gh auth token --hostname github.com` has none"),
        ("exit 0", "`gh auth token` printed none"),
    ],
)
def test_without_a_token_a_person_is_told_how_to_make_one(gh, script, why):
    with pytest.raises(UsageError) as caught:
        find_token(PUBLIC, gh(script))
    assert why in caught.value.message
    for part in ("gh auth login", "acme/shop", "pull requests: read and write", "GH_TOKEN"):
        assert part in caught.value.hint


def test_a_value_that_would_break_the_header_is_no_token():
    with pytest.raises(UsageError, match="The variable GH_TOKEN is no token") as caught:
        find_token(PUBLIC, {"PATH": "", "GH_TOKEN": "hunter2\r\nX-Evil: 1"})
    assert "hunter2" not in caught.value.message
