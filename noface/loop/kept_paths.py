"""What lies in the kept paths of a gate slot (node_modules, .venv), as a digest that tells whether it was changed.

Reading every byte before each gate would cost more than most gates, so the digest is made of what the file system
says of each file. Size and mtime can be set to what they were, ctime cannot; but ctime also changes where a package
store (uv, pnpm) links the same file into another project. So of a file with several names the content counts in its
place: it can be changed under any of them. It is read once for each ctime that is seen.
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

_LINKED_FILES_MAX = 1 << 20


def kept_digest(paths: Iterable[Path]) -> str:
    """Return a digest of name, type, size, mtime and, as it tells, ctime or content of all files below `paths`.

    Folders count by what is in them, links by themselves. What cannot be read counts as not there.
    """
    digest = hashlib.sha256()
    for path in paths:
        for entry in _entries(os.fspath(path)):
            digest.update(repr(entry).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _entries(top: str) -> Iterator[tuple[str, int, int, int, int | str]]:
    pending = [top]
    while pending:
        path = pending.pop()
        try:
            status = os.lstat(path)
            if stat.S_ISDIR(status.st_mode):
                pending.extend(sorted((entry.path for entry in os.scandir(path)), reverse=True))
                continue
        except OSError:
            continue
        told: int | str = status.st_ctime_ns
        if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            told = _content(path, status.st_ino, status.st_size, status.st_ctime_ns)
        yield path, status.st_mode, status.st_size, status.st_mtime_ns, told


@lru_cache(maxsize=_LINKED_FILES_MAX)
def _content(path: str, _inode: int, _size: int, _ctime_ns: int) -> str:
    """Return a digest of a file's content, "" where it cannot be read; what identifies its state is only the key."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - there are very many of them
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
