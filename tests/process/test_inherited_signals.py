"""What noface makes of the signals that whoever starts it ignores or blocks: a shell's &, nohup, a careless parent."""

import signal
import subprocess
import sys

import pytest
from support.cases import first_ones


def started(project, setting, *args):
    """Start noface by a Python that sets its signals first and then becomes noface."""
    script = (
        f"import os, signal, sys; {setting};os.execv(sys.executable, [sys.executable, '-m', 'noface', *sys.argv[1:]])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, *args],
        cwd=project.path,
        env=project.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    project.started.append(process)
    return process


BLOCKING = "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())"


def ignoring(*numbers):
    return "; ".join(f"signal.signal({int(number)}, signal.SIG_IGN)" for number in numbers)


@pytest.fixture
def at_work(project):
    """Start a run that ignores and blocks as told, and wait until its worker waits for the file `go`."""
    go = project.folder / "go"
    project.play(
        ("*", 0, [{"shell": f"echo half > half.txt; while [ ! -e {go} ]; do sleep 0.02; done; echo b > b.txt"}])
    )
    project.issue(1)
    project.commit()

    def start(setting):
        running = started(project, setting, "run")
        project.in_slots("half.txt")
        return running

    start.go = go
    return start


@pytest.mark.thorough
def test_a_run_under_nohup_goes_on_when_the_terminal_hangs_up(project, at_work):
    running = at_work(ignoring(signal.SIGHUP))
    running.send_signal(signal.SIGHUP)
    at_work.go.touch()
    said, _ = running.communicate(timeout=120)
    assert running.returncode == 0, said
    assert project.statuses() == {"1": "merged"}


@pytest.mark.thorough
@pytest.mark.parametrize("number", first_ones([signal.SIGTERM, signal.SIGHUP]))
def test_hanging_up_and_sigterm_are_a_first_ctrl_c_also_where_the_parent_blocks_them(project, at_work, number):
    running = at_work(BLOCKING)
    running.send_signal(number)
    said, _ = running.communicate(timeout=120)
    assert running.returncode == 130, said
    (attempt,) = project.attempts("1")
    assert (attempt["outcome"], attempt["charged"]) == ("INTERRUPTED", False)
    assert project.git("show", "refs/noface/issues/1/1:half.txt") == "half"


def test_a_run_of_a_script_s_background_or_with_all_signals_blocked_can_be_ended_by_sigint(project, at_work):
    running = at_work(f"{ignoring(signal.SIGINT, signal.SIGQUIT)}; {BLOCKING}")
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=120)
    assert running.returncode == 130, said
    assert project.processes() == []
