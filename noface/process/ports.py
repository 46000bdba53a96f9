"""Ranges of ports, each of one workspace as long as noface runs.

A range is ten ports below those that Linux, as it comes, gives to outgoing connections. noface binds its first and does
not listen there: no other noface on this machine takes the range then, and at noface's end the kernel gives it back.
"""

import errno
import socket
from itertools import chain
from threading import Lock

SIZE = 10
_STARTS = range(20_000, 32_760, SIZE)  # below are those that servers are known by


class PortRanges:
    """The ranges of a repository's workspaces. `seed` keeps repositories apart before they look at what is in use."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._held: dict[int, socket.socket] = {}
        self._lock = Lock()

    def of(self, number: int) -> range:
        """Return nine ports that are free, the workspace's own if they still are; none if no free range is left."""
        with self._lock:
            at = (self._seed + number) % len(_STARTS)
            others = (_bound(start) for start in (*_STARTS[at:], *_STARTS[:at]))
            for held in filter(None, chain([self._held.pop(number, None)], others)):
                ports = range(held.getsockname()[1] + 1, held.getsockname()[1] + SIZE)
                if all(map(is_free, ports)):
                    self._held[number] = held
                    return ports
                held.close()
            return range(0)

    def close(self) -> None:
        with self._lock:
            while self._held:
                self._held.popitem()[1].close()


def _bound(port: int) -> socket.socket | None:
    held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        held.bind(("127.0.0.1", port))
    except OSError:
        held.close()
        return None
    return held


def is_free(port: int) -> bool:
    """True if a server can listen at a port, by IPv4 and, where there is one, IPv6, on all addresses."""
    for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):  # noqa: S104 - nobody listens
        try:
            trial = socket.socket(family, socket.SOCK_STREAM)
        except OSError:
            continue
        with trial:
            # As servers do: connections of one that has ended keep no port.
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                if family is socket.AF_INET6:
                    trial.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                trial.bind((address, port))
            except OSError as error:
                if error.errno in (errno.EADDRINUSE, errno.EACCES, errno.EPERM):
                    return False
    return True
