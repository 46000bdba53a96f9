"""Keeps secrets out of the logs of a program while it runs: what is new in them is looked through at every tick (I12).

Programs write their logs themselves, so a value stands on the disk until the next look, and no longer. The logs belong
to the program: it may cut them off, move them away, or put something else in their place. Whatever it does, each look
reads a bounded part, follows no link, and writes to no file that also has another name.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from noface.core.masking import Masker
from noface.system.masked_file import open_file, overwrite, windows

LOOK_BYTES_MAX = 8 << 20
"""What is read of one file in one look. A program that writes faster than that is caught up with in its pauses."""

_AT_END_BYTES_MAX = 256 << 20
_READ_AGAIN_BYTES_MAX = 64 << 10
"""Files up to this size are read anew when they grow: they may have been cut off, and have grown again, unseen."""

_REPLACED_MAX = 3
"""The files followed of one name: that which the program writes to, whatever it is called now, and the newest ones."""


class LogGuard:
    """Overwrites known secrets in logs that grow. Without secrets it does nothing. For one thread; close it.

    A file of `rewritten` is one that its program writes anew each time: it is read as a whole whenever it changed.
    What cannot be read or written now is left to whoever masks the files once the program has ended.
    """

    def __init__(self, logs: Iterable[str], rewritten: Iterable[str], masker: Masker) -> None:
        self._masker = masker
        self._folders: dict[Path, int] = {}
        self._names: list[_Name] = []
        if masker:
            for path in dict.fromkeys(logs):
                self._add(Path(path), whole=False)
            for path in rewritten:
                self._add(Path(path), whole=True)

    def _add(self, path: Path, *, whole: bool) -> None:
        # By descriptor: the program could put a link to another folder in this one's place.
        with suppress(OSError):
            if path.parent not in self._folders:
                self._folders[path.parent] = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            self._names.append(_Name(path.name, self._folders[path.parent], whole=whole))

    def look(self) -> bool:
        """Take the values out of what is new; tell whether something new is left for the next look."""
        behind = [name.look(self._masker) for name in self._names]
        return any(behind)

    def finish(self) -> None:
        """Look through all that is left, once the program has ended; of a flood, a part."""
        for _ in range(_AT_END_BYTES_MAX // LOOK_BYTES_MAX):
            if not self.look():
                return

    def close(self) -> None:
        """Close all files. Repeatable."""
        for name in self._names:
            name.close()
        for folder in self._folders.values():
            os.close(folder)
        self._names, self._folders = [], {}


class _Name:
    """A log's name in its folder, and the files that were seen under it."""

    def __init__(self, name: str, folder: int, *, whole: bool) -> None:
        self._name = name
        self._folder = folder
        self._whole = whole
        self._files: dict[tuple[int, int], _Grown] = {}

    def look(self, masker: Masker) -> bool:
        with suppress(OSError):
            self._find()
        behind = False
        for file in self._files.values():
            with suppress(OSError):  # the next look tries again
                behind = file.look(masker) or behind
        return behind

    def _find(self) -> None:
        """Open what stands under the name now, where it has not been seen before."""
        seen = os.stat(self._name, dir_fd=self._folder, follow_symlinks=False)
        if (seen.st_dev, seen.st_ino) in self._files:
            return
        descriptor = open_file(self._name, self._folder)
        if descriptor is None:
            return
        status = os.fstat(descriptor)
        if len(self._files) == _REPLACED_MAX:
            self._files.pop(list(self._files)[1]).close()
        fresh = _Grown(descriptor, whole=self._whole)
        if self._files.setdefault((status.st_dev, status.st_ino), fresh) is not fresh:
            fresh.close()  # it was put back since the stat

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files = {}


class _Grown:
    """An open file, and how far it has been looked through."""

    def __init__(self, descriptor: int, *, whole: bool) -> None:
        self._descriptor = descriptor
        self._whole = whole
        self._seen = 0
        self._behind = False
        self._changed_ns = 0

    def look(self, masker: Masker) -> bool:
        """Look through what is new, as far as one look goes; tell whether there is more."""
        status = os.fstat(self._descriptor)
        if status.st_size < self._seen or (not self._behind and self._may_be_other(status)):
            self._seen = 0
        new = status.st_nlink == 1 and status.st_size > self._seen
        self._behind = new and self._read(masker, status.st_size)
        return self._behind

    def _may_be_other(self, status: os.stat_result) -> bool:
        """Tell whether what has been looked through may be other bytes by now."""
        if self._whole:
            # Its own writes count as well: one more look follows then, and finds nothing.
            before, self._changed_ns = self._changed_ns, status.st_mtime_ns
            return before != status.st_mtime_ns
        return self._seen < status.st_size <= _READ_AGAIN_BYTES_MAX

    def _read(self, masker: Masker, size: int) -> bool:
        left = LOOK_BYTES_MAX
        start = max(0, self._seen - masker.longest_bytes + 1)
        for position, data in windows(self._descriptor, start, masker.longest_bytes):
            overwrite(self._descriptor, position, data, masker)
            self._seen = position + len(data)
            left -= len(data)
            if left <= 0 and self._seen < size:
                return True
        self._seen = size
        return False

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
