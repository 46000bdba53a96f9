"""A time for a whole request: the library's own begins anew at each byte that a server sends."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

import requests

T = TypeVar("T")


def within(seconds: float, make: Callable[[], T]) -> T:
    """Return what a request brings, which is made in a thread of its own; one that takes longer is left behind.

    Raises what it raises, and requests.Timeout.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(make())
        except BaseException as error:  # noqa: BLE001 - raised by whoever waits
            outcome.set_exception(error)

    threading.Thread(target=run, name="request", daemon=True).start()
    try:
        return outcome.result(seconds)
    except TimeoutError:
        if outcome.done():
            raise
        raise requests.Timeout(f"the answer took more than {seconds:.0f} s") from None
