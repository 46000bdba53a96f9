"""A cancellation that wakes at once whoever waits for it in `select` or `poll`."""

import os
import weakref


class Canceller:
    """Set once, by any thread or signal handler; every run that was given it ends.

    `fileno()` is readable from the first `cancel()` on and stays so.
    """

    def __init__(self) -> None:
        self._wake, self._alarm = os.pipe()
        weakref.finalize(self, _close, self._wake, self._alarm)
        self._cancelled = False
        self._urgent = False

    def cancel(self, *, urgent: bool = False) -> None:
        """End the runs by the kill ladder, or with SIGKILL at once where `urgent` (a second Ctrl-C). Repeatable."""
        # No lock: a signal handler may have interrupted another call, and a second byte does no harm.
        self._urgent = self._urgent or urgent
        if not self._cancelled:
            self._cancelled = True
            os.write(self._alarm, b"!")

    @property
    def cancelled(self) -> bool:
        """True once cancelled."""
        return self._cancelled

    @property
    def urgent(self) -> bool:
        """True once cancelled urgently."""
        return self._urgent

    def fileno(self) -> int:
        """Return the descriptor to wait on."""
        return self._wake


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
