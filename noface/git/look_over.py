"""Looks over a workspace with lstat before git sees it (SAFETY: "git add hazards").

A FIFO named `.gitignore` hangs `git add`, a 3 GB sparse file takes it 20 seconds, a nested repository turns its
files into a link to nowhere. What would do so is taken out of git's way here, and told.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PATH_BYTES_MAX = 4000


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found: `oversized` files must be left out of a snapshot; `notes` tell what was removed."""

    oversized: tuple[str, ...]
    notes: tuple[str, ...]
    files: int
    too_many: bool


def look_over(folder: Path, keep: tuple[str, ...], *, file_bytes_max: int, files_max: int) -> Findings:
    """Remove special files and nested repositories from `folder`, and find the files that are too big.

    `keep` are the paths that survive cleaning; they are never part of a snapshot and are not looked at.
    """
    kept = {path.strip("/") for path in keep}
    oversized: list[str] = []
    notes: list[str] = []
    files = 0
    for entry, relative in _walk(folder, kept):
        mode = entry.stat(follow_symlinks=False).st_mode
        if entry.name.lower() == ".git":
            if relative != ".git":
                _remove(entry, mode)
                notes.append(f"{_shown(relative)}: a nested git repository's .git was removed; its files were kept")
        elif stat.S_ISREG(mode):
            files += 1
            if entry.stat(follow_symlinks=False).st_size > file_bytes_max:
                oversized.append(relative)
        elif not stat.S_ISLNK(mode) and not stat.S_ISDIR(mode):
            _remove(entry, mode)
            notes.append(f"{_shown(relative)}: a FIFO, socket or device was removed")
        if len(os.fsencode(relative)) > PATH_BYTES_MAX:
            notes.append(f"{_shown(relative[:60])}…: the path is longer than git can store; it was left out")
        if files > files_max:
            return Findings(tuple(oversized), tuple(notes), files, too_many=True)
    return Findings(tuple(oversized), tuple(notes), files, too_many=False)


def _walk(folder: Path, kept: set[str]) -> Iterator[tuple[os.DirEntry[str], str]]:
    pending = [("", str(folder))]
    while pending:
        prefix, path = pending.pop()
        for entry in _entries(path):
            relative = prefix + entry.name
            if relative in kept:
                continue
            yield entry, relative
            if entry.is_dir(follow_symlinks=False) and entry.name.lower() != ".git":
                pending.append((relative + "/", entry.path))


def _entries(path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as found:
            return list(found)
    except PermissionError:
        os.chmod(path, stat.S_IRWXU)  # noqa: PTH101 - scandir deals in strings
        with os.scandir(path) as found:
            return list(found)
    except OSError:
        return []  # vanished or beyond PATH_MAX


def _remove(entry: os.DirEntry[str], mode: int) -> None:
    if stat.S_ISDIR(mode):
        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        Path(entry.path).unlink(missing_ok=True)


def _shown(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
