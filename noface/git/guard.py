"""Keeps two of noface's git commands out of each other's way, also those of a noface that was killed.

A git process outlives a SIGKILL of noface: it may still be writing files when the next noface starts. Each inherits
a locked file, so the lock ends only with the last of them; whoever comes next waits for that.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from noface.errors import GitError

WAIT_SECONDS_MAX = 600.0
_LOOK_AGAIN_SECONDS = 0.01


@contextmanager
def alone(path: Path, seconds_max: float = WAIT_SECONDS_MAX) -> Iterator[int]:
    """Hold the lock file at `path`; yields its descriptor, for git processes to inherit.

    Raises GitError where another process still has it after `seconds_max` seconds.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        _lock(descriptor, path, time.monotonic() + seconds_max)
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: Path, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise GitError(
                    f"a git command of an earlier noface still runs; it holds {path}.",
                    "See what it waits for (`fuser` tells its process), or end it.",
                ) from None
            time.sleep(_LOOK_AGAIN_SECONDS)
        else:
            return
