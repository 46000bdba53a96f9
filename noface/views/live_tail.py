"""Reads a file while it grows, whatever becomes of it: not there yet, cut to nothing, replaced, removed."""

import os
from pathlib import Path

from noface.system.files import open_regular

_READ_BYTES = 256 * 1024
_HEAD_BYTES = 256


class Tail:
    """The growing end of one file. `begin_bytes` is how much of what is there already is read; None means all.

    `cut` is true where reading began in the middle. A file in its place with the same first line is taken for a copy
    of what was read already (a log with another name is masked in such a copy); any other is read from its beginning.
    """

    def __init__(self, path: Path, begin_bytes: int | None = None) -> None:
        self._path = path
        self._begin_bytes = begin_bytes
        self._descriptor: int | None = None
        self._position = 0
        self.cut = False

    def read(self) -> bytes:
        """Return what is new, at most 256 KiB of it; b"" where there is nothing."""
        if self._descriptor is None:
            self._descriptor = open_regular(self._path)
            if self._descriptor is None:
                return b""
            self._begin(self._descriptor)
        data = os.pread(self._descriptor, _READ_BYTES, self._position)
        self._position += len(data)
        if not data:
            self._look_again(self._descriptor)
        return data

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _begin(self, descriptor: int) -> None:
        size = os.fstat(descriptor).st_size
        if self._begin_bytes is not None:
            self._position = max(size - self._begin_bytes, 0)
            self.cut = self._position > 0
        self._begin_bytes = None

    def _look_again(self, descriptor: int) -> None:
        """Begin anew where the file was cut, or another one has taken its place."""
        if os.fstat(descriptor).st_size < self._position:
            self._position = 0
            return
        fresh = open_regular(self._path)
        if fresh is None:
            return  # removed; it may come back
        before, now = os.fstat(descriptor), os.fstat(fresh)
        if (before.st_dev, before.st_ino) == (now.st_dev, now.st_ino):
            os.close(fresh)
            return
        self._position = now.st_size if _first_line(descriptor) == _first_line(fresh) else 0
        os.close(descriptor)
        self._descriptor = fresh


def _first_line(descriptor: int) -> bytes:
    return os.pread(descriptor, _HEAD_BYTES, 0).partition(b"\n")[0]
