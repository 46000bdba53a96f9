"""What a command reaches of the network: a loopback of its own, services, the outside; and whom it has met."""

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.processes import watches_connects

from noface.model.access import Network
from noface.process.connections import strangers
from noface.process.sandbox import CONNECTORS, Box, find_bubblewrap
from noface.process.supervise import Command, Ladder, Launcher

ROOT = Path(__file__).parents[2]
BUBBLEWRAP = find_bubblewrap(shutil.which("bwrap"))
boxes = pytest.mark.skipif(not BUBBLEWRAP.works, reason=f"no sandbox here: {BUBBLEWRAP.problem}")
watches = pytest.mark.skipif(not watches_connects(), reason="this kernel does not tell of connects")
ASK = "import socket, sys; s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 5); print(s.recv(99).decode())"
SERVE = (
    "import socket, sys; s = socket.create_server(('127.0.0.1', int(sys.argv[1])));"
    " print(s.getsockname()[1], flush=True); c, _ = s.accept(); c.sendall(b'its own'); c.recv(1)"
)


@pytest.fixture
def ran(tmp_path):
    """Run a shell script in a box with a network, or outside of one; return how it ended, and what it wrote."""

    def ran(script, network=None, *args, services=(), connector=""):
        log = tmp_path / "log"
        log.unlink(missing_ok=True)
        (tmp_path / "tmp").mkdir(exist_ok=True)
        box = None
        if network is not None:
            box = Box(
                BUBBLEWRAP.program,
                (),
                str(tmp_path / "tmp"),
                writable=(str(tmp_path),),
                visible=(sys.prefix, sys.base_prefix),
                network=network,
                services=services,
                connector=connector,
            )
        argv = ("bash", "-c", script, "bash", *map(str, args))
        env = (("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}"),)
        with Launcher(Ladder(0.2, 0.2)) as launcher:
            command = Command(
                argv, str(tmp_path), env, None, str(log), str(log), 30.0, None, 1 << 20, box, services=services
            )
            ended = launcher.run(command)
        assert ended.error == ""
        return ended, log.read_text()

    return ran


@pytest.mark.parametrize("files", [3, 4])
def test_a_command_begins_also_where_the_kernel_tells_of_no_sockets(files):
    alone = "import resource; from noface.process import connections as c; c.libc(); resource.setrlimit"
    code = f"{alone}(resource.RLIMIT_NOFILE, ({files}, {files})); c.watching([], boxed=True)"
    subprocess.run([sys.executable, "-c", code], check=True, stdin=subprocess.DEVNULL)


@contextmanager
def server(host="127.0.0.1", says=b"another's"):
    """A server of somebody else, which says one thing to whoever connects."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as listening:
        threading.Thread(target=lambda: answer(listening, says), daemon=True).start()
        yield listening.getsockname()[1]


def answer(listening, says):
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        with connection:
            connection.sendall(says)


@boxes
def test_a_command_with_a_loopback_of_its_own_reaches_its_own_servers_and_no_other(ran):
    with server() as port:
        ended, text = ran(f'python3 -c "{ASK}" 127.0.0.1 {port} || echo nobody', Network.AUTO)
    assert "another's" not in text
    assert "nobody" in text
    assert ended.met == ()
    script = f'python3 -c "{SERVE}" 34567 & sleep 0.3; python3 -c "{ASK}" localhost 34567'
    assert "its own" in ran(script, Network.OFF)[1]


@boxes
def test_a_service_that_is_named_is_there_in_both_directions_and_nothing_is_left_of_what_leads_to_it(ran):
    big = b"x" * 1_000_000
    with server(says=big) as port:
        read = "import socket, sys; s = socket.create_connection(('localhost', int(sys.argv[1])));"
        read += " n = 0\\nwhile d := s.recv(65536): n += len(d)\\nprint(n)"
        script = f"for _ in 1 2 3; do python3 -c $'{read.replace(chr(39), chr(92) + chr(39))}' {port} & done; wait"
        ended, text = ran(script, Network.AUTO, services=(f"localhost:{port}",))
    assert text.split() == ["1000000"] * 3
    assert (ended.exit_code, ended.survivors_killed) == (0, 0)


@boxes
@pytest.mark.parametrize("program", [name for name in CONNECTORS if shutil.which(name)])
def test_the_outside_is_there_without_this_machines_loopback(ran, program):
    with server() as port, server() as named:
        script = f'grep -q 00000000 /proc/net/route && echo out; python3 -c "{ASK}" localhost {named}; python3 -c "{ASK}" localhost {port} || echo nobody'
        ended, text = ran(script, Network.OWN, services=(f"localhost:{named}",), connector=shutil.which(program))
    assert text.split("\n")[:2] == ["out", "another's"]
    assert text.endswith("nobody\n")
    assert ended.survivors_killed == 0


@watches
@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("127.0.0.1", None),
        ("::1", None),
        pytest.param("127.0.0.1", Network.ON, marks=boxes),
        pytest.param("127.0.0.1", Network.OWN, marks=boxes),
    ],
)
def test_whom_a_command_meets_on_the_machines_network_is_told_unless_it_is_its_own_or_named(ran, network, host):
    """Of honest work none was told: 280 connects of 436 tests of noface's own that start servers, npm, pip, curl."""
    own = f'python3 -c "{SERVE}" 0 > port & until read port < port; do sleep 0.05; done; python3 -c "{ASK}" localhost $port'
    with server(host) as port:
        ask = f'python3 -c "{ASK}" {host} {port}'
        ended, text = ran(ask, network)
        assert "another's" in text
        assert list(strangers(ended.met)) == [f"localhost:{port}"]
        assert f"pid {os.getpid()}" in strangers(ended.met)[f"localhost:{port}"]
        assert ran(ask, network, services=(f"localhost:{port}",))[0].met == ()
        ended, text = ran(own, network)
    assert "its own" in text
    assert ended.met == ()


@watches
@pytest.mark.parametrize("name", ["\0{}", "/tmp/{}"], ids=["abstract", "file"])
def test_a_unix_socket_of_another_is_told_too_and_in_a_box_it_is_not_there_unless_it_is_named(ran, name, tmp_path):
    name = name.format(f"noface-{os.getpid()}-{tmp_path.name}")
    shown = name.replace("\0", "@")
    ask = f"import socket; socket.socket(socket.AF_UNIX).connect({name!r}); print('met')".replace('"', "'")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(name)
        listening.listen()
        try:
            ended, text = ran(f'python3 -c "{ask}"'.replace("\\x00", "\\\\x00"))
            assert ("met" in text, list(strangers(ended.met))) == (True, [shown])
            if BUBBLEWRAP.works:
                assert "met" not in ran(f'python3 -c "{ask}"', Network.AUTO)[1]
            if BUBBLEWRAP.works and name.startswith("/"):
                assert "met" in ran(f'python3 -c "{ask}"', Network.AUTO, services=(name,))[1]
        finally:
            Path(shown).unlink(missing_ok=True)


AS_ORDINARY_USER = """
import os, socket, sys, threading
from noface.model.access import Network
from noface.process.sandbox import Box
from noface.process.supervise import Command, Launcher

def answer(listening):
    while True:
        connection, _ = listening.accept()
        with connection:
            connection.sendall(b"another's")

listening = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=answer, args=(listening,), daemon=True).start()
port, folder = listening.getsockname()[1], sys.argv[1]
env, log = (("PATH", os.environ["PATH"]),), f"{folder}/log"
with Launcher() as launcher:
    for network in (None, Network.ON, Network.AUTO):
        for services in ((), (f"localhost:{port}",)):
            box = network and Box(sys.argv[2], (), folder, network=network, services=services)
            ask = f"cat < /dev/tcp/127.0.0.1/{port}"
            argv = ("bash", "-c", ask)
            ended = launcher.run(Command(argv, "/", env, None, log, log, 9.0, None, 1 << 20, box, services=services))
            reached = "another" in open(log).read()
            os.unlink(log)
            print(network, "named" if services else "unnamed", reached, len(ended.met), ended.error)
"""


@boxes
@watches
@pytest.mark.skipif(os.geteuid() != 0, reason="the tests run as an ordinary user: all others of this file show it")
def test_an_ordinary_user_has_all_of_this_as_well():
    user = pwd.getpwnam("nobody").pw_uid
    become = ["setpriv", f"--reuid={user}", "--clear-groups", "/usr/bin/python3", "-c"]
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are closed to others
        Path(folder).chmod(0o777)
        env = {"PATH": "/usr/bin:/bin", "HOME": folder, "PYTHONPATH": str(ROOT)}
        if subprocess.run([*become, "import noface.process.supervise"], cwd="/", env=env, check=False).returncode:
            pytest.skip("the ordinary user can run no Python that knows noface")
        done = subprocess.run(
            [*become, AS_ORDINARY_USER, folder, BUBBLEWRAP.program],
            cwd="/", env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.stderr == ""
    assert [line.split()[1:4] for line in done.stdout.splitlines()] == [
        ["unnamed", "True", "1"],
        ["named", "True", "0"],
        ["unnamed", "True", "1"],
        ["named", "True", "0"],
        ["unnamed", "False", "0"],
        ["named", "True", "0"],
    ]
