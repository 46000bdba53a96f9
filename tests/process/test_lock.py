"""RepositoryLock: one noface per repository (law 5), with real processes."""

import fcntl
import os
import signal
import subprocess
import sys

import pytest

from noface.errors import EXIT_USAGE, LockedError, UsageError
from noface.process.lock import RepositoryLock

HOLD = """
import sys, time
from pathlib import Path
from noface.process.lock import RepositoryLock
with RepositoryLock(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "noface" / "lock"


@pytest.fixture
def holder(path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "locked\n"
        yield process


def test_second_noface_is_told_who_the_first_is_and_what_to_do(holder, path):
    with pytest.raises(LockedError) as caught:
        RepositoryLock(path).acquire()
    assert f"pid {holder.pid} on {os.uname().nodename}, since 20" in caught.value.message
    assert f"kill -INT {holder.pid}" in caught.value.hint
    assert caught.value.exit_code == EXIT_USAGE


def test_killed_holder_frees_the_lock(holder, path):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with RepositoryLock(path):
        pass


def test_holder_that_ends_frees_the_lock(holder, path):
    holder.communicate()
    with RepositoryLock(path):
        pass


def test_lock_is_held_within_one_process_too(path):
    with RepositoryLock(path), pytest.raises(LockedError, match=f"pid {os.getpid()}"):
        RepositoryLock(path).acquire()
    with RepositoryLock(path):
        pass


def test_releasing_twice_is_harmless_and_the_file_stays(path):
    lock = RepositoryLock(path)
    lock.acquire()
    lock.release()
    lock.release()
    assert path.exists()


def test_child_of_the_holder_does_not_keep_the_lock(path):
    with RepositoryLock(path):
        child = subprocess.Popen(["sleep", "1000"], close_fds=False)
    try:
        with RepositoryLock(path):
            assert child.poll() is None
    finally:
        child.kill()
        child.wait()


def test_lock_kept_by_someone_else_than_its_writer_is_explained(path):
    path.parent.mkdir()
    gone = subprocess.Popen(["true"])
    gone.wait()
    path.write_text(f'{{"pid": {gone.pid}, "started": 0, "host": "{os.uname().nodename}"}}')
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(LockedError, match="that process is gone, but another one has its lock") as caught:
            RepositoryLock(path).acquire()
    assert f"fuser -v {path}" in caught.value.hint


@pytest.mark.parametrize("content", ["", "not json", "[]", '{"pid": "x"}', '{"pid": 1}'])
def test_unreadable_lock_file_still_gives_a_useful_message(path, content):
    path.parent.mkdir()
    path.write_text(content)
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(LockedError, match=r"another noface works on this repository$"):
            RepositoryLock(path).acquire()


def test_lock_that_cannot_be_made_is_a_usage_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot open the lock"):
        RepositoryLock(tmp_path / "file" / "lock").acquire()
