"""RepositoryLock: one noface per repository (law 5), with real processes."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from noface.errors import EXIT_USAGE, LockedError, LockLostError, UsageError
from noface.process.lock import FileLock, RepositoryLock

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
        with pytest.raises(LockedError, match="another noface works on this repository") as caught:
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


@pytest.fixture
def in_git(tmp_path):
    """A lock as it lies in a git folder, with git's refs beside it."""
    (tmp_path / "refs").mkdir()
    return tmp_path / "noface" / "lock"


def test_a_lock_file_that_is_removed_lets_nobody_in_and_its_holder_knows(in_git):
    with RepositoryLock(in_git) as lock:
        lock.check()
        in_git.unlink()
        with pytest.raises(LockLostError, match="was removed or replaced"):
            lock.check()
        with pytest.raises(LockedError, match=r"though its lock .* was removed"):
            RepositoryLock(in_git).acquire()
    with RepositoryLock(in_git) as lock:
        lock.check()


@pytest.mark.parametrize("name", ["noface", "refs"])
def test_a_folder_that_is_put_in_the_place_of_the_locked_one_is_noticed(in_git, name):
    with RepositoryLock(in_git) as lock:
        place = in_git.parent.parent / name
        place.rename(place.with_name("old"))
        place.mkdir()
        with pytest.raises(LockLostError):
            lock.check()


def test_who_waited_for_a_file_that_was_removed_meanwhile_locks_the_new_one(tmp_path):
    path = tmp_path / "guard"
    first, second, third = (FileLock(path) for _ in range(3))
    assert first.take()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(second.take, wait=True)
        time.sleep(0.2)
        path.unlink()
        first.release()
        assert waiting.result(timeout=10)
    assert second.is_held()
    assert not third.take()
