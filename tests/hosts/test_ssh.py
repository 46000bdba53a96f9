"""A host over ssh joins, is left, and says what is wrong: with a real sshd, and with a stand-in for ssh."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.cases import first_ones
from support.home_scheduler import home_scheduler
from support.processes import alive, wait_for
from support.ssh_ground import NOFACE, STAND_IN, WHY_NOT, Sshd

from noface.errors import HostError
from noface.extras.hosts.handshake import SILENCE_S
from noface.extras.hosts.hello import hello
from noface.extras.hosts.ssh import SshHost

with_sshd = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
SOON_S = 15


@pytest.fixture(scope="module")
def home():
    with home_scheduler() as running:
        yield running


@pytest.fixture
def sshd(tmp_path, token):
    server = Sshd(tmp_path / "sshd", {"XDG_STATE_HOME": str(tmp_path / "state"), "NOFACE_TOKEN": token})
    server.start()
    yield server
    server.stop()


@pytest.fixture
def stand_in(tmp_path, token, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NOFACE_TOKEN", token)
    return (sys.executable, str(STAND_IN))


def host_at(server, home, **more):
    given = {"ssh": server.ssh, "command": NOFACE} | more
    return SshHost(server.host, home.member, **given)


def refused(host):
    """What the error of a start says, with its hint; nothing is left of it."""
    with pytest.raises(HostError) as caught:
        host.start()
    assert not host.alive()
    assert host.why == ""
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


@pytest.mark.thorough
def test_the_same_without_an_sshd(stand_in, home, token):
    host = SshHost("bigbox", home.member, command=NOFACE, ssh=stand_in)
    joins_works_and_leaves(host, home, token)


@pytest.mark.thorough
@with_sshd
def test_what_a_login_shell_prints_before_is_no_hello(sshd, home, token):
    banner = 'echo Welcome; echo "{\\"motd\\": 1}"; echo "{not json"; printf "no newline yet\\n"; '
    joins_works_and_leaves(host_at(sshd, home, command=banner + NOFACE), home, token)


@pytest.mark.thorough
@with_sshd
def test_the_persons_own_forwardings_are_left_alone(sshd, home, token):
    sshd.configure(
        "LocalForward 1 127.0.0.1:1\nControlMaster auto\nControlPersist yes\nRemoteCommand true\nRequestTTY yes"
    )
    joins_works_and_leaves(host_at(sshd, home), home, token)


@pytest.mark.thorough
@with_sshd
def test_a_host_that_is_killed_is_missed_with_a_reason(sshd, home):
    host = host_at(sshd, home)
    host.start()
    began = time.monotonic()
    os.kill(home.ask(os.getpid), signal.SIGKILL)
    wait_for(lambda: not host.alive(), SOON_S)
    assert time.monotonic() - began < 5
    assert "noface on bigbox was killed" in host.why
    host.close()
    assert host.why == ""


HOME = """
import sys
from noface.extras.hosts.certificates import TlsIdentity
from noface.extras.hosts.ssh import SshHost
*ssh, port, ca, certificate, key, command = sys.argv[1:]
host = SshHost("bigbox", lambda: (int(port), TlsIdentity(ca, certificate, key)), command=command, ssh=tuple(ssh))
host.start()
print(host.worker_name, flush=True)
sys.stdin.read()
"""


@contextmanager
def home_of_its_own(ssh, home, token, **environment):
    """A process that keeps a host, with the name of its worker."""
    member = home.identity
    argv = [sys.executable, "-c", HOME, *ssh, str(home.port), member.ca, member.certificate, member.key, NOFACE]
    environment = os.environ | {"NOFACE_TOKEN": token} | environment
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True)
    with process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.thorough
@with_sshd
def test_a_host_whose_home_is_killed_ends_and_leaves_nothing(sshd, home, token):
    of_home = f"home of {token}"
    with home_of_its_own(sshd.ssh, home, of_home) as (process, name):
        assert name in home.names()
        assert len(alive(token)) >= 1
        process.kill()
        wait_for(lambda: alive(token) == [], SOON_S)
        wait_for(lambda: alive(of_home) == [], SOON_S)
        wait_for(lambda: name not in home.names(), SOON_S)


@pytest.mark.thorough
@with_sshd
def test_a_host_whose_home_has_stopped_ends_by_itself(sshd, home, token):
    """As when a laptop is closed: its ssh, and so the host's sshd, may hold the connection for long."""
    with home_of_its_own(sshd.ssh, home, f"home of {token}") as (process, name):
        assert name in home.names()
        process.send_signal(signal.SIGSTOP)
        wait_for(lambda: alive(token) == [], SILENCE_S + 5)


HELLO = """printf '%s\\n' '{"noface": "NOFACE", "code": "CODE", "distributed": DISTRIBUTED, "git": "2.40", "port": 1}'; cat"""
"""What a host says that is no noface of this state."""


def says(**given):
    here = hello(Path("/"))
    known = {"NOFACE": here.noface, "CODE": here.code, "DISTRIBUTED": f'"{here.distributed}"'} | given
    text = HELLO
    for name, value in known.items():
        text = text.replace(name, value)
    return text


WRONG = {
    "noface is not there": ("no-such-noface worker", "has no `no-such-noface` on its PATH", "Install it there"),
    "it cannot be run": ("/etc/passwd worker", "cannot be run", "permissions"),
    "another noface": (says(NOFACE="0.0.9"), "noface is 0.0.9 there and 0.1.0 here", "Install on bigbox what is here"),
    "another state of it": (says(CODE="abc"), "(abc) is not the same as here", "Install on bigbox what is here"),
    "another dask": (says(DISTRIBUTED='"2024.1.0"'), "dask.distributed is 2024.1.0 there", "Install on bigbox"),
    "without the extra": (
        says(DISTRIBUTED="null"),
        "the extra `cluster` is not installed there",
        "noface-loop[cluster]",
    ),
    "without git": (says().replace("2.40", "").replace('""', "null"), "has no git", "Install git"),
    "an account that lets nobody in": (
        "echo 'This account is currently not available.'; exit 1",
        "ended at once (exit code 1)",
        "noface tools worker --check",
    ),
    "an older noface": ("echo \"Error: No such command 'worker'.\" >&2; exit 2", "is too old", "Install the version"),
    "it ends in the handshake": (says().replace("cat", "head -c 1"), "ended at once (exit code 0)", "--check"),
    "it hangs": ("cat", "did not answer within 3 s, though the login worked", "--check"),
    "it says what nobody asked for": ("yes '[1]' | head -n 100000; cat", "did not answer within 3 s", "--check"),
    "it is refused there": ('echo \'{"error": "the disk is full"}\'; cat', "bigbox: the disk is full", ""),
}


@with_sshd
@pytest.mark.parametrize("case", first_ones(WRONG))
def test_what_is_wrong_on_a_host_is_told(sshd, home, token, case):
    command, message, hint = WRONG[case]
    host = host_at(sshd, home, command=command, connect_s=3.0)
    told = refused(host)
    wait_for(lambda: alive(token) == [], SOON_S)
    assert message in told[0]
    assert hint in told[1]


def unknown_key(sshd):
    sshd.known.write_text("")


def changed_key(sshd):
    sshd.known.write_text(f"[{sshd.address}]:{sshd.port} {(sshd.folder / 'login.pub').read_text()}")


def wrong_login(sshd):
    sshd.configure(key="host_key")


def no_server(sshd):
    sshd.stop()


def no_such_machine(sshd):
    sshd.configure(f"Host {sshd.host}\n  HostName no-such-machine.invalid")


def broken_configuration(sshd):
    (sshd.folder / "config").write_text("NoSuchOption yes\n")


UNREACHED = [
    (unknown_key, "the key of bigbox is not known here", "Run `ssh bigbox` once"),
    (changed_key, "bigbox shows another key than the one known here", "before you trust it"),
    (wrong_login, "bigbox does not accept your login", "ssh -o BatchMode=yes bigbox true"),
    (no_server, "no ssh server answers at bigbox", "Start sshd"),
    (no_such_machine, "the name of bigbox is not known", "~/.ssh/config"),
    (broken_configuration, "ssh does not understand its configuration", "~/.ssh/config"),
]


@with_sshd
@pytest.mark.parametrize(("change", "message", "hint"), first_ones(UNREACHED, 3, rows=True))
def test_why_a_host_is_not_reached_is_told(sshd, home, change, message, hint):
    change(sshd)
    told = refused(host_at(sshd, home))
    assert message in told[0]
    assert hint in told[1]


@with_sshd
@pytest.mark.parametrize(
    "allowed", [pytest.param(each, marks=pytest.mark.thorough) for each in ("remote", "local", "no")]
)
def test_a_server_that_forwards_no_ports_is_told(tmp_path, token, home, allowed):
    server = Sshd(tmp_path / "sshd", {"NOFACE_TOKEN": token}, settings=f"AllowTcpForwarding {allowed}")
    server.start()
    message, hint = refused(host_at(server, home))
    wait_for(lambda: alive(token) == [], SOON_S)
    server.stop()
    assert "AllowTcpForwarding" in hint
    assert ("forwards no ports" in message) != (allowed == "remote" and "through ssh" in message)


@pytest.mark.parametrize("name", ["-oProxyCommand=touch gone", "-F/dev/null"])
def test_a_name_that_would_be_an_option_of_ssh_is_none(tmp_path, home, name, monkeypatch):
    """The configuration refuses it; were it to get this far, ssh would still take it for a name."""
    monkeypatch.chdir(tmp_path)
    refused(SshHost(name, home.member, ssh=("ssh", "-F", "none"), connect_s=3.0))
    assert list(tmp_path.iterdir()) == []


def test_a_machine_without_ssh_is_told(home):
    message, hint = refused(SshHost("bigbox", home.member, ssh=("no-such-ssh",)))
    assert "`no-such-ssh` cannot be run" in message
    assert "openssh-client" in hint


def test_a_host_that_is_closed_while_it_starts_ends_its_start(stand_in, home):
    host = SshHost("bigbox", home.member, command="sleep 100", ssh=stand_in)
    closing = threading.Timer(1.0, host.close, kwargs={"wait_s": 0})
    closing.start()
    began = time.monotonic()
    refused(host)
    assert time.monotonic() - began < 10
    closing.join()
