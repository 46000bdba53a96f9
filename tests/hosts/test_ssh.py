"""A host over ssh joins, is left, and says what is wrong: with a real sshd, and with a stand-in for ssh."""

import os
import signal
import sys
import time

import pytest
from support.home_scheduler import home_scheduler
from support.processes import alive, wait_for
from support.ssh_ground import NOFACE, STAND_IN, WHY_NOT, Sshd

from noface.errors import HostError
from noface.hosts.ssh import SshHost

with_sshd = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
SOON_S = 15


@pytest.fixture(scope="module")
def home():
    with home_scheduler() as running:
        yield running


@pytest.fixture
def sshd(tmp_path, token):
    server = Sshd(tmp_path / "sshd", {"XDG_CACHE_HOME": str(tmp_path / "cache"), "NOFACE_TOKEN": token})
    server.start()
    yield server
    server.stop()


@pytest.fixture
def stand_in(tmp_path, token, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NOFACE_TOKEN", token)
    return (sys.executable, str(STAND_IN))


def host_at(server, home, **more):
    given = {"ssh": server.ssh, "command": NOFACE} | more
    return SshHost(server.host, home.port, home.credentials.worker, **given)


def refused(host):
    """What the error of a start says, with its hint; nothing is left of it."""
    with pytest.raises(HostError) as caught:
        host.start()
    assert not host.alive()
    return caught.value.message, caught.value.hint


def joins_works_and_leaves(host, home, token):
    there = host.start()
    try:
        assert host.alive()
        assert host.why == ""
        assert there.cores >= 1
        assert host.worker_name in home.names()
        assert home.ask(os.getpid) in alive(token)
    finally:
        host.close()
    assert not host.alive()
    assert host.worker_name not in home.names()
    assert alive(token) == []


@with_sshd
def test_a_host_joins_works_and_leaves_nothing_behind(sshd, home, token):
    joins_works_and_leaves(host_at(sshd, home, attempts=3), home, token)


def test_the_same_without_an_sshd(stand_in, home, token):
    host = SshHost("bigbox", home.port, home.credentials.worker, command=NOFACE, ssh=stand_in)
    joins_works_and_leaves(host, home, token)


@with_sshd
def test_what_a_login_shell_prints_before_is_no_hello(sshd, home, token):
    banner = 'echo Welcome; echo "{\\"motd\\": 1}"; echo "{not json"; printf "no newline yet\\n"; '
    joins_works_and_leaves(host_at(sshd, home, command=banner + NOFACE), home, token)


@with_sshd
def test_the_persons_own_forwardings_are_left_alone(sshd, home, token):
    sshd.configure(
        "LocalForward 1 127.0.0.1:1\nControlMaster auto\nControlPersist yes\nRemoteCommand true\nRequestTTY yes"
    )
    joins_works_and_leaves(host_at(sshd, home), home, token)


@with_sshd
def test_a_host_that_is_killed_is_missed_with_a_reason(sshd, home, token):
    host = host_at(sshd, home)
    host.start()
    began = time.monotonic()
    os.kill(home.ask(os.getpid), signal.SIGKILL)
    wait_for(lambda: not host.alive(), SOON_S)
    assert time.monotonic() - began < 5
    assert "noface on bigbox was killed" in host.why
    host.close()
