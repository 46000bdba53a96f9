"""A time for a whole request: a server that sends a byte now and then never meets a timeout, which begins anew at each.

Whoever reads is inside the library then, in the head of an answer, its body or a handshake. So a watch beside it shuts
the connection down once the time is over, and the read ends.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import requests
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

_requests = threading.local()


class Deadline:
    """The time of one request, and the connections that it uses."""

    def __init__(self) -> None:
        self.over = False
        self._lines: list[socket.socket] = []
        self._lock = threading.Lock()

    def uses(self, line: socket.socket) -> None:
        """Have a connection end with the time; one that comes too late ends at once.

        The library closes its own as soon as the head is read, if the body ends with the connection.
        """
        with self._lock:
            self._lines.append(line.dup())
            if self.over:
                _shut(line)

    def end(self) -> None:
        """End the connections: the time is over."""
        with self._lock:
            self.over = True
            for line in self._lines:
                _shut(line)

    def close(self) -> None:
        """Let go of the connections."""
        with self._lock:
            for line in self._lines:
                line.close()
            self._lines.clear()


def _shut(line: socket.socket) -> None:
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)


@contextmanager
def deadline(seconds: float) -> Iterator[Deadline]:
    """Give what is asked in this block, by this thread, so long. Raises requests.Timeout once that is over."""
    mine = _requests.deadline = Deadline()
    watch = threading.Timer(seconds, mine.end)
    watch.daemon = True
    watch.start()
    try:
        yield mine
    except requests.RequestException as error:
        if mine.over:
            raise requests.Timeout(f"the answer took more than {seconds:.0f} s") from error
        raise
    finally:
        watch.cancel()
        mine.close()
        _requests.deadline = None
    if mine.over:  # an answer without a length ends where its connection does
        raise requests.Timeout(f"the answer took more than {seconds:.0f} s")


class _Watched:
    """A connection that ends with the time of the request that uses it.

    `_line` is its socket once more: TLS takes the socket itself over before its handshake.
    """

    _line: socket.socket | None = None

    def _new_conn(self) -> socket.socket:
        made: socket.socket = super()._new_conn()  # type: ignore[misc]
        self._line = made.dup()
        self._watch()
        return made

    def putrequest(self, *args: Any, **kwargs: Any) -> None:
        self._watch()
        super().putrequest(*args, **kwargs)  # type: ignore[misc]

    def close(self) -> None:
        super().close()  # type: ignore[misc]
        line, self._line = self._line, None
        if line is not None:
            line.close()

    def _watch(self) -> None:
        mine: Deadline | None = getattr(_requests, "deadline", None)
        if mine is not None and self._line is not None:
            mine.uses(self._line)


class _Plain(_Watched, HTTPConnection):
    pass


class _Secure(_Watched, HTTPSConnection):
    pass


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = _Plain


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _Secure


_POOLS = {"http": _PlainPool, "https": _SecurePool}


class WatchedAdapter(requests.adapters.HTTPAdapter):
    """Makes the connections of a session such as `deadline` can end, through a proxy as well."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Make the pools of direct connections."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        """Return the pools of connections through a proxy."""
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = _POOLS
        return manager
