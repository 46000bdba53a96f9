"""Which files of a folder a program reads, as the file system notes it: the time of each file's last read.

This sees programs of every language, with no tracer and at no cost. A file system that notes no reads (noatime) says
nothing; `notes_reads` tells.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

_PROBE = ".noface-reads"


@dataclass(frozen=True, slots=True)
class Reads:
    """The files that one run of a program has read, and those that it has left unread, by path.

    A path in neither is unknown; all are, if the file system notes no reads. `tree` is what lay in the folder.
    """

    read: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()
    tree: str = ""

    @property
    def noted(self) -> bool:
        """True if the file system noted any."""
        return bool(self.read or self.unread)

    def on(self, tree: str) -> "Reads":
        """Return what they tell of a tree: a file that was left unread in another may be read in this one."""
        return self if tree == self.tree else replace(self, unread=frozenset())


def forget_reads(folder: Path, paths: Iterable[str]) -> None:
    """Set the time of each file's last read before that of its last write: the next read is noted then ("relatime")."""
    for path in paths:
        place = f"{folder}/{path}"
        with suppress(OSError):
            status = os.lstat(place)
            if status.st_atime_ns > status.st_mtime_ns:
                os.utime(place, ns=(status.st_mtime_ns, status.st_mtime_ns), follow_symlinks=False)


def reads_since(folder: Path, paths: Iterable[str]) -> Reads:
    """Return which files were read since `forget_reads`. One that was written, or is gone, counts as read."""
    read: list[str] = []
    unread: list[str] = []
    for path in paths:
        try:
            status = os.lstat(f"{folder}/{path}")
        except OSError:
            read.append(path)
            continue
        (read if status.st_atime_ns > status.st_mtime_ns else unread).append(path)
    return Reads(frozenset(read), frozenset(unread))


def notes_reads(folder: Path) -> bool:
    """True if the file system of a folder notes when a file is read; a file is made there for a moment."""
    probe = folder / _PROBE
    try:
        probe.write_bytes(b"read")
        written = probe.stat().st_mtime_ns
        # With relatime a read is noted only if the one before is older than the last write.
        os.utime(probe, ns=(written - 1, written))
        probe.read_bytes()
        return probe.stat().st_atime_ns > written - 1
    except OSError:
        return False
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)
