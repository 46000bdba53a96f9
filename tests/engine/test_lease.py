"""One machine works on a repository: real clones, real runs, one bare repository (law 5)."""

import json
import math
import shutil
import signal
import time
from types import SimpleNamespace

import pytest
from support.clocked_run import clocked
from support.processes import wait_for
from support.project import Project
from support.remotes import a_remote

from noface.engine.jobs import Job
from noface.engine.stations import Tick
from noface.errors import LockedError, RemoteError
from noface.git.plumbing import Plumbing
from noface.git.remote import find_remote
from noface.git.repository import discover
from noface.process.command import Canceller
from noface.remote.lease import CLOCKS_APART_S, LEASE, Lease, RepositoryLease, read

PUSH = "[landing]\npush = true\n"
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


def held(remote):
    return LEASE in remote.refs


def push_lease(project, message, old=""):
    """Take the lease as another machine does; return the commit."""
    plumbing = Plumbing(discover(project.path))
    commit = plumbing.commit_tree(plumbing.git.ask("mktree", stdin=""), (), message)
    result = find_remote(plumbing.repository).push(commit, LEASE, old)
    plumbing.close()
    assert result is None
    return commit


def theirs(until):
    return json.dumps({"holder": "theirs", "run": "r9", "machine": "atlas", "until": until})


def test_the_lease_is_held_while_a_run_works_and_given_back(project, remote):
    seen = project.folder / "seen"
    look = {"shell": f"git -C '{remote.path}' for-each-ref '{LEASE}' > '{seen}'"}
    project.play(play(7, look), play(8))
    project.run()
    assert LEASE in seen.read_text()
    assert project.statuses() == {"7": "merged", "8": "merged"}
    assert not held(remote)


def test_of_two_machines_at_once_one_works_and_the_other_says_who(project, bob, remote):
    go = project.folder / "go"
    project.play(play(7, {"shell": f"while test ! -e '{go}'; do sleep 0.1; done"}), play(8))
    first = project.start("run", NOFACE_MACHINE="atlas")
    wait_for(lambda: held(remote))
    second = bob.noface("run", "--config", "mine.toml")
    go.touch()
    assert first.wait() == 0
    assert second.returncode == 2
    assert "another noface works on this repository: atlas until 20" in " ".join(second.stderr.split())
    assert bob.attempts("7") == []
    assert bob.noface("run", "--config", "mine.toml").returncode == 0
    assert bob.statuses() == {"7": "merged", "8": "merged"}
    assert bob.attempts("7") == []
    assert remote.main == project.git("rev-parse", "main") == bob.git("rev-parse", "main")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (theirs(2e9), "atlas until 2033-05-18 03:33 UTC"),
        (theirs(1e300), "atlas"),
        (theirs(math.nan), "atlas"),
        ('{"machine": "\x1b[2J"}', "another noface"),
        ("[" * 20_000, "another noface"),
        ("\N{SNOWMAN}", "another noface"),
    ],
)
def test_a_lease_that_others_wrote_keeps_a_machine_off_until_it_ends_or_is_removed(message, said):
    found = read(message)
    assert found.held_by().startswith(said)
    assert not found.ended(time.time())


def test_a_lease_is_over_once_it_has_ended_also_by_a_clock_that_is_behind():
    lease = read(theirs(1000.0))
    assert (lease.machine, lease.ended(1000.0 + CLOCKS_APART_S)) == ("atlas", False)
    assert lease.ended(1001.0 + CLOCKS_APART_S)
    assert Lease("", "", "", math.inf).ended(1e12) is False


def test_a_lease_that_is_over_is_taken_over_and_a_hostile_one_names_the_way_out(project, remote):
    old = push_lease(project, "\x1b[2J")
    refused = project.noface("run")
    assert refused.returncode == 2
    assert f"git push origin --delete {LEASE}" in " ".join(refused.stderr.split())
    push_lease(project, theirs(time.time() - CLOCKS_APART_S - 1), old)
    project.run()
    assert not held(remote)


@pytest.mark.thorough
def test_what_a_killed_run_had_is_free_for_others_once_its_lease_is_over(project, bob, remote):
    killed = bob.noface("run", "--config", "mine.toml", "--issue", "7", NOFACE_FAILPOINT="agent_started")
    assert killed.returncode == KILLED
    wait_for(lambda: not bob.processes())
    assert held(remote)
    project.run(code=2)
    (project.folder / "slept").write_text("7200")  # two hours later
    later = clocked(project)
    assert later.returncode == 0, later.stdout + later.stderr
    assert project.statuses() == {"7": "merged", "8": "merged"}
    assert not held(remote)
    bob.noface("run", "--config", "mine.toml")
    assert bob.statuses() == {"7": "merged", "8": "merged"}
    assert len(bob.attempts("7")) == 1  # landed by the other: nothing is done twice


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["lease_taken", "lease_given_back"])
def test_the_own_clone_goes_on_at_once_after_a_kill(project, remote, name):
    assert project.noface("run", NOFACE_FAILPOINT=f"{name}:1:kill").returncode == KILLED
    wait_for(lambda: not project.processes())
    assert held(remote) == (name == "lease_taken")
    project.run()
    assert project.statuses() == {"7": "merged", "8": "merged"}
    assert not held(remote)


class Later:
    """A clock that jumps."""

    ahead = 0.0

    def now(self):
        return time.time() + self.ahead

    def sleep(self, seconds):
        self.ahead += seconds


@pytest.fixture
def run(project, remote):
    """What a run's lease needs of its context."""
    plumbing, facts = Plumbing(discover(project.path)), {}
    config = SimpleNamespace(landing=SimpleNamespace(publishes=True))
    yield SimpleNamespace(
        remote=find_remote(plumbing.repository),
        settings=SimpleNamespace(config=config, policy=SimpleNamespace(outage_max_s=100.0)),
        env=SimpleNamespace(plumbing=plumbing),
        reader=SimpleNamespace(fact=facts.get),
        journal=SimpleNamespace(fact=facts.__setitem__),
        clock=Later(),
        run_id="r1",
        announced=(announced := []),
        announce=lambda kind, _issue, _data: announced.append(kind),
    )
    plumbing.close()


def renewed(steps):
    """Go on with a lease's story until it has asked the remote once more."""
    job = next(each for each in steps if isinstance(each, Job))
    try:
        steps.send(job.run(Canceller()))
    except RemoteError as error:
        steps.throw(error)


def test_a_lease_is_renewed_and_one_that_another_machine_has_taken_ends_the_run(project, remote, run):
    lease = RepositoryLease()
    with lease.held(run, Canceller()):
        (steps,) = lease.stories()
        first = remote.git("rev-parse", LEASE)
        assert isinstance(next(steps), Tick)
        run.clock.ahead = 400.0
        renewed(steps)
        mine = remote.git("rev-parse", LEASE)
        assert mine != first
        taken = push_lease(project, theirs(run.clock.now() + 600), mine)
        run.clock.ahead = 800.0
        with pytest.raises(LockedError, match="lost the repository's lease, and lands nothing more: atlas until"):
            renewed(steps)
    assert remote.git("rev-parse", LEASE) == taken


def test_a_run_that_has_lost_its_lease_during_a_gate_lands_nothing(project, remote):
    git, message = f"git -C '{remote.path}'", theirs(time.time() + 1000)
    lost = f"{git} update-ref {LEASE} $({git} commit-tree -m '{message}' $({git} mktree </dev/null))"
    gate = f"! test -e 7.txt || ({lost}; echo 400 >'{project.folder}/slept'; sleep 8)"
    project.config(f"{PUSH}[[gates]]\nname = 'slow'\ncommand = {json.dumps(gate)}\n")
    project.commit("a slow gate")
    project.git("push", "-q", "origin", "main")
    before = remote.main
    done = clocked(project)
    assert "lost the repository's lease, and lands nothing more: atlas until" in " ".join(done.stderr.split())
    assert (remote.main, project.git("rev-parse", "main")) == (before, before)


def test_a_copy_of_a_clone_that_takes_the_lease_ends_the_first_one(remote, run):
    lease = RepositoryLease()
    with lease.held(run, Canceller()):
        copy = RepositoryLease()
        with copy.held(SimpleNamespace(**{**vars(run), "run_id": "r2"}), Canceller()):
            run.clock.ahead = 400.0
            with pytest.raises(LockedError):
                renewed(lease.stories()[0])


def test_a_server_that_takes_no_lease_is_told_and_work_goes_on_and_without_pushing_none_is_taken(remote, run):
    (hook := remote.path / "hooks/update").write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    with RepositoryLease().held(run, Canceller()):
        assert run.announced == ["lease_refused"]
    hook.unlink()
    run.settings.config.landing.publishes = False
    with RepositoryLease().held(run, Canceller()):
        assert not held(remote)


def test_no_work_begins_before_a_remote_that_is_away_has_given_the_lease(project, remote, run):
    back, sleep = f"file://{remote.path}", run.clock.sleep
    project.git("config", "remote.origin.url", "http://127.0.0.1:1/")
    run.clock.sleep = lambda seconds: (sleep(seconds), project.git("config", "remote.origin.url", back))
    with RepositoryLease().held(run, Canceller()):
        assert held(remote)
    assert run.announced == ["lease_waits"]
    project.git("config", "remote.origin.url", "http://127.0.0.1:1/")
    run.clock.sleep = sleep
    with pytest.raises(RemoteError), RepositoryLease().held(run, Canceller()):
        pass
    assert run.clock.ahead > 60


def test_a_run_that_does_not_begin_gives_its_lease_back(project, remote):
    project.config(PUSH + '[[gates]]\nname = "red"\ncommand = "false"\n')
    project.commit("red")
    project.git("push", "-q", "origin", "main")
    project.run(code=3)
    assert not held(remote)
