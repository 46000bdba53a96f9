"""Whose process holds the other end of a connection on loopback, as far as the system tells."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import psutil

from noface.process.process_tree import below


class Peer(StrEnum):
    """Whose it is. BELOW: of a process below those that were asked about, or of one that hides it there."""

    BELOW = "below"
    OTHER = "other"
    GONE = "gone"
    UNKNOWN = "unknown"


def peer(near_port: int, far_port: int, roots: Sequence[int]) -> Peer:
    """Return whose process holds the far end, of port `far_port`, of a connection from 127.0.0.1 to `near_port` there.

    GONE: nobody holds it any more, so that nobody can tell whose it was. UNKNOWN: this system does not tell.
    """
    try:
        every = psutil.net_connections("tcp")  # of IPv6, too: 127.0.0.1 is ::ffff:127.0.0.1 there
    except (psutil.Error, OSError):
        return Peer.UNKNOWN
    ends = [each for each in every if each.raddr and (each.laddr.port, each.raddr.port) == (far_port, near_port)]
    if not ends or (ends[0].pid is None and ends[0].status != psutil.CONN_ESTABLISHED):
        return Peer.GONE
    inside = below(roots)
    if ends[0].pid is not None:
        return Peer.BELOW if ends[0].pid in inside else Peer.OTHER
    return Peer.BELOW if any(map(_hides, inside)) else Peer.OTHER


def _hides(pid: int) -> bool:
    """True if a process does not let itself be looked at."""
    try:
        return not list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError as error:
        return isinstance(error, PermissionError)
