"""Whose turn it is to run a gate: so many run at once, and one that is to be alone runs while no other does.

First come, first served, of workers, landings and main alike: they share what no sandbox keeps apart.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from noface.process.command import TICK_S, Canceller


@dataclass(slots=True, eq=False)
class Turn:
    """A run of a gate's command: `who` it is, for people, and who ran `beside` it for a time.

    It waits for being `alone` up to `patience_s`, since another gate may run for long. None: it must be alone.
    """

    who: str
    alone: bool
    patience_s: float | None = None
    beside: dict[str, None] = field(default_factory=dict)


class GateTurns:
    """The gates that run now, at most `limit` of them (None: any number), and those that wait."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self._changed = threading.Condition()
        self._running: list[Turn] = []
        self._waiting = deque[Turn]()

    @contextmanager
    def turn(self, mine: Turn, cancel: Canceller, on_wait: Callable[[], None]) -> Iterator[Turn | None]:
        """Wait for a turn, and hold it; None if a cancel ends the wait. `on_wait` is called before a wait."""
        with self._changed:
            self._waiting.append(mine)
            if not self._free(mine):
                on_wait()
            until = time.monotonic() + mine.patience_s if mine.patience_s is not None else None
            while not self._free(mine) and not cancel.cancelled:
                self._changed.wait(TICK_S)
                mine.alone = mine.alone and (until is None or time.monotonic() < until)
            self._waiting.remove(mine)
            granted = not cancel.cancelled
            if granted:
                for other in self._running:
                    other.beside[mine.who] = mine.beside[other.who] = None
                self._running.append(mine)
            self._changed.notify_all()
        try:
            yield mine if granted else None
        finally:
            with self._changed:
                if granted:
                    self._running.remove(mine)
                self._changed.notify_all()

    def _free(self, mine: Turn) -> bool:
        full = self.limit is not None and len(self._running) >= self.limit
        return self._waiting[0] is mine and not full and not any(mine.alone or other.alone for other in self._running)
