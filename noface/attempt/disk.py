"""A full disk: known by what a command ended with, and measured; it ends the run, and nobody is charged.

Words are not believed at once if there is room: a worker's own temporary files may have been what was full.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from noface.attempt.environment import AttemptEnvironment
from noface.diagnosis.known_causes import FinalError, final_error, final_error_of
from noface.errors import DiskFullError
from noface.model.failure import DISK_FULL, DISK_SEEMS_FULL, Failure
from noface.model.taxonomy import FailureKind

_WHAT_TO_DO = (
    "Make room on the disk. Nothing is lost and nothing was charged: the next `noface run` goes on where this one was."
)
_SAYS_FULL = (os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT), "database or disk is full")
ROOM_BYTES_MIN = 4 << 20
"""With less than this nothing works: a commit, a database, a compiler's temporary file."""


def full_places(env: AttemptEnvironment) -> tuple[str, ...]:
    places = (env.slots_dir, env.plumbing.repository.state_dir, Path(tempfile.gettempdir()))
    return tuple(str(place) for place in places if place.exists() and shutil.disk_usage(place).free < ROOM_BYTES_MIN)


def as_disk_full(failure: Failure, cause: FinalError, places: Iterable[str] = ()) -> Failure:
    where = ", ".join(places)
    message = f"the disk is full{f' ({where})' if where else ''}: {cause.line}"
    return replace(failure, kind=FailureKind.ENVIRONMENT, message=message, rule=DISK_FULL, charged=False)


def worker_without_room(env: AttemptEnvironment, error: Failure) -> Failure | None:
    cause = final_error((error.message, *reversed(error.evidence)))
    if cause is None or not cause.disk_full:
        return None
    failure = as_disk_full(error, cause, places := full_places(env))
    return failure if places else replace(failure, rule=DISK_SEEMS_FULL)


def main_without_room(env: AttemptEnvironment, *failures: Failure | None) -> Failure | None:
    """Return the first failure of main's gates or its setup that is one of a full disk, as such; None if none is."""
    for failure in filter(None, failures):
        if failure.rule == DISK_FULL:
            return failure
        if (cause := final_error_of(failure)) is not None and cause.disk_full:
            return as_disk_full(failure, cause, full_places(env))
    return None


def disk_full_error(failure: Failure) -> DiskFullError:
    return DiskFullError(f"{failure.message[:1].upper()}{failure.message[1:]}.", _WHAT_TO_DO)


def says_full(message: str) -> bool:
    return any(text in message for text in _SAYS_FULL)


def why_ended(error: BaseException) -> str:
    """Say why what broke ended the run, and what to do where the disk is full."""
    message = getattr(error, "message", "") or f"{type(error).__name__}: {error}"
    return (
        f"{message.rstrip('.')}. {_WHAT_TO_DO}" if isinstance(error, DiskFullError) or says_full(message) else message
    )
