"""Time as something that is passed in, so that tests need not wait for it."""

import threading
import time
from typing import Protocol


class Clock(Protocol):
    """Where noface's decisions get their time from, and how its waits pass."""

    def now(self) -> float:
        """Return the wall clock in epoch seconds; it may jump."""
        ...

    def monotonic(self) -> float:
        """Return seconds that only ever grow, from an arbitrary start; for durations."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let that many seconds pass; none where it is negative."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> float:
        """Return the wall clock in epoch seconds."""
        return time.time()

    def monotonic(self) -> float:
        """Return the machine's monotonic seconds."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Block this thread for that long."""
        time.sleep(max(0.0, seconds))


class ManualClock:
    """A clock that stands still but for `sleep` and `advance`, which move it at once; thread-safe."""

    def __init__(self, now: float = 1_000_000_000.0) -> None:
        self._lock = threading.Lock()
        self._now = now
        self._monotonic = 0.0

    def now(self) -> float:
        """Return the epoch seconds it was set to, plus all that has passed."""
        return self._now

    def monotonic(self) -> float:
        """Return the seconds that have passed since it was made."""
        return self._monotonic

    def sleep(self, seconds: float) -> None:
        """Move the clock on and return at once."""
        self.advance(max(0.0, seconds))

    def advance(self, seconds: float) -> None:
        """Let time pass without anyone sleeping. Raises ValueError where it would run backwards."""
        if seconds < 0:
            raise ValueError(f"time cannot go back by {-seconds} s; `set_now` makes the wall clock jump")
        with self._lock:
            self._now += seconds
            self._monotonic += seconds

    def set_now(self, now: float) -> None:
        """Make the wall clock jump, as an administrator or a time server may; the monotonic clock goes on."""
        with self._lock:
            self._now = now
