"""Ranges of ports, each of one workspace as long as noface runs.

A range is ten ports that the kernel gives to no outgoing connection. noface binds its first and does not listen there:
no other noface on this machine takes the range then, and however noface ends, the kernel gives it back.
"""

import errno
import socket
from threading import Lock

SIZE = 10
FIRST, LAST = 20_000, 32_767  # below are those that servers are known by, above those of outgoing connections


class PortRanges:
    """The ranges of a repository's workspaces. `seed` keeps repositories apart before they look at what is in use."""

    def __init__(self, seed: int, starts: tuple[int, ...] = tuple(range(FIRST, LAST - SIZE + 2, SIZE))) -> None:
        self._seed = seed
        self._starts = starts
        self._held: dict[int, socket.socket] = {}
        self._lock = Lock()

    def of(self, number: int) -> range:
        """Return the ports of a workspace, nine that are free; another range if some of its own are not any more.

        None of them if the machine has no free range left.
        """
        with self._lock:
            before = self._held.pop(number, None)
            for step in range(-1 if before is not None else 0, len(self._starts)):
                start = self._starts[(self._seed + number + step) % len(self._starts)]
                held = before if step < 0 else _bound(start)
                if held is None:
                    continue
                start = held.getsockname()[1]
                if all(map(is_free, range(start + 1, start + SIZE))):
                    self._held[number] = held
                    return range(start + 1, start + SIZE)
                held.close()
            return range(0)

    def close(self) -> None:
        with self._lock:
            while self._held:
                self._held.popitem()[1].close()


def _bound(port: int) -> socket.socket | None:
    """Return a socket at a port that only programs of this machine could reach; None if it is taken."""
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
