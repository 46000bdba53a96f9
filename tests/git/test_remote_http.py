"""The git remote over http, as GitHub serves it: a real `git http-backend` that wants a token."""

import pytest
from support.git_ground import git

from noface.errors import RemoteError
from noface.git.remote import find_remote
from noface.git.remote_causes import RemoteCause
from noface.git.repository import discover


@pytest.fixture
def repo(github):
    made = github.repository("acme/shop", private=True)
    made.grant("noface-bot", "write")
    return made


@pytest.fixture
def token(github, repo):
    return github.token("noface-bot")


def clone(repo, folder):
    """Return a person's clone whose remote has the address that GitHub shows: without a token."""
    git(folder.parent, "clone", "-q", repo.path, folder)
    git(folder, "config", "user.name", "Pat")
    git(folder, "config", "user.email", "pat@example.org")
    git(folder, "remote", "set-url", "origin", repo.clone_url)
    return folder


def remote(work, token):
    return find_remote(discover(work), token=lambda _host: token.text)


def commit(work, message):
    git(work, "commit", "-q", "--allow-empty", "-m", message)
    return git(work, "rev-parse", "HEAD")


def test_a_private_repository_is_fetched_and_pushed_to_with_the_token_at_hand(repo, token, tmp_path):
    work = clone(repo, tmp_path / "work")
    repo.person("alice", "write").pushes("main", {"a.txt": "a\n"})
    origin = remote(work, token)
    origin.fetch_main()
    assert git(work, "rev-parse", origin.fetched) == repo.bare.branch("main")
    made = commit(work, "mine")
    assert origin.push(made, "refs/heads/noface/7", "") is None
    assert repo.bare.branch("noface/7") == made
    assert token.text not in git(work, "config", "--list")


def test_without_a_token_or_with_one_that_ended_the_login_is_what_is_missing(repo, token, tmp_path):
    work = clone(repo, tmp_path / "work")
    token.revoked = True
    for origin in (find_remote(discover(work)), remote(work, token)):
        with pytest.raises(RemoteError) as failed:
            origin.fetch_main()
        assert failed.value.cause == RemoteCause.AUTH
        assert token.text not in str(failed.value)


def test_a_token_that_may_only_read_cannot_push_and_the_reason_says_so(github, repo, tmp_path):
    work = clone(repo, tmp_path / "work")
    origin = remote(work, github.token("noface-bot", "contents=read"))
    origin.fetch_main()
    with pytest.raises(RemoteError, match="denied to noface-bot") as failed:
        origin.push(commit(work, "mine"), "refs/heads/noface/7", "")
    assert failed.value.cause == RemoteCause.PERMISSION


def test_a_protected_main_refuses_a_push_and_says_that_it_wants_pull_requests(repo, token, tmp_path):
    work = clone(repo, tmp_path / "work")
    repo.protect("main")
    refused = remote(work, token).push(commit(work, "mine"), "refs/heads/main", repo.bare.branch("main"))
    assert refused.reason.cause is RemoteCause.PROTECTED
    assert "GH006" in refused.reason.line + refused.server_words


def test_a_server_that_is_away_is_told_from_one_that_refuses(github, repo, token, tmp_path):
    work = clone(repo, tmp_path / "work")
    with github.away(), pytest.raises(RemoteError) as failed:
        remote(work, token).fetch_main()
    assert failed.value.passing
