"""What the tests rest on: whatever shell starts them, their children find ordinary surroundings."""

import os
import signal
import subprocess
import sys

import pytest
from support import TESTS

IGNORED = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT, signal.SIGCHLD, signal.SIGUSR1)


def started_oddly(program):
    """What a program prints that a process with odd surroundings has started once it has imported the tests' conftest."""
    script = f"""
import os, signal, subprocess, sys
for number in {[int(number) for number in IGNORED]}:
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGUSR2])
os.umask(0o077)
sys.path.insert(0, {str(TESTS)!r})
import conftest
print(subprocess.run({program!r}, stdout=subprocess.PIPE, text=True).stdout, end="")
os.kill(os.getpid(), signal.SIGINT)
"""
    odd = {
        "NO_COLOR": "1",
        "COLUMNS": "20",
        "CI": "true",
        "GIT_DIR": "/nowhere",
        "NOFACE_ROLE": "judge",
        "PYTHONUNBUFFERED": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, **odd}, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.split("\n")


def test_a_child_ignores_and_blocks_no_signal_that_the_shell_of_the_tests_ignores_or_blocks():
    blocked, ignored, *_ = started_oddly(["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"])
    assert int(blocked.split()[1], 16) == 0
    # 32 and 33 are the C library's own, which no program can set.
    assert int(ignored.split()[1], 16) & ~(0b11 << 31) == 0


def test_a_child_dies_of_sigint_while_the_tests_themselves_go_on_ignoring_it():
    interrupted = "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(60)"
    told = (
        f"import subprocess, sys; print(subprocess.run([sys.executable, '-c', {interrupted!r}], stderr=-3).returncode)"
    )
    assert started_oddly([sys.executable, "-c", told])[0] == str(-signal.SIGINT)


def test_a_child_gets_neither_the_umask_nor_the_variables_that_change_what_programs_print():
    umask, *names = started_oddly(["sh", "-c", "umask; env | cut -d= -f1"])
    assert umask == "0022"
    assert "PATH" in names
    assert not {"NO_COLOR", "COLUMNS", "CI", "GIT_DIR", "NOFACE_ROLE", "PYTHONUNBUFFERED"} & set(names)


# noface forked from a process that has imported it


@pytest.mark.parametrize("args", [("status", "--json"), ("show", "1"), ("run", "--dry-run"), ("run", "--no-such-flag")])
def test_a_forked_noface_says_and_returns_what_a_started_one_does(project, args):
    project.issue(1)
    started = project.cold(*args)
    forked = project.warm.run([*args], str(project.path), project.environment(), timeout=60)
    assert (forked.returncode, forked.stdout, forked.stderr) == (started.returncode, started.stdout, started.stderr)


def test_a_forked_noface_has_the_folder_the_variables_and_the_death_of_its_own(project):
    project.issue(1)
    project.commit()
    env = project.environment(NOFACE_FAILPOINT="attempt_recorded")
    assert project.warm.run(["run"], str(project.path), env, timeout=60).returncode == -signal.SIGKILL
    project.run()
    assert project.statuses() == {"1": "merged"}
    outside = project.warm.run(["status"], str(project.folder), project.environment(), timeout=60)
    assert outside.returncode == 2


def test_a_project_whose_processes_end_by_themselves_meanwhile_can_be_ended(project):
    mark = {"NOFACE_STATE": str(project.state)}
    child = subprocess.Popen(["sleep", "1000"], env={**os.environ, **mark})

    class GoneOnceListed(type(project)):
        def processes(self):
            pids = super().processes()
            child.kill()
            child.wait()
            return pids

    GoneOnceListed(project.path, project.folder).end()
    assert child.returncode == -signal.SIGKILL
