"""The clock that noface's decisions and waits go by, passed to them as a value."""

import time


class Clock:
    """The machine's own clock."""

    def now(self) -> float:
        """Return the wall clock in epoch seconds; it may jump."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds that only ever grow, from an arbitrary start; for durations."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(max(0.0, seconds))
