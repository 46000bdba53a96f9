"""Copies a folder to another place, and what it says of its own place with it.

What a package manager makes (a virtual environment, node_modules) names the folder that it was made in: in the first
lines of scripts, in links, in compiled files. Where both places have paths of one length, such a path can be exchanged
in any file: nothing moves in it, no size changes, and times are copied, so that no tool takes a file for stale. Whether
the copy works all the same is for its user to try: a name made of a digest of the path is not found here.

Blocks are shared if the file system can. Nothing is linked: what is written to a copy is in no other
(docs/facts.md, "Copies of environments").
"""

import fcntl
import mmap
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_FICLONE = 0x40049409
_WHOLE_BYTES_MAX = 8 << 20
_CHECKSUMMED = (b"PK\x03\x04",)
"""How files begin whose checksums a change would break: zip archives, and so wheels and jars."""


class BoundToPlaceError(Exception):
    """A file names its place in a way that cannot be changed."""


@dataclass(frozen=True, slots=True)
class Relocation:
    """Which paths are exchanged for which; `stopped` ends the copying, which then raises InterruptedError."""

    names: tuple[tuple[bytes, bytes], ...]
    stopped: Callable[[], bool] = lambda: False

    @classmethod
    def between(cls, old: Path, new: Path, stopped: Callable[[], bool] = lambda: False) -> Self:
        """Return the move of a folder, as it is named and, if links lead to it, as it is reached."""
        pairs = ((old, new), (Path(os.path.realpath(old)), Path(os.path.realpath(new))))
        return cls(tuple(dict.fromkeys((os.fsencode(a), os.fsencode(b)) for a, b in pairs)), stopped)

    def apply(self, data: bytes, path: str) -> bytes:
        """Return a file's content as it is at the new place; the same object if nothing is exchanged."""
        moved = data
        for old, new in self.names:
            if old in moved:
                check(old, new, data[:4], path)
                moved = moved.replace(old, new)
        return moved


def check(old: bytes, new: bytes, start: bytes, path: str) -> None:
    """Raise BoundToPlaceError for a file, which begins with `start`, in which the path cannot be exchanged."""
    if len(old) != len(new) or start in _CHECKSUMMED:
        raise BoundToPlaceError(path)


def copy_moved(source: Path, target: Path, move: Relocation) -> None:
    """Copy a folder, file or link to `target`, where nothing is; neither sockets nor pipes.

    Raises BoundToPlaceError, OSError, or InterruptedError; what is copied by then stays.
    """
    _copy(os.fspath(source), os.fspath(target), os.lstat(source), move)


# Strings, not paths: there are very many files.


def _copy(source: str, target: str, status: os.stat_result, move: Relocation) -> None:
    mode = status.st_mode
    if stat.S_ISLNK(mode):
        leads_to = move.apply(os.fsencode(os.readlink(source)), source)  # noqa: PTH115
        os.symlink(leads_to, target)  # noqa: PTH211
        return
    if stat.S_ISDIR(mode):
        if move.stopped():
            raise InterruptedError
        # Its own mode comes at the end: a folder that nobody may write to could not be filled.
        os.mkdir(target, 0o700)  # noqa: PTH102
        with os.scandir(source) as entries:
            for entry in entries:
                _copy(entry.path, f"{target}/{entry.name}", entry.stat(follow_symlinks=False), move)
    elif stat.S_ISREG(mode):
        _copy_file(source, target, status.st_size, move)
    else:
        return
    os.chmod(target, stat.S_IMODE(mode))  # noqa: PTH101
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def _copy_file(source: str, target: str, size: int, move: Relocation) -> None:
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        writing = os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            if size > _WHOLE_BYTES_MAX:
                _copy_large(reading, writing, source, move)
                return
            data = _content(reading, size)
            moved = move.apply(data, source)
            if moved is not data or not _cloned(reading, writing):
                _write(writing, moved)
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _copy_large(reading: int, writing: int, path: str, move: Relocation) -> None:
    """Copy a file without holding all of it in memory, then exchange the path where it stands."""
    if not _cloned(reading, writing):
        while os.sendfile(writing, reading, None, 1 << 30):
            pass
    with mmap.mmap(reading, 0, access=mmap.ACCESS_READ) as view:
        for old, new in move.names:
            at = view.find(old)
            while at >= 0:
                check(old, new, view[:4], path)
                os.pwrite(writing, new, at)
                at = view.find(old, at + len(old))


def _cloned(reading: int, writing: int) -> bool:
    try:
        fcntl.ioctl(writing, _FICLONE, reading)
    except OSError:
        return False
    return True


def _content(descriptor: int, size: int) -> bytes:
    parts = []
    while part := os.read(descriptor, max(size, 1) + 1):
        parts.append(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
