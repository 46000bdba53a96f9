"""noface run, and what its gates reach: their own servers, named services, the outside if main needs it."""

import os
import shutil
import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from support.processes import watches_connects

from noface.process.sandbox import CONNECTORS, find_bubblewrap

BUBBLEWRAP = find_bubblewrap(shutil.which("bwrap"))
boxes = pytest.mark.skipif(not BUBBLEWRAP.works, reason=f"no sandbox here: {BUBBLEWRAP.problem}")
watches = pytest.mark.skipif(not watches_connects(), reason="this kernel does not tell of connects")
routed = pytest.mark.skipif(
    "\t00000000\t" not in Path("/proc/net/route").read_text(), reason="this machine has no way to the outside"
)
OUTSIDE = "grep -q '[[:space:]]00000000[[:space:]]' /proc/net/route"
"""A gate that is green only with a way to the outside."""


@pytest.fixture
def another(project):
    """A server of somebody else, who has another state of the project; returns its port."""
    listening = socket.create_server(("127.0.0.1", 0))

    def answer():
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.sendall(b"good\n")

    answering = threading.Thread(target=answer, daemon=True)
    answering.start()
    yield listening.getsockname()[1]
    listening.shutdown(socket.SHUT_RDWR)  # closing alone does not end an accept that waits
    answering.join()
    listening.close()


SERVER = """\
import socket, sys
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    connection, _ = listening.accept()
    with connection:
        connection.sendall(open("state.txt", "rb").read())
"""
E2E = """\
# As tools do that take whatever answers on their port for their own server: Playwright, start-server-and-test, wait-on.
ask() { (exec 3<>/dev/tcp/127.0.0.1/PORT && cat <&3) 2>/dev/null; }
if [ -z "$(ask)" ]; then python3 -S server.py PORT & for _ in $(seq 50); do [ -z "$(ask)" ] || break; sleep 0.1; done; fi
[ "$(ask)" = good ]
"""


def end_to_end(project, port, *, sandbox, settings=""):
    """A project whose gate asks a server at a port for the state, which the worker of issue 1 makes bad."""
    project.config(gate="bash e2e.sh", sandbox=sandbox)
    text = (project.path / "noface.toml").read_text()
    project.write("noface.toml", text.replace("[sandbox]\n", f"[sandbox]\n{settings}\n"))
    project.write("server.py", SERVER)
    project.write("e2e.sh", E2E.replace("PORT", str(port)))
    project.write("state.txt", "good\n")
    project.play(("*", 0, [{"write": "state.txt", "text": "bad\n"}]))
    project.issue(1)
    project.commit()


@boxes
def test_a_gate_judges_its_own_server_and_not_one_that_has_its_port_on_the_machine(project, another):
    end_to_end(project, another, sandbox="bubblewrap")
    assert "attempt 1 ran into an error: gate check" in project.noface("run", "--max-iterations", "1").stdout
    assert project.git("show", "main:state.txt") == "good"


@watches
@pytest.mark.thorough
def test_on_the_machines_network_a_green_by_anothers_server_is_told_and_counts_for_nothing(project, another):
    end_to_end(project, another, sandbox="none")
    shown = " ".join(project.run(code=3).split())
    assert f"it connected to localhost:{another}" in shown
    assert f"pid {os.getpid()}" in shown
    assert f'services = ["localhost:{another}"]' in shown


@boxes
@watches
def test_a_service_that_main_needs_and_nobody_has_named_is_told_before_any_work(project, another):
    project.config(gate=f"(exec 3<>/dev/tcp/localhost/{another})", sandbox="bubblewrap")
    project.issue(1)
    project.commit()
    shown = " ".join(project.run(code=3).split())
    assert f'write [sandbox] services = ["localhost:{another}"]' in shown
    assert project.statuses()["1"] == "ready"


@pytest.mark.thorough
@boxes
@routed
def test_a_gate_of_main_that_needs_the_outside_has_it_and_that_is_remembered(project):
    """By a program for that where the machine has one, else by sharing its network: both are told."""
    project.config(gate=f"{OUTSIDE} && test ! -e bad", sandbox="bubblewrap")
    project.play(("1", 0, [{"write": "b.txt", "text": "b"}]), ("2", 0, [{"write": "c.txt", "text": "c"}]))
    project.issue(1)
    project.commit()
    shown = " ".join(project.run().split())
    connector = next(filter(shutil.which, CONNECTORS), "")
    how = f"check by {connector}" if connector else "check by sharing this machine's network"
    assert f"gates reach the outside: {how}" in shown
    assert project.statuses() == {"1": "merged"}
    project.issue(2)
    project.commit()
    shown = " ".join(project.run().split())
    assert how in shown
    assert len([*project.state.glob("baseline/check.out")]) == 1
    assert project.statuses()["2"] == "merged"


@pytest.mark.thorough
@boxes
@routed
def test_a_command_of_the_issues_own_has_the_outside_where_it_says_that_it_needs_it(project):
    """It is red on main by right, so main cannot tell."""
    ask = f"if {OUTSIDE}; then test -e b.txt; else echo 'curl: (6) Could not resolve host: example.org' >&2; exit 6; fi"
    project.config(sandbox="bubblewrap")
    project.play(("*", 0, [{"write": "b.txt", "text": "b"}]))
    project.issue(1, accept=[ask])
    project.commit()
    project.run()
    assert project.statuses() == {"1": "merged"}
