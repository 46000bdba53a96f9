"""Looks over a workspace with lstat before git sees it (docs/facts.md, "What breaks git add").

What git would hang on is taken out of its way, and told. Agents copy the checkout into their workspace and work in the
copy: a repository in it that holds nothing of the attempt's beginning stays as it is, and is left out.
"""

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from noface.git.removal import mount_points, remove_below
from noface.process.files import read_regular

_POINTER = b"gitdir:"
_POINTER_BYTES_MAX = 8192
_TO_WORKTREE = re.compile(rb"/worktrees/[^/\n]+/?\s*$")


def _is_repository(git: Path) -> bool:
    """True if git takes the folder that holds the entry `git`, called `.git`, for a repository; nothing is run."""
    try:
        if stat.S_ISDIR(git.lstat().st_mode):
            with os.scandir(git) as entries:
                return next(entries, None) is not None
    except OSError:
        return True  # it cannot be looked into: git may be able to
    return git.is_symlink() or (read_regular(git, _POINTER_BYTES_MAX) or b"").startswith(_POINTER)


FOLDER_BYTES_MAX = 3800  # of a path: Linux opens 4096, of which 255 may be a file's name
_READ_WHOLE_BY_GIT = (".gitignore", ".gitattributes")


@dataclass(frozen=True, slots=True)
class WorktreeScan:
    """What a workspace holds: `oversized` files, what is `mounted` and what is `apart` must be left out of a snapshot.

    `apart` has the folders that are repositories of their own, and whether each is a linked worktree. `notes` tell what
    was removed, and what was not looked at.
    """

    oversized: tuple[str, ...]
    notes: tuple[str, ...]
    files: int
    mounted: tuple[str, ...]
    apart: dict[str, bool]
    names: frozenset[str]


def scan_worktree(
    folder: Path, keep: tuple[str, ...], *, file_bytes_max: int, tracked: Callable[[str], bool]
) -> WorktreeScan:
    """Remove special files from `folder`, and find the files that are too big and the folders that stand apart.

    `keep` are the paths that survive cleaning; they are never part of a snapshot and are not looked at. `tracked` tells
    whether a folder holds files, or stands for a submodule, that the attempt began with: of such a one only a `.git` in
    it is removed. What the owner may not read is made readable: else it would be lost.
    """
    oversized: list[str] = []
    notes: list[str] = []
    apart: dict[str, bool] = {}
    within: set[str] = set()
    names: set[str] = set()
    files = 0
    for entry, relative in _walk(folder, keep, notes, notes):
        status = entry.stat(follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            names.add(relative)
        place = relative.rpartition("/")[0]
        left_out = place in within
        if _is_git(entry):
            own = not place or left_out or tracked(place)
            if not own and _is_repository(folder / relative):
                pointer = read_regular(folder / relative, _POINTER_BYTES_MAX) or b""
                apart[place] = _TO_WORKTREE.search(pointer) is not None
                within.add(place)
            if place in within:
                _defuse(folder, relative)
            elif relative != ".git":
                remove_below(folder, relative)
                notes.append(
                    f"{display_path(relative)}: a nested git repository's .git was removed; its files were kept"
                )
        elif stat.S_ISREG(status.st_mode):
            too_big = status.st_size > file_bytes_max
            if too_big and entry.name in _READ_WHOLE_BY_GIT:
                remove_below(folder, relative)
            elif not too_big and not status.st_mode & stat.S_IRUSR:
                (folder / relative).chmod(status.st_mode | stat.S_IRUSR)
            files += not left_out
            oversized += [relative] * (too_big and not left_out)
        elif stat.S_ISDIR(status.st_mode):
            within.update((relative,) if left_out else ())
        elif not stat.S_ISLNK(status.st_mode):
            remove_below(folder, relative)
            notes.append(f"{display_path(relative)}: a FIFO, socket or device was removed")
    mounted = mount_points(folder)
    notes += [f"{display_path(place)}: something is mounted there; it was left out" for place in mounted]
    return WorktreeScan(tuple(oversized), tuple(notes), files, mounted, apart, frozenset(names))


def clear_hazards(folder: Path, keep: tuple[str, ...]) -> frozenset[str]:
    """Remove special files and nested repositories; return files and empty folders that are there. Raises OSError."""
    unread: list[str] = []
    seen: list[str] = []
    for entry, relative in _walk(folder, keep, [], unread):
        plain = entry.is_symlink() or entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
        if not plain or _is_git(entry):
            remove_below(folder, relative)
        seen.append(relative)
    if unread:
        raise OSError(errno.EACCES, unread[0], str(folder))
    return frozenset(seen).difference(path.rpartition("/")[0] for path in seen)


_INDEX_HEAD, _INDEX_HEAD_BYTES, _INDEX_FACTS_BYTES = b"DIRC\0\0\0\2", 12, 42


def names_in(index: Path, id_bytes: int) -> frozenset[str]:
    """Return the paths in an index of version 2 (gitformat-index(5)), none of another: it spares processes of git."""
    names: list[bytes] = []
    with suppress(OSError, ValueError):
        data, at = index.read_bytes(), _INDEX_HEAD_BYTES
        for _ in range(int.from_bytes(data[8:at], "big") if data.startswith(_INDEX_HEAD) else 0):
            name = at + _INDEX_FACTS_BYTES + id_bytes
            end = data.index(0, name)
            names.append(data[name:end])
            at += (end - at + 8) & ~7
        return frozenset(os.fsdecode(b"\0".join(names)).split("\0")) if names else frozenset()
    return frozenset()


def display_path(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _walk(
    folder: Path, keep: tuple[str, ...], cut: list[str], unread: list[str]
) -> Iterator[tuple[os.DirEntry[str], str]]:
    """Yield what is in `folder`, but nothing of what is kept or mounted there.

    Folders deeper than programs can open are removed and go to `cut`, those that cannot be read go to `unread`.
    """
    kept = {path.strip("/") for path in keep}
    mounted = frozenset(mount_points(folder))
    pending = [""]
    while pending:
        prefix = pending.pop()
        with _entries(f"{folder}/{prefix}", prefix, unread) as entries:
            for entry in entries:
                relative = prefix + entry.name
                is_folder = entry.is_dir(follow_symlinks=False)
                if relative in kept:
                    if is_folder:
                        _defuse(folder, f"{relative}/.git")
                    continue
                if relative in mounted:
                    continue
                if is_folder and len(os.fsencode(f"{folder}/{relative}")) > FOLDER_BYTES_MAX:
                    remove_below(folder, relative)
                    cut.append(f"{display_path(relative[:60])}…: folders too deep for programs to open were removed")
                    continue
                yield entry, relative
                if is_folder and not _is_git(entry):
                    pending.append(f"{relative}/")


@contextmanager
def _entries(path: str, prefix: str, unread: list[str]) -> Iterator[list[os.DirEntry[str]]]:
    """Yield the entries of a folder, which is open meanwhile: by a path each would be looked up from the root."""
    opened, entries = None, []
    try:
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            os.chmod(path, stat.S_IRWXU)  # noqa: PTH101 - scandir deals in strings
        opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        with os.scandir(opened) as listed:
            entries = sorted(listed, key=lambda entry: not _is_git(entry))  # it decides about the others
    except OSError as error:
        unread.append(f"{display_path(prefix[:60])}…: {error.strerror}; what is in it was left out")
    try:
        yield entries
    finally:
        if opened is not None:
            os.close(opened)


def _is_git(entry: os.DirEntry[str]) -> bool:
    # In any case: on some file systems git opens .GIT as well (CVE-2014-9390).
    return entry.name.lower() == ".git"


def _defuse(folder: Path, relative: str) -> None:
    """Remove a `.git` on which git would wait for ever: it looks at folders that it is not to enter, too."""
    git_dir = folder / relative
    inside = [part for part in (git_dir / "HEAD", git_dir / "commondir") if os.path.lexists(part)]
    try:
        parts = [git_dir.lstat(), *(part.lstat() for part in inside)]
    except OSError:
        return
    if not stat.S_ISDIR(parts[0].st_mode) or not all(stat.S_ISREG(part.st_mode) for part in parts[1:]):
        remove_below(folder, relative)
