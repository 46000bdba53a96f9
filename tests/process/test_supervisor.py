"""ForkServer: no process outlives its command (law 6), whoever is killed."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest
from support.processes import alive, wait_for

from noface.model.worker_run import EndedBy
from noface.process import process_tree
from noface.process.supervise import Canceller, Command, Ladder, Launcher

AWAY = "import os, sys, time\n"
DAEMON = (
    AWAY
    + """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        time.sleep(1000)
    os._exit(0)
while not os.path.getsize("out.log"):
    time.sleep(0.02)
"""
)
RESPAWNER = (
    AWAY
    + """
if os.fork() == 0:
    os.setsid()
    print("up", flush=True)
    while os.fork() == 0:
        time.sleep(0.002)
    os._exit(0)
while not os.path.getsize("out.log"):
    time.sleep(0.02)
"""
)


def is_gone(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.fixture
def launcher():
    with Launcher(Ladder(int_s=0.2, term_s=0.2), namespaces=False) as launcher:
        yield launcher


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.log"


@pytest.fixture
def program(tmp_path, token, out):
    def program(*argv):
        env = (("PATH", os.environ["PATH"]), ("NOFACE_TOKEN", token))
        return Command(argv, str(tmp_path), env, None, str(out), str(tmp_path / "err.log"), 200.0, None, 1 << 20)

    return program


@pytest.fixture
def python(program):
    return lambda script: program(sys.executable, "-c", script)


@pytest.fixture
def shell(program):
    return lambda script: program("bash", "-c", script)


def first_line(path: Path) -> int:
    wait_for(lambda: path.exists() and "\n" in path.read_text())
    return int(path.read_text().split()[0])


def in_background(launcher, command, cancel=None):
    ended = []
    thread = threading.Thread(target=lambda: ended.append(launcher.run(command, cancel)))
    thread.start()
    return thread, ended


def test_double_forked_daemon_dies_with_its_command(launcher, python, out):
    ended = launcher.run(python(DAEMON))
    assert (ended.exit_code, ended.ended_by, ended.survivors_killed) == (0, EndedBy.ITSELF, 1)
    assert is_gone(int(out.read_text()))


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("nohup sleep 1000 2>/dev/null & echo $!", 0),
        ("env -i setsid sleep 1000 & echo $!; exit 4", 4),  # in a session of its own, with nothing to know it by
        ("(trap '' TERM INT HUP; while :; do sleep 0.1; done) & echo $!", 0),  # it holds standard output
    ],
)
def test_what_is_left_in_the_background_dies_with_its_command(launcher, shell, out, script, code):
    ended = launcher.run(shell(script))
    assert ended.exit_code == code
    assert ended.survivors_killed >= 1
    assert is_gone(int(out.read_text()))


def test_daemon_that_forks_on_and_on_is_caught(launcher, python, token):
    ended = launcher.run(python(RESPAWNER))
    assert ended.exit_code == 0
    assert alive(token) == []


def test_whole_tree_of_survivors_is_killed(launcher, shell, token):
    ended = launcher.run(
        shell(
            "(setsid bash -c 'sleep 1000 & setsid sleep 1000 & echo up; wait') & until grep -q up out.log; do sleep 0.02; done"
        )
    )
    assert (ended.exit_code, ended.survivors_killed) == (0, 3)
    assert alive(token) == []


def test_children_that_ended_before_their_command_are_no_survivors(launcher, shell):
    assert launcher.run(shell("(sleep 0.1 &) ; sleep 0 & wait; sleep 0.3")).survivors_killed == 0


def test_zombie_that_a_survivor_has_left_is_no_survivor(launcher, python):
    script = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os._exit(0)
    os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    print("left a zombie", flush=True)
    time.sleep(1000)
while not os.path.getsize("out.log"):
    time.sleep(0.02)
"""
    assert launcher.run(python(script)).survivors_killed == 1


def test_child_that_the_program_killed_itself_is_no_survivor(launcher, shell):
    script = "(setsid sleep 1000 & echo $! > daemon); kill -9 $(cat daemon); sleep 0.2"
    assert launcher.run(shell(script)).survivors_killed == 0


def test_program_that_closes_stdout_and_hangs_is_ended(launcher, shell, tmp_path):
    stop = Canceller()
    thread, ended = in_background(launcher, shell("exec 1>&- 2>&-; touch closed; sleep 1000"), stop)
    wait_for((tmp_path / "closed").exists)
    stop.cancel()
    thread.join()
    assert ended[0].ended_by is EndedBy.CANCELLED


def test_stopped_program_is_ended(launcher, shell, out):
    stop = Canceller()
    thread, ended = in_background(launcher, shell("echo $$; kill -STOP $$"), stop)
    pid = first_line(out)
    wait_for(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    stop.cancel()
    thread.join()
    assert (ended[0].signal, ended[0].ended_by) == (signal.SIGKILL, EndedBy.CANCELLED)


def test_everything_dies_with_a_killed_noface(tmp_path, token):
    script = """
from noface.process.supervise import Command, Launcher
import os, sys
tree = "trap '' TERM INT HUP; setsid sleep 1000 & nohup sleep 1000 & (env -i setsid sleep 1000 &) ; echo up; wait"
with Launcher(namespaces=False) as launcher:
    launcher.warm_up()
    open("fork_server", "w").write(str(launcher.fork_server_pid))
    env = (("NOFACE_TOKEN", sys.argv[1]), ("PATH", os.environ["PATH"]))
    out = os.path.abspath("out.log")
    launcher.run(Command(("bash", "-c", tree), "/", env, None, out, out, 1000.0, None, 1000))
"""
    noface = subprocess.Popen([sys.executable, "-c", script, token], cwd=tmp_path)
    wait_for(lambda: (tmp_path / "out.log").exists() and "up" in (tmp_path / "out.log").read_text())
    fork_server = psutil.Process(int((tmp_path / "fork_server").read_text()))
    wait_for(lambda: len(fork_server.children(recursive=True)) >= 5)
    tree = [fork_server, *fork_server.children(recursive=True)]
    noface.kill()
    noface.wait()
    wait_for(lambda: all(is_gone(process.pid) for process in tree))


def test_killed_supervisor_is_a_lost_command_and_leaves_nothing(launcher, shell, out, token):
    thread, ended = in_background(launcher, shell("env -i setsid sleep 1000 & setsid sleep 1000 & echo $!; wait"))
    supervisor = psutil.Process(psutil.Process(first_line(out)).ppid()).parent()
    strays = supervisor.children(recursive=True)
    supervisor.kill()
    thread.join()
    assert (ended[0].exit_code, ended[0].signal, ended[0].ended_by) == (None, None, EndedBy.LOST)
    assert "was killed" in ended[0].error
    assert alive(token) == []
    wait_for(lambda: all(is_gone(process.pid) for process in strays))
    assert len(strays) == 3


def test_without_supervisor_and_fork_server_the_marker_finds_what_is_left(launcher, shell, out, token):
    thread, ended = in_background(launcher, shell("setsid sleep 1000 & nohup sleep 1000 & echo $$; wait"))
    supervisor = psutil.Process(first_line(out)).parent()
    wait_for(lambda: len(supervisor.children(recursive=True)) == 3)
    os.kill(launcher.fork_server_pid, signal.SIGKILL)
    supervisor.kill()
    thread.join()
    assert (ended[0].ended_by, ended[0].survivors_killed) == (EndedBy.LOST, 3)
    assert alive(token) == []


def test_stopped_supervisor_is_given_up_and_what_it_watched_over_is_killed(shell, out):
    stop = Canceller()
    with Launcher(Ladder(int_s=0.1, term_s=0.1, kill_s=0.2), namespaces=False) as launcher:
        thread, ended = in_background(launcher, shell("env -i setsid sleep 1000 & echo $$; wait"), stop)
        supervisor = psutil.Process(first_line(out)).parent()
        tree = [supervisor, *supervisor.children(recursive=True)]
        supervisor.suspend()
        stop.cancel()
        thread.join()
        assert ended[0].ended_by is EndedBy.LOST
        wait_for(lambda: all(is_gone(process.pid) for process in tree))
    assert len(tree) == 3


def test_commands_go_on_without_the_fork_server_and_the_next_gets_a_new_one(launcher, shell, program, tmp_path, out):
    thread, ended = in_background(
        launcher, shell("echo $$; while [ ! -e go ]; do sleep 0.02; done; nohup sleep 1000 & exit 6")
    )
    first_line(out)
    fork_server = launcher.fork_server_pid
    os.kill(fork_server, signal.SIGKILL)
    assert launcher.run(program("true")).exit_code == 0
    assert launcher.fork_server_pid != fork_server
    (tmp_path / "go").touch()
    thread.join()
    assert (ended[0].exit_code, ended[0].survivors_killed) == (6, 1)


def test_fork_server_and_supervisor_survive_the_signals_of_a_terminal(launcher, shell, tmp_path, out):
    thread, ended = in_background(launcher, shell("echo $$; while [ ! -e go ]; do sleep 0.02; done; exit 6"))
    supervisor = psutil.Process(first_line(out)).parent()
    for pid in (supervisor.pid, launcher.fork_server_pid):
        assert os.getsid(pid) == pid
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            os.kill(pid, number)
    (tmp_path / "go").touch()
    thread.join()
    assert ended[0].exit_code == 6


def test_fork_server_ends_when_its_launcher_closes(shell):
    with Launcher(namespaces=False) as launcher:
        launcher.run(shell("true"))
        fork_server = launcher.fork_server_pid
        assert not is_gone(fork_server)
    assert is_gone(fork_server)
    assert launcher.fork_server_pid is None


def test_lists_and_scan_of_proc_agree_on_the_children():
    children = [subprocess.Popen(["sleep", "1000"]) for _ in range(3)]
    try:
        expected = {child.pid for child in children}
        assert expected <= set(process_tree.children(os.getpid()))
        assert expected <= set(process_tree.children_by_scan(os.getpid()))
        assert set(process_tree.children(os.getpid())) == set(process_tree.children_by_scan(os.getpid()))
    finally:
        for child in children:
            child.kill()
            child.wait()
