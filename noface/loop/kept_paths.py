"""What lies in the kept paths of a gate slot (node_modules, .venv), as a digest that tells whether it was changed.

Reading every byte before each gate would cost more than most gates, so the digest is made of what the file system
says of each file. Size and mtime can be set to what they were, ctime cannot; but ctime also changes where a package
store (uv, pnpm) links the same file into another project, so it counts only for files with one name.
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path


def kept_digest(paths: Iterable[Path]) -> str:
    """Return a digest of name, type, size, mtime and, where it tells, ctime of all files below `paths`.

    Folders count by what is in them, links by themselves. What cannot be read counts as not there.
    """
    digest = hashlib.sha256()
    for path in paths:
        for entry in _entries(os.fspath(path)):
            digest.update(repr(entry).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _entries(top: str) -> Iterator[tuple[str, int, int, int, int]]:
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
        changed = status.st_ctime_ns if status.st_nlink == 1 else 0
        yield path, status.st_mode, status.st_size, status.st_mtime_ns, changed
