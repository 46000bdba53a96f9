"""A fault of noface's own ends what it met, and not the run: it is told with its traceback and charged to nobody.

What it met is tried once more (law 7), then set aside with its issue. The same fault three times in a row stops the
run. A full disk, a lost lock or a damaged database is no fault, and ends the run at once.
"""

import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import noface
from noface.attempt.disk import says_full
from noface.attempt.environment import AttemptEnvironment
from noface.engine.context import RunContext
from noface.errors import (
    OF_THE_MACHINE,
    BaselineRedError,
    DiskFullError,
    GitError,
    LockLostError,
    NofaceError,
    RemoteError,
    StoreError,
    UsageError,
)
from noface.model.quoting import quoted

ROW_MAX = 3
_TRIES_MAX = 2
_ROW_S = 3600.0
"""A fault that comes after this time begins another row: a run may go on for weeks."""
_LOG_BYTES_MAX = 1_000_000
_FRAMES_MAX = 100
_TEXT_MAX = 200
_PLACE_FRAMES = 3
"""So many of noface's own innermost frames are the place of a fault: what many call says little without its caller."""
_FOR_GOOD = (BaselineRedError, DiskFullError, LockLostError, StoreError, UsageError)


GO_ON = "Nothing is lost and nothing was charged: `noface run` goes on where it was. Please report the traceback"
R = TypeVar("R")


class OwnFaultError(NofaceError):
    """noface itself failed the same way again and again; everything is kept."""


class After(StrEnum):
    """What follows of a fault."""

    AGAIN = "it is tried once more"
    ASIDE = "its issue waits for the next run"
    STOP = "the run stops"


def is_fault(error: BaseException) -> bool:
    """True if an error is noface's own; False if it is the machine's, or a person's to mend, or a wish to end."""
    of_machine = isinstance(error, OSError) and error.errno in OF_THE_MACHINE
    return isinstance(error, Exception) and not (of_machine or isinstance(error, _FOR_GOOD) or says_full(str(error)))


def is_unexpected(error: BaseException) -> bool:
    """False for what another machine says, or a person is to mend: whoever called has an answer to that."""
    of_git = isinstance(error, GitError) and not isinstance(error, RemoteError)
    return of_git or not isinstance(error, NofaceError)


def after(row: int, tries: int) -> After:
    if row >= ROW_MAX:
        return After.STOP
    return After.ASIDE if tries >= _TRIES_MAX else After.AGAIN


def place_of(error: BaseException) -> tuple[str, ...]:
    root = f"{Path(noface.__file__).parent}/"
    frames = traceback.extract_tb(error.__traceback__)
    own = [f"{each.filename.removeprefix(root)}:{each.lineno}" for each in frames if each.filename.startswith(root)]
    return tuple(own[: -_PLACE_FRAMES - 1 : -1])


def write_down(env: AttemptEnvironment, error: BaseException, about: str) -> Path:
    """Append an error's traceback to the log of faults, which is bounded, if that can be written; return its path."""
    path = env.plumbing.repository.state_dir / "faults.log"
    lines = "".join(traceback.format_exception(error, limit=-_FRAMES_MAX))
    with suppress(OSError):
        if path.exists() and path.stat().st_size > _LOG_BYTES_MAX:
            path.replace(path.with_suffix(".log.1"))
        with path.open("a", encoding="utf-8", errors="replace") as log:
            log.write(env.masker.text(f"{env.clock.now():.3f} {about}\n{lines}\n"))
    return path


def twice(faults: "Faults", work: str, run: Callable[[], R]) -> R:
    """Do what is done beside no other work; once more if noface itself fails at it, and then raise OwnFaultError."""
    why = ""
    for _ in range(_TRIES_MAX):
        try:
            return run()
        except Exception as error:
            if not (is_fault(error) and is_unexpected(error)):
                raise
            why = faults.met(error, work)[1]
    raise OwnFaultError(why, GO_ON)


class Faults:
    """Counts the faults of a run, tells each, and writes its traceback down. For the loop's thread."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._row: tuple[object, str, int, float] = (None, "", 0, 0.0)
        self._tries = Counter[tuple[str, str]]()
        self._newest: tuple[BaseException, After, str] | None = None

    def met(self, error: BaseException, work: str, issue_id: str = "", kind: str = "") -> tuple[After, str]:
        """Tell of a fault, once; return what follows, and the sentence that says what happened."""
        if self._newest is not None and error is self._newest[0]:
            return self._newest[1:]
        kind, now, place = kind or work, self._context.clock.now(), place_of(error)
        self._tries[kind, issue_id] += 1
        fault, (before, _, row, at) = (type(error), place), self._row
        row = row + 1 if fault == before and now - at < _ROW_S else 1
        self._row = fault, kind, row, now
        follows = after(row, self._tries[kind, issue_id])
        text = quoted(self._context.env.masker.text(str(error)), _TEXT_MAX)
        about = f"{work} (issue {issue_id})" if issue_id else work
        log, where = write_down(self._context.env, error, about), place[0] if place else "unknown"
        what = f"{type(error).__name__} at {where}: {text}"
        self._context.log_event(
            "own_fault", issue_id or None, work=work, what=what, log=str(log), follows=follows.value, row=row
        )
        often = f"{row} times in a row" if follows is After.STOP else "twice"
        why = f"noface itself failed {often}, at {work}: {what}; the traceback is in {log}"
        self._newest = error, follows, why
        return follows, why

    def went_well(self, kind: str, issue_id: str) -> None:
        self._tries.pop((kind, issue_id), None)
        if self._row[1] == kind:
            self._row = None, "", 0, 0.0
