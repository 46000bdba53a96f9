"""Locks of the operating system's, which die with their holder; and the one of them by which one noface works (law 5).

A person, or what cleans folders up, can remove a locked file or put another in its place: then whoever comes next locks
that one. So a lock counts only while its path leads to what was locked.
"""

import contextlib
import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from noface.errors import LockedError, LockLostError, UsageError
from noface.process.files import read_regular

HOLDER_BYTES_MAX = 4096
HOLDER_PATIENCE_S = 0.5
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds the lock by its own account. `started` is its start in epoch seconds."""

    pid: int
    started: float
    host: str

    def is_here(self) -> bool:
        return self.host == socket.gethostname() and runs(self.pid)


class FileLock:
    """A lock on the file at `path`, made with `mode` if it is missing, or on the folder there; no child keeps it."""

    def __init__(self, path: Path, mode: int = 0o600, *, folder: bool = False) -> None:
        self._path = path
        self._flags = os.O_CLOEXEC | (os.O_RDONLY | os.O_DIRECTORY if folder else os.O_RDWR | os.O_CREAT)
        # A link in the file's place would have noface make, and lock, a file of somebody else's choosing.
        self._flags |= 0 if folder else os.O_NOFOLLOW
        self._mode = mode
        self.descriptor = -1

    def take(self, *, wait: bool = False) -> bool:
        """Take the lock; False if another has it, for whom it may `wait`. Raises OSError if there can be none."""
        while True:
            descriptor = os.open(self._path, self._flags, self._mode)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                os.close(descriptor)
                return False
            except BaseException:
                os.close(descriptor)
                raise
            self.descriptor = descriptor
            if self.is_held():
                return True
            self.release()  # it was removed between the two: what is there now is another's to take as well

    def is_held(self) -> bool:
        try:
            return self.descriptor >= 0 and os.path.samestat(os.fstat(self.descriptor), self._path.stat())
        except OSError:
            return False

    def release(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


class RepositoryLock:
    """Held from `acquire` to `release`, or for a `with` block.

    Git's folder of refs is locked as well, as far as the file system can: whoever removes the file lets nobody in.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = FileLock(path, 0o644)
        self._refs = FileLock(path.parent.parent / "refs", folder=True)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def acquire(self) -> None:
        """Take the lock without waiting. Raise LockedError if another has it, UsageError if it cannot be made."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            taken = self._file.take()
        except OSError as problem:
            raise UsageError(
                f"cannot open the lock {self._path}: {problem.strerror}",
                "noface must be able to write to the repository's git folder, on a file system that has locks",
            ) from problem
        if not taken:
            raise _locked(self._path)
        with contextlib.suppress(OSError):  # a network's file system may lock no folder, a test have none
            if not self._refs.take():
                self._file.release()
                raise LockedError(
                    f"another noface works on this repository, though its lock {self._path} was removed",
                    f"it stops when it notices; `fuser -v {self._path.parent.parent}/refs` shows which process it is",
                )
        holder = {"pid": os.getpid(), "started": time.time(), "host": socket.gethostname()}
        # Only for the other's message: a full disk must not keep noface from what it does about full disks.
        with contextlib.suppress(OSError):
            os.ftruncate(self._file.descriptor, 0)
            os.pwrite(self._file.descriptor, json.dumps(holder).encode(), 0)

    def check(self) -> None:
        """Raise LockLostError if this is no longer what keeps others out."""
        if not self._file.is_held() or (self._refs.descriptor >= 0 and not self._refs.is_held()):
            raise LockLostError(
                f"the lock {self._path} was removed or replaced while noface was at work: another noface could work on"
                " this repository as well. This one has stopped, and lands nothing more",
                "Was the git folder cleaned, moved, or put back from a backup? Run again: what is not recorded is done"
                " anew.",
            )

    def release(self) -> None:
        # Emptied, so that nobody is told of a holder that has let go; not removed: another may be about to lock it.
        if self._file.descriptor >= 0:
            os.ftruncate(self._file.descriptor, 0)
        self._refs.release()
        self._file.release()


def holder_of(path: Path) -> str:
    """Name the process that holds the lock at `path`, "" if none does. It never keeps another from taking it."""
    holder = _parse_holder(path)
    if holder is None or not holder.is_here():
        return ""
    try:
        with path.open("rb") as file:
            # Shared, so that of two that look at once neither takes the other for the holder.
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return f"noface with pid {holder.pid}"
    except OSError:
        pass
    return ""


def _locked(path: Path) -> LockedError:
    deadline = time.monotonic() + HOLDER_PATIENCE_S
    while ((holder := _parse_holder(path)) is None or not holder.is_here()) and time.monotonic() < deadline:
        time.sleep(0.02)  # one that took it just now has yet to write itself down
    if holder is None or (holder.host == socket.gethostname() and not runs(holder.pid)):
        return LockedError(
            "another noface works on this repository",
            f"wait for it to end; `fuser -v {path}` shows which process it is",
        )
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(holder.started))
    return LockedError(
        f"another noface works on this repository: noface with pid {holder.pid} on {holder.host}, since {since}",
        f"wait for it to end, or end it with `kill -INT {holder.pid}`; it keeps what it has done",
    )


def _parse_holder(path: Path) -> Holder | None:
    try:
        document = json.loads(read_regular(path, HOLDER_BYTES_MAX) or b"")
        return Holder(int(document["pid"]), float(document["started"]), str(document["host"]))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def runs(pid: int) -> bool:
    """True if a process with this pid runs here (a reused pid cannot be told apart)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def boot_id() -> str:
    """Return what names this start of the machine, "" if the system does not tell."""
    try:
        if sys.platform == "darwin":
            argv = ["/usr/sbin/sysctl", "-n", "kern.boottime"]
            return subprocess.run(argv, capture_output=True, text=True, timeout=10, check=False).stdout.strip()
        return _BOOT_ID.read_text().strip()
    except (OSError, subprocess.SubprocessError):
        return ""
