"""Launcher: how commands are started, limited, cancelled and reported."""

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from noface.model.worker_run import EndedBy
from noface.process.lock import RepositoryLock
from noface.process.supervise import COMMAND_MARKER, Canceller, Command, Ladder, Launcher

QUICK = Ladder(int_s=0.2, term_s=0.2)


def alive(token, name=None):
    pids = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("NOFACE_TOKEN") == token and name in (None, process.name()):
                pids.append(process.pid)
        except (psutil.Error, OSError):
            continue
    return pids


@pytest.fixture(scope="module")
def launcher():
    with Launcher(QUICK, namespaces=False) as launcher:
        yield launcher


@pytest.fixture
def token():
    token = uuid.uuid4().hex
    yield token
    assert alive(token) == []


@pytest.fixture
def program(tmp_path, token):
    def program(*argv, **changes):
        command = Command(
            argv=argv,
            cwd=str(tmp_path),
            env=(("PATH", os.environ["PATH"]), ("NOFACE_TOKEN", token)),
            stdin=None,
            stdout=str(tmp_path / "out.log"),
            stderr=str(tmp_path / "err.log"),
            timeout_s=100.0,
            idle_timeout_s=None,
            log_max_bytes=1 << 20,
        )
        return replace(command, **changes)

    return program


@pytest.fixture
def shell(program):
    return lambda script, **changes: program("bash", "-c", script, **changes)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.log"


def when_said(log: Path, text: str, then):
    def look():
        if log.exists() and text in log.read_text():
            then()

    return look


def test_exit_code_and_output_are_reported(launcher, shell, tmp_path, out):
    ended = launcher.run(shell("echo hello; echo oh >&2; exit 7"))
    assert (ended.exit_code, ended.signal, ended.ended_by) == (7, None, EndedBy.ITSELF)
    assert (ended.error, ended.survivors_killed, ended.output_limit) == ("", 0, False)
    assert out.read_text() == "hello\n"
    assert (tmp_path / "err.log").read_text() == "oh\n"


def test_a_quiet_program_is_asked_about_with_what_it_has_running(launcher, shell):
    seen = {}

    def on_quiet(running):
        seen.update((each.command, each.apart) for each in running or () if each.command.startswith("sleep"))
        return EndedBy.IDLE if len(seen) > 1 else True

    script = "setsid sleep 61 & sleep 62 & wait"
    ended = launcher.run(shell(script, idle_timeout_s=0.1), on_output=lambda: None, on_quiet=on_quiet)
    assert ended.ended_by is EndedBy.IDLE
    assert seen == {"sleep 61": True, "sleep 62": False}


def test_a_quiet_program_that_does_not_work_either_is_ended(launcher, shell):
    ended = launcher.run(shell("sleep 61", idle_timeout_s=0.1), on_output=lambda: None, on_quiet=lambda _: False)
    assert ended.ended_by is EndedBy.IDLE


def test_both_streams_may_go_to_one_log_which_is_appended_to(launcher, shell, out):
    out.write_text("before\n")
    launcher.run(shell("echo one; echo two >&2; echo three", stderr=str(out)))
    assert out.read_text() == "before\none\ntwo\nthree\n"


def test_stdin_is_empty_where_none_is_given(launcher, program, out):
    assert launcher.run(program("cat")).exit_code == 0
    assert out.read_text() == ""


def test_stdin_is_the_file_that_is_given(launcher, program, tmp_path, out):
    (tmp_path / "prompt.md").write_text("do this" * 50_000)
    launcher.run(program("cat", stdin=str(tmp_path / "prompt.md")))
    assert out.read_text() == "do this" * 50_000


def test_environment_is_exactly_what_is_given_and_the_marker(launcher, program, token, out):
    command = program("/usr/bin/env", env=(("PATH", "/bin"), ("NOFACE_TOKEN", token), ("A", "ü = \udcff")))
    assert launcher.run(command).exit_code == 0
    lines = out.read_bytes().decode(errors="surrogateescape").splitlines()
    assert lines[:3] == ["PATH=/bin", f"NOFACE_TOKEN={token}", "A=ü = \udcff"]
    assert [line.split("=")[0] for line in lines[3:]] == [COMMAND_MARKER]


def test_program_inherits_no_descriptor_no_blocked_and_no_ignored_signal(tmp_path, token):
    script = f"""
import signal
from noface.process.lock import RepositoryLock
from noface.process.supervise import Command, Launcher
from pathlib import Path
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
inspect = "grep -E 'Sig(Blk|Ign)' /proc/self/status; exec ls /proc/self/fd"
with RepositoryLock(Path({str(tmp_path / "lock")!r})), Launcher(namespaces=False) as launcher:
    launcher.run(Command(("bash", "-c", inspect), "/", (("NOFACE_TOKEN", {token!r}),), None,
        {str(tmp_path / "out.log")!r}, "/dev/null", 60.0, None, 1000))
"""
    subprocess.run([sys.executable, "-c", script], check=True)
    _, blocked, _, ignored, *descriptors = (tmp_path / "out.log").read_text().split()
    assert int(blocked, 16) == 0
    # 32 and 33 are the C library's own: no program can set them, so what the test's own parent did to them stays.
    assert int(ignored, 16) & ~(0b11 << 31) == 0
    assert descriptors == ["0", "1", "2", "3"]  # 3 is ls reading the list


def test_fork_server_and_supervisor_hold_no_descriptor_of_noface(launcher, shell, tmp_path, out):
    held = []

    def look():
        pid = int(out.read_text())
        for process in (launcher.fork_server_pid, psutil.Process(pid).ppid()):
            links = {str(link.readlink()) for link in Path(f"/proc/{process}/fd").iterdir()}
            held.append({link for link in links if not link.startswith(("pipe:", "socket:"))})
        stop.cancel()

    stop = Canceller()
    with RepositoryLock(tmp_path / "lock"):
        launcher.run(shell("echo $$; sleep 100"), stop, when_said(out, "\n", look))
    ours = {os.fspath(tmp_path / "out.log"), os.fspath(tmp_path / "err.log"), "/dev/null"}
    assert held == [{"/dev/null"}, ours]


def test_missing_program_is_named(launcher, program):
    ended = launcher.run(program("no-such-agent", "-p"))
    assert (ended.exit_code, ended.signal, ended.ended_by) == (None, None, EndedBy.ITSELF)
    assert ended.error.startswith("program not found: no-such-agent (not in any folder of PATH=/")


def test_missing_interpreter_is_told_from_a_missing_program(launcher, program, tmp_path):
    (tmp_path / "agent").write_text("#!/no/such/python\n")
    (tmp_path / "agent").chmod(0o755)
    error = launcher.run(program(str(tmp_path / "agent"))).error
    assert error.startswith(f"cannot run {tmp_path}/agent: the interpreter named in its first line")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"cwd": "/no/such"}, "cannot enter the working directory /no/such: No such file or directory"),
        ({"cwd": "/dev/null"}, "cannot enter the working directory /dev/null: Not a directory"),
        ({"stdin": "/no/prompt"}, "cannot open /no/prompt as stdin: No such file or directory"),
        ({"stdout": "/no/log"}, "cannot open /no/log as stdout: No such file or directory"),
        ({"stderr": "/"}, "cannot open / as stderr: Is a directory"),
    ],
)
def test_what_cannot_be_opened_is_named(launcher, program, changes, error):
    assert launcher.run(program("true", **changes)).error == error


def test_fifo_as_a_log_or_as_stdin_is_not_waited_on(launcher, program, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    fifo = str(tmp_path / "fifo")
    assert launcher.run(program("true", stdout=fifo)).error.startswith(f"cannot open {fifo} as stdout")
    assert launcher.run(program("cat", stdin=fifo)).exit_code == 0


def test_too_long_argument_is_explained(launcher, program):
    error = launcher.run(program("echo", "x" * 300_000)).error
    assert "are too long (E2BIG)" in error


def test_timeout_ends_the_command_and_says_so(launcher, program):
    ended = launcher.run(program("sleep", "1000", timeout_s=0.3))
    assert (ended.exit_code, ended.signal, ended.ended_by) == (None, signal.SIGINT, EndedBy.TIMEOUT)


def test_program_that_ignores_int_and_term_is_killed(launcher, shell, out):
    stop = Canceller()
    script = "trap '' INT TERM; echo ready; while :; do sleep 0.05; done"
    ended = launcher.run(shell(script), stop, when_said(out, "ready", stop.cancel))
    assert (ended.signal, ended.ended_by) == (signal.SIGKILL, EndedBy.CANCELLED)


def test_ladder_sends_int_then_term_and_takes_the_answer(shell, out):
    stop = Canceller()
    script = "trap 'echo got INT' INT; trap 'echo got TERM; exit 5' TERM; echo ready; while :; do sleep 0.02; done"
    with Launcher(Ladder(int_s=0.3, term_s=100.0)) as patient:
        ended = patient.run(shell(script), stop, when_said(out, "ready", stop.cancel))
    assert out.read_text() == "ready\ngot INT\ngot TERM\n"
    assert (ended.exit_code, ended.ended_by) == (5, EndedBy.CANCELLED)


def test_ladder_reaches_tools_in_sessions_of_their_own(shell, out):
    stop = Canceller()
    tool = "trap 'echo tool got TERM; exit' TERM; echo ready; while :; do sleep 0.02; done"
    wait = "while ! grep -q 'tool got' out.log; do sleep 0.02; done; echo agent saw it"
    script = f'trap : TERM; setsid bash -c "{tool}" & {wait}'
    with Launcher(Ladder(int_s=0.0, term_s=100.0), namespaces=False) as patient:
        ended = patient.run(shell(script), stop, when_said(out, "ready", stop.cancel))
    assert out.read_text() == "ready\ntool got TERM\nagent saw it\n"
    assert ended.exit_code == 0


def test_urgent_cancel_skips_a_patient_ladder(shell, out):
    stop = Canceller()
    script = "trap 'echo got INT' INT; echo ready; while :; do sleep 0.02; done"
    first = when_said(out, "ready", stop.cancel)
    second = when_said(out, "got INT", lambda: stop.cancel(urgent=True))

    def press_again():
        while not out.exists() or "got INT" not in out.read_text():
            time.sleep(0.02)
        second()

    impatient = threading.Thread(target=press_again)
    impatient.start()
    with Launcher(Ladder(int_s=1000.0, term_s=1000.0), namespaces=False) as patient:
        ended = patient.run(shell(script), stop, first)
    impatient.join()
    assert (ended.signal, ended.ended_by) == (signal.SIGKILL, EndedBy.CANCELLED)


def test_cancelling_before_the_start_starts_nothing(launcher, shell, out):
    stop = Canceller()
    stop.cancel()
    ended = launcher.run(shell("echo started"), stop)
    assert ended.ended_by is EndedBy.CANCELLED
    assert not out.exists()


def test_one_canceller_ends_many_commands(launcher, program):
    stop = Canceller()
    with ThreadPoolExecutor(8) as pool:
        runs = [pool.submit(launcher.run, program("sleep", "1000"), stop) for _ in range(8)]
        stop.cancel()
        assert {run.result().ended_by for run in runs} == {EndedBy.CANCELLED}


def test_adapter_decides_what_a_sign_of_life_is(launcher, shell):
    silent = launcher.run(shell("sleep 0.6", idle_timeout_s=0.3), on_output=time.monotonic)
    assert silent.ended_by is EndedBy.ITSELF
    chatty = launcher.run(shell("while :; do echo; sleep 0.05; done", idle_timeout_s=0.4), on_output=lambda: None)
    assert chatty.ended_by is EndedBy.IDLE


def test_error_in_the_adapter_kills_the_command_first(launcher, program, token):
    slow = []

    def broken():
        started = alive(token)
        if not started:  # the supervisor has yet to become the program
            return
        supervisor = psutil.Process(started[0]).parent()
        supervisor.suspend()
        slow.append(threading.Timer(0.5, supervisor.resume))
        slow[0].start()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        launcher.run(program("sleep", "1000"), on_output=broken)
    assert alive(token) == []
    slow[0].join()


def test_program_that_writes_for_ever_is_killed(launcher, program, out):
    ended = launcher.run(program("yes", log_max_bytes=1 << 20))
    assert (ended.exit_code, ended.signal, ended.output_limit) == (None, signal.SIGKILL, True)
    assert out.stat().st_size == 1 << 20


def test_limit_holds_for_a_log_that_the_program_deleted(launcher, shell):
    ended = launcher.run(shell("rm out.log; yes", log_max_bytes=1 << 20))
    assert (ended.signal, ended.output_limit) == (signal.SIGKILL, True)


def test_too_much_output_is_reported_also_where_the_program_ended_first(launcher, shell):
    ended = launcher.run(shell("printf %600s; printf %600s >&2", log_max_bytes=1000))
    assert (ended.output_limit, ended.exit_code in (0, None)) == (True, True)  # the kernel chooses which comes first


def test_what_cannot_be_written_holds_nobody_up_and_is_told(launcher, program):
    ended = launcher.run(program("seq", "100000", stdout="/dev/full"))
    assert (ended.exit_code, ended.ended_by) == (0, EndedBy.ITSELF)
    assert ended.error == "what it printed could not be written to /dev/full: No space left on device"


def test_32_at_once_get_each_their_own_exit_code(launcher, shell):
    with ThreadPoolExecutor(32) as pool:
        ended = list(pool.map(lambda code: launcher.run(shell(f"sleep 0.2; exit {code}")), range(1, 33)))
    assert [each.exit_code for each in ended] == list(range(1, 33))


def test_closing_the_launcher_ends_what_runs_at_once_and_refuses_more(program, shell, token):
    launcher = Launcher(Ladder(int_s=1000.0), namespaces=False)
    with ThreadPoolExecutor(4) as pool:
        deaf = shell("trap '' INT; exec sleep 1000")
        runs = [pool.submit(launcher.run, deaf) for _ in range(4)]
        while len(alive(token, "sleep")) < 4:
            time.sleep(0.02)
        launcher.close()
        assert alive(token) == []
        assert {run.result().ended_by for run in runs} == {EndedBy.CANCELLED}
    assert launcher.run(program("true")).ended_by is EndedBy.CANCELLED
    launcher.close()
