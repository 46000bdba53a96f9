"""Two machines on one repository never work on the same issue: real clones, real runs, one bare repository (I10)."""

import json
import os
import shutil
import signal
import time

import pytest
from support.cases import first_ones
from support.clocked_run import clocked
from support.hosted import hosted
from support.processes import wait_for
from support.project import Project
from support.remotes import a_remote

from noface.git.claims import ClaimRefs, claim_ref
from noface.git.plumbing import Plumbing
from noface.git.remote import Push, Pushed, find_remote
from noface.git.repository import discover
from noface.recovery.claims import Claim, written

PUSH = "[landing]\npush = true\n"
CLAIM = "refs/noface/claims/"
KILLED = -signal.SIGKILL


@pytest.fixture
def remote(project):
    """The remote of a project with two issues, whose landings are pushed."""
    for number in (7, 8):
        project.issue(number)
    project.config(PUSH)
    project.play(*(play(number) for number in (7, 8)))
    project.commit()
    return a_remote(project)


def play(number, *before):
    return (str(number), 0, [*before, {"write": f"{number}.txt", "text": "x"}])


@pytest.fixture
def bob(remote, project):
    """A clone of the same repository, as on another machine, with a worker and workspaces of its own."""
    folder = project.folder / "elsewhere"
    folder.mkdir()
    made = Project(folder / "repo", folder)
    remote.git("clone", "-q", f"file://{remote.path}", str(made.path))
    made.git("config", "user.name", "Bob")
    made.git("config", "user.email", "bob@example.org")
    shutil.copy(project.script, made.script)
    text = (made.path / "noface.toml").read_text().replace(str(project.folder), str(folder))
    (made.path / "mine.toml").write_text(text)
    (made.path / ".git/info/exclude").write_text("mine.toml\n")
    yield made
    made.end()


def claims(remote):
    return [ref.removeprefix(CLAIM) for ref in remote.refs if ref.startswith(CLAIM)]


def claim_of(remote, issue):
    return json.loads(remote.git("log", "-1", "--format=%B", f"{CLAIM}{issue}"))


def claim_elsewhere(remote, project, issue, since, lease=1800.0, token=1, old=""):
    """Claim an issue as another machine does; return the commit."""
    return push_claim(
        project, issue, written(Claim(str(issue), "theirs", "atlas", "r9", since, since + lease, token)), old
    )


def push_claim(project, issue, message, old=""):
    plumbing = Plumbing(discover(project.path))
    refs = ClaimRefs(plumbing, find_remote(plumbing.repository))
    commit = refs.make(message)
    (result,) = refs.push([Push(claim_ref(str(issue)), commit, old)]).values()
    plumbing.close()
    assert isinstance(result, Pushed)
    return commit


def test_an_issue_is_claimed_while_it_is_worked_on_and_given_back(project, remote):
    seen = project.folder / "seen"
    look = {"shell": f"git -C '{remote.path}' for-each-ref '{CLAIM}' > '{seen}'"}
    project.play(play(7, look), play(8))
    project.run()
    assert f"{CLAIM}7" in seen.read_text()
    assert project.statuses() == {"7": "merged", "8": "merged"}
    assert claims(remote) == []


def test_two_machines_at_once_do_each_issue_once(project, bob, remote):
    shared = project.folder / "worked"
    note = [{"shell": f"echo 7 >> '{shared}'; sleep 1"}, {"shell": f"echo 8 >> '{shared}'; sleep 1"}]
    project.play(play(7, note[0]), play(8, note[1]))
    shutil.copy(project.script, bob.script)
    first, second = project.start("run"), bob.start("run", "--config", "mine.toml")
    codes = {first.wait(), second.wait()}
    assert sorted(shared.read_text().split()) == ["7", "8"]
    assert codes <= {0, 3}
    project.run()
    bob.run("--config", "mine.toml")
    assert sorted(shared.read_text().split()) == ["7", "8"]
    assert project.statuses() == {"7": "merged", "8": "merged"}
    assert remote.main == project.git("rev-parse", "main") == bob.git("rev-parse", "main")
    assert claims(remote) == []


def test_an_issue_that_another_machine_has_waits_with_its_name_and_end(project, remote):
    claim_elsewhere(remote, project, 7, time.time())
    assert "Finished; other machines have 7." in project.run(code=3)
    shown = {issue["id"]: issue for issue in project.shown("status")["issues"]}
    assert shown["8"]["status"] == "merged"
    assert shown["7"]["status"] == "waiting"
    assert shown["7"]["reason"].startswith("claimed by atlas until 20")
    assert claims(remote) == ["7"]


@pytest.mark.thorough
def test_claims_that_a_stranger_wrote_end_no_run(project, remote):
    push_claim(project, 7, '{"issue": "7", "holder": "x", "machine": "y", "run": "", "since": NaN, "until": 1e300}')
    push_claim(project, 9, "[" * 20_000)
    push_claim(project, "ten", "a\x01refs/noface/claims/8 b\x01")
    out = project.run(code=3)
    assert "Finished; other machines have 7." in out
    assert project.statuses() == {"7": "waiting", "8": "merged"}


@pytest.mark.thorough
def test_what_a_killed_run_had_is_free_for_others_after_the_lease(project, bob, remote):
    killed = bob.noface("run", "--config", "mine.toml", "--issue", "7", NOFACE_FAILPOINT="agent_started")
    assert killed.returncode == KILLED
    wait_for(lambda: not bob.processes())
    assert claims(remote) == ["7"]
    first = claim_of(remote, 7)
    project.run(code=3)
    assert project.statuses() == {"7": "waiting", "8": "merged"}
    (project.folder / "slept").write_text("7200")  # two hours later
    later = clocked(project)
    assert later.returncode == 0, later.stdout + later.stderr
    assert project.statuses()["7"] == "merged"
    assert claims(remote) == []
    assert first["token"] == 1
    bob.noface("run", "--config", "mine.toml")
    assert bob.statuses() == {"7": "merged", "8": "merged"}
    assert len(bob.attempts("7")) == 1  # landed by the other: nothing is done twice


@pytest.mark.parametrize(
    ("name", "left"), [("claimed", ["7"]), pytest.param("claims_released", [], marks=pytest.mark.thorough)]
)
@pytest.mark.parametrize("kind", first_ones(["kill", "raise"]))
def test_the_own_clone_goes_on_at_once_after_a_kill_or_a_fault(project, remote, name, left, kind):
    ended = project.noface("run", NOFACE_FAILPOINT=f"{name}:1:{kind}")
    assert ended.returncode == (KILLED if kind == "kill" else 0)
    wait_for(lambda: not project.processes())
    assert claims(remote) == (left if kind == "kill" else [])
    project.run()
    assert project.statuses() == {"7": "merged", "8": "merged"}
    assert claims(remote) == []


def test_a_claim_that_was_taken_over_ends_the_work_on_its_issue(project, remote):
    go, seen = project.folder / "go", project.folder / "seen"
    wait = {"shell": f"touch '{seen}'; while test ! -e '{go}'; do sleep 0.1; done"}
    project.play(play(7, wait), play(8))
    project.config(PUSH + 'lease = "2s"\n')
    project.commit("shorter")
    project.git("push", "-q", "origin", "main")
    process = project.start("run", "--issue", "7", "--json")
    wait_for(seen.exists)
    taken = None
    for _ in range(200):  # a renewal may come in between
        try:
            taken = claim_elsewhere(remote, project, 7, time.time(), token=2, old=remote.git("rev-parse", f"{CLAIM}7"))
            break
        except AssertionError:
            continue
    assert taken is not None
    code = process.wait()
    go.touch()
    assert code == 3
    assert remote.git("rev-parse", f"{CLAIM}7") == taken
    (issue,) = [issue for issue in project.shown("status")["issues"] if issue["id"] == "7"]
    assert (issue["status"], issue["attempts"]) == ("waiting", 0)
    assert "atlas" in issue["reason"]


@pytest.mark.thorough
def test_a_blocked_issue_stays_claimed_for_its_clone_and_is_free_once_it_is_done(project, remote):
    project.play(("7", 0, []), play(8))
    project.run(code=3)
    assert project.statuses() == {"7": "blocked", "8": "merged"}
    assert claim_of(remote, 7)["why"] == "it waits for a person there"
    project.play(play(7))
    project.noface("retry", "7")
    project.run()
    assert claims(remote) == []


@pytest.mark.thorough
def test_an_issue_in_review_stays_claimed_until_a_later_run_sees_its_merge(project, github):
    shop = hosted(project, github)
    project.issue(1)
    shop.push()
    project.run(code=3)
    kept = json.loads(shop.repo.bare.git("log", "-1", "--format=%B", f"{CLAIM}1"))
    assert (kept["issue"], kept["why"]) == ("1", "its pull request is open")
    shop.repo.person("ann", "write").merges(shop.pulls()[0][0], "squash")
    project.run()
    assert project.statuses() == {"1": "merged"}
    assert [ref for ref in shop.repo.bare.refs() if ref.startswith(CLAIM)] == []


def test_a_server_that_takes_no_claims_is_told_and_work_goes_on(project, remote):
    hook = remote.path / "hooks" / "update"
    hook.write_text('#!/bin/sh\ncase "$1" in refs/heads/*) exit 0;; esac\necho "branches only" >&2\nexit 1\n')
    hook.chmod(0o755)
    output = " ".join(project.run().split())
    assert "issues cannot be claimed, so another machine may work on the same ones: branches only" in output
    assert project.statuses() == {"7": "merged", "8": "merged"}


def test_without_pushing_nothing_is_claimed(project, remote):
    project.config()
    project.commit()
    project.run()
    assert claims(remote) == []
    assert remote.pushes == []
    assert os.environ.get("NOFACE_FAILPOINT") is None
