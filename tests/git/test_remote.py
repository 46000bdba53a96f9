"""The git remote: real bare repositories, fetched from and pushed to. What runs, and what must not."""

import os
import shutil
import stat
from pathlib import Path

import pytest
from support.git_ground import a_repository, git, write
from support.processes import wait_for

from noface.data import table
from noface.errors import RemoteError, UsageError
from noface.git.command import Git
from noface.git.remote import FETCHED, Rejected, choose_remote, environment, find_remote, run_within
from noface.git.remote_causes import RemoteCause, reason_of
from noface.git.repository import discover


@pytest.fixture
def work(tmp_path):
    """A person's clone of a bare repository, both with one commit on main."""
    return a_clone(tmp_path)


def a_clone(folder, *init):
    """Make a repository with the bare one that it is a clone of beside it."""
    work = a_repository(folder / "work", None, *init)
    git(folder, "clone", "-q", "--bare", "work", "bare.git")
    git(work, "remote", "add", "origin", f"file://{folder}/bare.git")
    git(work, "fetch", "-q")
    git(work, "branch", "-q", "--set-upstream-to=origin/main")
    return work


def bare_of(work):
    return work.parent / "bare.git"


def commit(folder, name="new"):
    """Commit a file; return the commit."""
    write(folder, {f"{name}.txt": name})
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", name)
    return git(folder, "rev-parse", "HEAD")


def pushed_by_another(work, name="theirs"):
    """Have another clone push a commit to the remote's main; return it."""
    other = work.parent / f"other-{name}"
    git(work.parent, "clone", "-q", "bare.git", other.name)
    git(other, "config", "user.name", "Ann")
    git(other, "config", "user.email", "ann@example.org")
    made = commit(other, name)
    git(other, "push", "-q")
    return made


def origin(work, **given):
    return find_remote(discover(work), **given)


def refs(folder, *prefixes):
    return git(folder, "for-each-ref", "--format=%(refname) %(objectname)", *prefixes)


# Which remote


def test_the_remote_is_the_one_wanted_else_that_of_main_else_origin_else_the_only_one():
    assert choose_remote("b", ("a", "b", "origin"), "a") == "b"
    assert choose_remote("", ("a", "b", "origin"), "a") == "a"
    assert choose_remote("", ("a", "b", "origin"), "") == "origin"
    assert choose_remote("", ("a",), "gone") == "a"
    assert choose_remote("", ("a", "b"), "") is None
    assert choose_remote("", (), "") is None


def test_a_wanted_remote_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(UsageError, match="no such git remote") as caught:
        choose_remote("upstream", ("origin",), "")
    assert "origin" in caught.value.hint
    assert "git remote add upstream" in caught.value.hint


def test_main_may_have_another_name_on_the_remote(work):
    git(bare_of(work), "branch", "-m", "main", "trunk")
    git(work, "fetch", "-q", "--prune")
    git(work, "branch", "-q", "--set-upstream-to=origin/trunk")
    remote = origin(work)
    assert (remote.main, remote.fetched, remote.main_name) == ("refs/heads/trunk", f"{FETCHED}trunk", "origin/trunk")
    assert remote.fetch_main()[1] == "refs/heads/trunk"
    assert git(work, "rev-parse", remote.fetched) == git(work, "rev-parse", "main")


# Fetching


def test_a_fetch_changes_nothing_but_the_ref_below_refs_noface(work):
    canary = work.parent / "canary"
    write(work, {".git/hooks/reference-transaction": f"#!/bin/sh\ntouch '{canary}'\n"})
    (work / ".git/hooks/reference-transaction").chmod(0o755)
    git(bare_of(work), "tag", "v1", "main")
    theirs = pushed_by_another(work)
    before = refs(work), {p.name for p in (work / ".git").iterdir()}, (work / ".git/config").read_bytes()
    held, _ = origin(work).fetch_main()
    assert held == {"refs/heads/main": theirs}
    assert git(work, "rev-parse", f"{FETCHED}main") == theirs
    assert not canary.exists()
    git(work, "update-ref", "-d", f"{FETCHED}main")
    assert canary.exists()  # it sings for a person's git
    assert (refs(work), {p.name for p in (work / ".git").iterdir()}, (work / ".git/config").read_bytes()) == before


def test_a_branch_that_the_remote_lacks_is_told_with_the_one_its_head_names(work):
    git(bare_of(work), "branch", "-m", "main", "trunk")
    assert origin(work).fetch_main() == ({}, "refs/heads/trunk")


@pytest.mark.parametrize("of_another", ["main/old", "trunk"])
def test_what_was_fetched_of_another_branch_gives_way(work, of_another):
    git(work, "update-ref", f"{FETCHED}{of_another}", "main")
    origin(work).fetch_main()
    assert refs(work, FETCHED).split()[0::2] == [f"{FETCHED}main"]


def test_a_shallow_clone_and_sha256_are_fetched_and_pushed_to_like_others(tmp_path):
    work = a_clone(tmp_path / "sha256", "--object-format=sha256")
    theirs = pushed_by_another(work)
    remote = origin(work)
    assert remote.fetch_main()[0]["refs/heads/main"] == theirs
    assert remote.push(theirs, "refs/heads/noface/7", "") is None
    assert remote.push(git(work, "rev-parse", "main"), "refs/heads/noface/7", "").moved
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{bare_of(work)}", "shallow")
    newer = pushed_by_another(work, "more")
    shallow = origin(tmp_path / "shallow")
    assert shallow.fetch_main()[0]["refs/heads/main"] == newer
    assert git(tmp_path / "shallow", "rev-list", "--count", f"{FETCHED}main") == "2"


# Pushing


def test_a_push_is_a_compare_and_swap_and_can_be_repeated(work):
    remote, branch = origin(work), "refs/heads/noface/7"
    first, second = git(work, "rev-parse", "main"), commit(work)
    assert remote.push(first, branch, "") is None
    assert remote.push(first, branch, "") is None
    refused = remote.push(second, branch, "")
    assert isinstance(refused, Rejected)
    assert refused.moved
    assert remote.push(second, branch, first) is None
    assert remote.push(first, branch, second) is None
    assert remote.push("", branch, second).moved
    assert remote.push("", branch, first) is None
    assert refs(bare_of(work)) == f"refs/heads/main {first}"


def test_no_hook_of_the_person_runs_and_no_tag_is_pushed_along(work):
    write(work, {".git/hooks/pre-push": "#!/bin/sh\nexit 1\n"})
    (work / ".git/hooks/pre-push").chmod(0o755)
    git(work, "config", "push.followTags", "true")
    git(work, "tag", "-a", "-m", "v1", "v1")
    made = git(work, "rev-parse", "main")
    assert origin(work).push(made, "refs/heads/x", "") is None
    assert refs(bare_of(work), "refs/tags") == ""


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("nobody pushes on Fridays", RemoteCause.HOOK),
        ("error: GH006: Protected branch update failed for refs/heads/x.", RemoteCause.PROTECTED),
        ("error: GH001: Large files detected.", RemoteCause.LARGE_FILE),
        ("- GITHUB PUSH PROTECTION\n  - Push cannot contain secrets", RemoteCause.SECRET),
    ],
)
def test_what_a_server_refuses_is_told_in_its_own_words(work, words, cause):
    hook = bare_of(work) / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ncat >&2 <<'EOT'\n{words}\nEOT\nexit 1\n")
    hook.chmod(0o755)
    refused = origin(work).push(git(work, "rev-parse", "main"), "refs/heads/x", "")
    assert isinstance(refused, Rejected)
    assert refused.reason.cause is cause
    assert refused.server_words.splitlines() == [line.strip() for line in words.splitlines()]
    assert refs(bare_of(work), "refs/heads/x") == ""


# Over http, with a token


@pytest.fixture
def over_http(work, github):
    """A private repository on the GitHub of the tests, and a clone of it that has no credentials."""
    repository = github.repository("acme/shop", private=True)
    git(work, "fetch", "-q", repository.bare.path, "main")
    git(work, "reset", "-q", "--hard", "FETCH_HEAD")
    git(work, "remote", "set-url", "origin", repository.clone_url)
    return repository


def test_the_token_helps_where_the_person_s_own_credentials_do_not_and_nobody_sees_it(
    work, github, over_http, monkeypatch
):
    token = github.token("bot").text
    over_http.grant("bot", "write")
    with pytest.raises(RemoteError) as caught:
        origin(work).fetch_main()
    assert caught.value.cause == RemoteCause.AUTH
    seen = work.parent / "seen"
    program = work.parent / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> \'{seen}\'\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    asked = []
    remote = origin(work, token=lambda host: asked.append(host) or token)
    made = git(work, "rev-parse", "main")
    assert remote.fetch_main()[0] == {"refs/heads/main": made}
    assert remote.push(made, "refs/heads/noface/7", "") is None
    assert over_http.bare.branch("noface/7") == made
    assert asked == ["127.0.0.1"]
    assert "push" in seen.read_text()
    assert token not in seen.read_text()
    assert token not in (work / ".git/config").read_text()


@pytest.mark.parametrize(("role", "cause"), [("read", RemoteCause.PERMISSION), (None, RemoteCause.NOT_FOUND)])
def test_a_token_that_may_not_push_is_told_from_one_that_sees_nothing(work, github, over_http, role, cause):
    token = github.token("bot").text
    if role:
        over_http.grant("bot", role)
    with pytest.raises(RemoteError) as caught:
        origin(work, token=lambda _: token).push(git(work, "rev-parse", "main"), "refs/heads/x", "")
    assert caught.value.cause == cause
    assert token not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize("url", ["http://git.example.com/x.git", "ssh://git@github.com/x", "file:///srv/x.git"])
def test_a_token_goes_to_no_address_where_others_could_read_it_or_nobody_wants_it(work, url):
    git(work, "remote", "set-url", "origin", url)
    assert origin(work, token=lambda _: "t")._authorization() == ()


# When it cannot be reached


@pytest.mark.parametrize(
    ("url", "cause", "passing"),
    [
        ("file:///nowhere/at/all.git", RemoteCause.NOT_FOUND, False),
        ("http://pat:hunter2@127.0.0.1:9/x.git", RemoteCause.OFFLINE, True),
        ("ssh://127.0.0.1:9/x.git", RemoteCause.OFFLINE, True),
    ],
)
def test_a_remote_that_cannot_be_reached_is_told_with_its_cause_and_no_password(work, url, cause, passing):
    git(work, "config", "remote.origin.url", url)
    with pytest.raises(RemoteError) as caught:
        origin(work).fetch_main()
    assert (caught.value.cause, caught.value.passing) == (cause, passing)
    assert caught.value.hint
    assert "hunter2" not in f"{caught.value} {caught.value.hint}"
    assert refs(work, FETCHED) == ""


@pytest.mark.parametrize(
    ("end", "how"),
    [
        ("wait", ("-c", "core.sshCommand=../hang", "ls-remote", "ssh://host/x")),
        ("exit", ("-c", "alias.x=!../hang", "x")),
    ],
    ids=["all", "what is left of it"],
)
def test_a_git_that_hangs_is_ended_with_all_it_started(work, end, how):
    pids = work.parent / "pids"
    script = work.parent / "hang"
    script.write_text(f"#!/bin/sh\nsleep 1000 & echo $! >> '{pids}'\necho $$ >> '{pids}'\n{end}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    output = run_within(Git.user(str(work)), how, 1.0)
    assert output.code < 0
    assert reason_of(output.stderr).cause is RemoteCause.AWAY
    wait_for(lambda: not [pid for pid in pids.read_text().split() if alive(pid)], 20.0)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# What git is given


def test_git_asks_nobody_and_keeps_how_the_person_reaches_the_remote():
    present = {
        "GIT_DIR": "/x",
        "GIT_INDEX_FILE": "/y",
        "GIT_ASKPASS": "/usr/bin/window",
        "GIT_SSL_CAINFO": "/ca.pem",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "url.a.insteadOf",
        "GIT_CONFIG_VALUE_0": "b",
        "HOME": "/home/pat",
    }
    made = dict(environment(present, "ssh -i ~/.ssh/deploy", (("http.https://h/.extraHeader", "t"),)))
    assert made["GIT_SSH_COMMAND"] == "ssh -i ~/.ssh/deploy -oBatchMode=yes"
    assert (made["GIT_ASKPASS"], made["GCM_INTERACTIVE"]) == ("", "never")
    assert (made["GIT_CONFIG_COUNT"], made["GIT_CONFIG_KEY_1"]) == ("2", "http.https://h/.extraHeader")
    assert made["GIT_SSL_CAINFO"] == "/ca.pem"
    assert not made.keys() & {"GIT_DIR", "GIT_INDEX_FILE"}
    assert dict(environment({"GIT_SSH_COMMAND": "ssh -p 2"}, "plink"))["GIT_SSH_COMMAND"] == "ssh -p 2 -oBatchMode=yes"
    assert "GIT_SSH_COMMAND" not in dict(environment({"GIT_SSH": "/opt/plink"}))
    assert "GIT_SSH_COMMAND" not in dict(environment({}, "plink.exe -batch"))


# What git's words mean


ENTRIES = table("remote_messages")["messages"]


@pytest.mark.parametrize(("cause", "line"), [(e["cause"], line) for e in ENTRIES for line in e["examples"]])
def test_every_message_of_the_table_has_its_cause(cause, line):
    found = reason_of(f"hint: try again\n{line}\nerror: failed to push some refs to 'x'\n")
    assert found.cause == cause
    assert found.advice
