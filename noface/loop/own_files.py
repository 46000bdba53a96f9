"""Writes noface's files where a worker can write, too: whatever it put in the place of one is removed, not followed."""

from pathlib import Path

from noface.git.removal import remove
from noface.system.files import write_atomic


def put(path: Path, data: str | bytes) -> None:
    """Write a file of an attempt or a question.

    Not durable: after a power loss an attempt counts as interrupted, and its snapshot is kept all the same.
    """
    if path.is_dir() and not path.is_symlink():
        remove(path)
    write_atomic(path, data, durable=False)
