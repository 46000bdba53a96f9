"""Whose process holds the other end of a connection on loopback, by Linux's /proc."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

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
    inode = _inode(near_port, far_port)
    if inode is None:
        return Peer.UNKNOWN
    if not inode:
        return Peer.GONE
    inside = below(roots)
    hidden = False
    for pid in inside:
        holds = _holds(pid, inode)
        if holds:
            return Peer.BELOW
        hidden = hidden or holds is None
    if not hidden:
        return Peer.OTHER
    others = {int(entry.name) for entry in Path("/proc").glob("[0-9]*")} - set(inside)
    return Peer.OTHER if any(_holds(pid, inode) for pid in others) else Peer.BELOW


def _inode(near_port: int, far_port: int) -> int | None:
    """Return the number of the far end's socket, 0 if no process holds it; None if there is no /proc."""
    rows: list[str] = []
    try:
        for table in ("tcp", "tcp6"):  # the second has 127.0.0.1 as ::ffff:127.0.0.1, which comes in by the first
            rows += Path(f"/proc/net/{table}").read_text("ascii").splitlines()[1:]
    except OSError:
        if not rows:
            return None
    for row in rows:
        local, remote, *fields = row.split()[1:10]
        if (_port(local), _port(remote)) == (far_port, near_port):
            return int(fields[-1])
    return 0


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)


def _holds(pid: int, inode: int) -> bool | None:
    """True if a process holds a socket; None if it does not let itself be looked at."""
    try:
        return f"socket:[{inode}]" in _links(f"/proc/{pid}/fd")
    except PermissionError:
        return None
    except OSError:
        return False  # it has ended


def _links(folder: str) -> Iterable[str]:
    for link in Path(folder).iterdir():
        with suppress(FileNotFoundError):
            yield str(link.readlink())
