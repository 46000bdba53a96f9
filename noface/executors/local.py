"""Runs attempts in threads of this process. The seam for other hosts: orders in, reports out, cancel by name."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock

from noface.core.attempt import AttemptOrder, AttemptReport
from noface.system.supervise import Canceller

Run = Callable[[AttemptOrder, Canceller], AttemptReport]


class LocalExecutor:
    """Executes up to `workers` orders at once."""

    def __init__(self, run: Run, workers: int) -> None:
        self._run = run
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="attempt")
        self._cancels: dict[str, Canceller] = {}
        self._lock = Lock()

    def submit(self, order: AttemptOrder) -> "Future[AttemptReport]":
        """Start an order; the future holds its report, or what broke noface itself."""
        cancel = Canceller()
        with self._lock:
            self._cancels[order.token] = cancel
        return self._pool.submit(self._perform, order, cancel)

    def cancel(self, token: str, *, urgent: bool = False) -> None:
        """End the attempt named `token`; harmless where it has ended or was never here.

        A future's own cancel would leave the processes running.
        """
        with self._lock:
            cancel = self._cancels.get(token)
        if cancel is not None:
            cancel.cancel(urgent=urgent)

    def close(self) -> None:
        """Wait for what still runs."""
        self._pool.shutdown(wait=True)

    def _perform(self, order: AttemptOrder, cancel: Canceller) -> AttemptReport:
        try:
            return self._run(order, cancel)
        finally:
            with self._lock:
                self._cancels.pop(order.token, None)
