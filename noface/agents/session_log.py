"""Follows the files in which a program keeps what a session used, while they grow.

A program's stream may tell the tokens only at its end, so a run that is cut off gives none. The worker could write
there as well: only ordinary files are read, in bounded parts, and trusted with nothing but the worker's own bill.
"""

import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from noface.agents.base import Lines
from noface.model.worker_run import Usage
from noface.process.files import open_regular

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_LOOK_EVERY_S = 1.0
_CHUNK_BYTES = 1 << 20
_AT_A_TIME_BYTES = 64 << 20


class SessionLog(ABC):
    """What one session has used, as far as its files say; they are looked at once a second at most."""

    def __init__(self) -> None:
        self._look_from = 0.0
        self._used = Usage()

    def used(self, session: str | None, *, at_once: bool = False) -> Usage:
        """Return what the session has used, nothing if the files do not say. `at_once`: as of this moment."""
        if session is None or not UUID.fullmatch(session):
            return self._used
        now = time.monotonic()
        if at_once or now >= self._look_from:
            self._look_from = now + _LOOK_EVERY_S
            with suppress(OSError):  # they are the program's: it may move them, or keep none
                self._used = self.look(session) or self._used
        return self._used

    @abstractmethod
    def look(self, session: str) -> Usage | None:
        """Return what the session's files say just now, None if they say nothing new. Raises OSError."""


class GrowingFile:
    """A file that a program adds lines to, and may put another in the place of."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = (0, 0)
        self._offset = 0
        self._lines = Lines()

    def new_lines(self) -> Iterator[str]:
        """Yield the whole lines that are new, all of them if it is another file than before. Raise OSError."""
        descriptor = open_regular(self._path)
        if descriptor is None:
            return
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            # A file that is shorter than what was read was written anew.
            if (status.st_dev, status.st_ino) != self._file or status.st_size < self._offset:
                self._file, self._offset, self._lines = (status.st_dev, status.st_ino), 0, Lines()
            file.seek(self._offset)
            left = _AT_A_TIME_BYTES
            while left > 0 and (data := file.read(min(_CHUNK_BYTES, left))):
                left -= len(data)
                self._offset += len(data)
                yield from self._lines.feed(data)


def less(whole: Usage, before: Usage) -> Usage:
    """Return what was used since `before`."""

    def since(now: int | None, then: int | None) -> int | None:
        return None if now is None else max(now - (then or 0), 0)

    return replace(
        whole,
        tokens_in=since(whole.tokens_in, before.tokens_in),
        tokens_out=since(whole.tokens_out, before.tokens_out),
        tokens_cached=since(whole.tokens_cached, before.tokens_cached),
    )
