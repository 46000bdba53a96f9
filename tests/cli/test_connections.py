"""What a run connects to: nothing that was not asked for, and with a token that nobody else sees."""

import pytest
from support.git_ground import git

from noface.cli.connections import connect, talks_to_github
from noface.config.load import parse
from noface.errors import UsageError
from noface.git.repository import discover
from noface.process.masking import known_secrets

GATE = '[[gates]]\nname = "check"\ncommand = "true"\n'
PULLS = '[landing]\nhow = "pull-request"\n'
TOKEN = "hunter2-of-gh-0123456789"


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "shop"
    git(tmp_path, "init", "-q", "-b", "main", "shop")
    git(folder, "-c", "user.name=p", "-c", "user.email=p@x", "commit", "-q", "--allow-empty", "-m", "first")
    git(folder, "remote", "add", "origin", "https://github.com/acme/shop.git")
    return discover(folder)


@pytest.fixture
def gh(tmp_path):
    """A gh that has a token for each host, and leaves a mark when it is asked."""
    program = tmp_path / "bin" / "gh"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/asked\necho {TOKEN}\n')
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:/usr/bin:/bin"}


@pytest.mark.parametrize("keys", ["", "[landing]\npush = true\n"])
def test_without_being_asked_for_no_token_is_looked_for(repository, gh, tmp_path, keys):
    found = connect(parse(GATE + keys, "noface.toml"), repository, environment=gh)
    assert found.github is None
    assert found.secrets == ()
    assert found.remote.name == "origin"
    assert not (tmp_path / "asked").exists()


def test_github_is_opened_where_the_configuration_asks_for_it(repository, gh, tmp_path):
    config = parse(GATE + PULLS, "noface.toml")
    assert talks_to_github(config)
    found = connect(config, repository, environment=gh)
    assert found.github.client.location.repository == "acme/shop"
    assert (tmp_path / "asked").read_text() == "auth token --hostname github.com\n"


def test_a_token_that_only_gh_has_is_masked_as_well(repository, gh):
    found = connect(parse(GATE + PULLS, "noface.toml"), repository, environment=gh)
    masker = known_secrets(found.secrets, {})
    assert masker.text(f"Authorization: token {TOKEN}") == "Authorization: token ***NOFACE_GITHUB_TOKEN***"
    assert TOKEN not in repr(found)


def test_git_gets_the_token_for_githubs_host_only(repository, gh):
    found = connect(parse(GATE + PULLS, "noface.toml"), repository, environment=gh)
    token_of = found.remote._token
    assert token_of("GitHub.com") == TOKEN
    assert token_of("evil.example") is None
    plain = connect(parse(GATE + "[landing]\npush = true\n", "noface.toml"), repository, environment={"PATH": ""})
    assert plain.remote._token("github.com") is None


def test_without_a_token_or_a_place_the_run_does_not_begin(repository, gh):
    with pytest.raises(UsageError, match="There is no token"):
        connect(parse(GATE + PULLS, "noface.toml"), repository, environment={"PATH": ""})
    git(repository.root, "remote", "set-url", "origin", "/srv/shop.git")
    with pytest.raises(UsageError, match="not on GitHub"):
        connect(parse(GATE + PULLS, "noface.toml"), repository, environment=gh)
