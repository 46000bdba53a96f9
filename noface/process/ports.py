"""Ranges of ports, each of one workspace as long as noface runs.

A range is ten ports that the kernel gives to no outgoing connection. noface binds its first and does not listen there:
no other noface on this machine takes the range then, and however noface ends, the kernel gives it back. A folder of
claims would have to be cleared after a kill, and would say nothing of other users.
"""

import errno
import socket
from pathlib import Path
from threading import Lock

SIZE = 10
_FIRST, _LAST = 20_000, 65_535  # below are those that servers are known by; some above, so ranges in use are left out
_EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
_EPHEMERAL_ELSEWHERE = 49_152, 65_535  # RFC 6335, which other systems follow
_TAKEN = (errno.EADDRINUSE, errno.EACCES, errno.EPERM)


def range_starts(low: int, high: int) -> tuple[int, ...]:
    """Return the first ports of all ranges outside `low` to `high`; of all there are where none lies outside."""
    starts = tuple(range(_FIRST, _LAST - SIZE + 2, SIZE))
    return tuple(start for start in starts if start + SIZE <= low or start > high) or starts


def ephemeral_range() -> tuple[int, int]:
    """Return the first and the last port that the kernel gives to outgoing connections."""
    try:
        low, high = map(int, _EPHEMERAL.read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return _EPHEMERAL_ELSEWHERE
    return low, high


class PortRanges:
    """The ranges of a repository's workspaces. `seed` keeps repositories apart before they look at what is in use."""

    def __init__(self, seed: int, starts: tuple[int, ...] = ()) -> None:
        self._seed = seed
        self._starts = starts
        self._held: dict[int, socket.socket] = {}
        self._lock = Lock()

    def of(self, number: int) -> range:
        """Return the ports of a workspace, nine that are free; another range if some of its own are not any more.

        None of them if the machine has no free range left.
        """
        with self._lock:
            held = self._held.pop(number, None)
            if held is not None:
                ports = _given(held.getsockname()[1])
                if all(map(is_free, ports)):
                    self._held[number] = held
                    return ports
                held.close()
            self._starts = self._starts or range_starts(*ephemeral_range())
            count = len(self._starts)
            for step in range(count):
                start = self._starts[(self._seed + number + step) % count]
                held = _bound(start)
                if held is None:
                    continue
                if all(map(is_free, _given(start))):
                    self._held[number] = held
                    return _given(start)
                held.close()
            return range(0)

    def close(self) -> None:
        """Give all ranges back."""
        with self._lock:
            while self._held:
                self._held.popitem()[1].close()


def _given(start: int) -> range:
    return range(start + 1, start + SIZE)


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
            with socket.socket(family, socket.SOCK_STREAM) as trial:
                # As servers do: connections of one that has ended keep no port.
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family is socket.AF_INET6:
                    trial.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                trial.bind((address, port))
        except OSError as error:
            if error.errno in _TAKEN:
                return False
    return True
