"""A command in a PID namespace: nothing that it starts outlives it, and it reaches nothing that watches over it."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import psutil
import pytest
from support import ROOT
from support.processes import alive, wait_for

from noface.model.worker_run import EndedBy
from noface.process.supervise import Canceller, Command, Containment, Ladder, Launcher

UNTIL_KILLED = "sleep 1000"
ORDINARY_USER = 65534


@pytest.fixture
def launcher():
    with Launcher(Ladder(int_s=0.2, term_s=0.2)) as launcher:
        if launcher.containment() is not Containment.NAMESPACE:
            pytest.skip("this system lets nobody make a PID namespace")
        yield launcher


@pytest.fixture
def run(launcher, tmp_path, token):
    """Run a shell script and return how it ended and what it printed."""

    def run(script, cancel=None, **env):
        out = tmp_path / "out.log"
        out.unlink(missing_ok=True)
        given = {"PATH": os.environ["PATH"], "NOFACE_TOKEN": token, **env}
        command = Command(
            ("bash", "-c", script), str(tmp_path), tuple(given.items()), None, str(out), str(out), 200.0, None, 1 << 20
        )
        ended = launcher.run(command, cancel)
        return ended, out.read_text()

    return run


def test_a_program_sees_only_what_it_started(run):
    ended, text = run("ls /proc | grep -c '^[0-9]'; cat /proc/1/comm; echo $PPID")
    assert ended.exit_code == 0
    assert int(text.split()[0]) < 8
    assert text.split()[-1] == "1"


def test_a_daemon_in_a_session_of_its_own_dies_with_its_command(run, token):
    ended, _ = run(f"setsid bash -c '(setsid {UNTIL_KILLED} &) & disown; exit 0' & sleep 0.2; wait $!")
    assert (ended.exit_code, ended.ended_by) == (0, EndedBy.ITSELF)
    assert alive(token) == []


def test_a_program_that_kills_whatever_it_can_leaves_no_daemon_and_is_told_as_it_ended(run, token):
    ended, _ = run(f"setsid {UNTIL_KILLED} & kill -9 -1; exit 7")
    assert (ended.exit_code, ended.signal, ended.ended_by) == (7, None, EndedBy.ITSELF)
    assert alive(token) == []


def test_a_program_cannot_end_what_watches_over_it(run):
    ended, text = run("kill -9 1; kill -9 $PPID; kill -STOP 1; echo still here; exit 3")
    assert (ended.exit_code, ended.ended_by) == (3, EndedBy.ITSELF)
    assert "still here" in text


def test_a_death_by_signal_is_told_exactly(run):
    ended, _ = run("kill -SEGV $$")
    assert (ended.exit_code, ended.signal) == (None, signal.SIGSEGV)


def test_survivors_are_counted(run):
    ended, _ = run(f"setsid {UNTIL_KILLED} & setsid {UNTIL_KILLED} & exit 0")
    assert ended.survivors_killed == 2


def test_the_kill_ladder_reaches_what_is_inside(run, tmp_path):
    cancel = Canceller()
    script = "trap 'echo asked; exit 9' INT; touch ready; while :; do sleep 0.05; done"

    def end():
        wait_for((tmp_path / "ready").exists)
        cancel.cancel()

    threading.Thread(target=end).start()
    ended, text = run(script, cancel)
    assert (ended.exit_code, ended.ended_by) == (9, EndedBy.CANCELLED)
    assert "asked" in text


def test_killing_the_supervisor_ends_everything(launcher, tmp_path, token):
    def kill():
        wait_for((tmp_path / "ready").exists)
        child = psutil.Process(alive(token)[0])
        while child.ppid() != launcher.fork_server_pid:
            child = child.parent()
        child.kill()

    threading.Thread(target=kill).start()
    command = Command(
        ("bash", "-c", f"setsid {UNTIL_KILLED} & touch ready; {UNTIL_KILLED}"),
        str(tmp_path),
        (("PATH", os.environ["PATH"]), ("NOFACE_TOKEN", token)),
        None,
        str(tmp_path / "o"),
        str(tmp_path / "o"),
        200.0,
        None,
        1 << 20,
    )
    ended = launcher.run(command)
    assert ended.ended_by is EndedBy.LOST
    wait_for(lambda: alive(token) == [])


LOOKING_UP = """
import os, pathlib
pid = os.getppid()
while pid != int(os.environ["TESTER"]):
    try:
        print("FOUND" if b"seen-by-nobody" in pathlib.Path(f"/proc/{pid}/environ").read_bytes() else "clean", pid)
        pid = int(pathlib.Path(f"/proc/{pid}/status").read_text().split("PPid:")[1].split()[0])
    except OSError as error:
        print("refused", pid, error)
        break
"""
STARTING_IT = """
import os, sys
from noface.process.supervise import Command, Launcher
env = (("PATH", os.environ["PATH"]), ("TESTER", str(os.getpid())))
with Launcher(namespaces=False) as launcher:
    argv = (sys.executable, "-c", sys.argv[2])
    launcher.run(Command(argv, "/", env, None, sys.argv[1], sys.argv[1], 60.0, None, 1 << 20))
"""


def test_what_noface_has_in_its_environment_is_shown_by_no_ancestor(tmp_path):
    """A program that could look at all processes finds the value in no environment of those that started it."""
    out = tmp_path / "out"
    env = {**os.environ, "PRIVATE_TOKEN": "seen-by-nobody-4711"}
    subprocess.run([sys.executable, "-c", STARTING_IT, str(out), LOOKING_UP], env=env, check=True)
    lines = out.read_text().splitlines()
    assert len(lines) >= 2  # its supervisor and the fork server
    assert all(line.startswith(("clean", "refused")) for line in lines), lines


AS_ORDINARY_USER = """
import os, sys
from noface.process.supervise import Command, Launcher
from noface.process.namespace import hide_memory
hide_memory()
script = (
    "cat /proc/$PPID/environ >/dev/null 2>&1 && echo read; id -u; kill -9 -1 2>/dev/null; setsid sleep 1000 & "
    f"cat /proc/{os.getpid()}/environ 2>&1 | grep -c PRIVATE; exit 5"
)
with Launcher() as launcher:
    print(launcher.containment().name)
    env = (("PATH", os.environ["PATH"]), ("NOFACE_TOKEN", sys.argv[2]))
    ended = launcher.run(Command(("bash", "-c", script), "/", env, None, sys.argv[1], sys.argv[1], 60.0, None, 1 << 20))
    print(ended.exit_code, open(sys.argv[1]).read().split())
"""


def _runs_as_ordinary_user(python):
    """Tell whether an ordinary user can start this Python from a program of theirs, and import what the test needs."""
    nested = f"import subprocess; subprocess.run([{python!r}, '-c', 'import noface.process.supervise'], check=True)"
    done = subprocess.run(
        ["setpriv", f"--reuid={ORDINARY_USER}", "--clear-groups", python, "-c", nested],
        check=False,
        capture_output=True,
        cwd="/",
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
    )
    return done.returncode == 0


def test_an_ordinary_user_gets_a_namespace_as_well_and_shows_no_environment(token):
    if os.geteuid() != 0:
        pytest.skip("the tests run as an ordinary user: all others of this file show it already")
    python = next(filter(_runs_as_ordinary_user, (sys.executable, "/usr/bin/python3")), None)
    if python is None:
        pytest.skip("the ordinary user can run no Python that knows noface")
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are closed to others
        Path(folder).chmod(0o777)
        done = subprocess.run(
            ["setpriv", f"--reuid={ORDINARY_USER}", "--clear-groups", python, "-c", AS_ORDINARY_USER,
             f"{folder}/out", token],
            check=False, capture_output=True, text=True, cwd="/",
            env={"PATH": os.environ["PATH"], "HOME": folder, "PRIVATE": "x", "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    if lines[0] != "NAMESPACE":
        pytest.skip("this system lets ordinary users make no PID namespace")
    assert lines[1] == f"5 ['{ORDINARY_USER}', '0']", (lines, done.stderr)
