"""Work in a thread of its own that does not keep noface from ending: what waits for another machine may never end."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

_T = TypeVar("_T")


def run_apart(make: Callable[[], _T], name: str) -> Future[_T]:
    """Return what `make` will bring, or raise."""
    outcome: Future[_T] = Future()

    def run() -> None:
        try:
            outcome.set_result(make())
        except BaseException as error:  # noqa: BLE001 - raised by whoever waits
            outcome.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return outcome
