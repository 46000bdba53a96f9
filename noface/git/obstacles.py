"""Finds what lies in a checkout where a move would put files, or remove folders, that git does not know.

git's `read-tree -u` takes ignored files for expendable: it removes one where a file is to be written, a file or link
where a folder is to be made, and a folder with all that is ignored in it where a file is to be written. A person's
settings and data are such files, so whatever is there keeps the move from happening.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

_LEAVES = "DT"


class Obstacles:
    """The obstacles of one move in the working tree `top`.

    `changes` maps each path that differs to git's letter; `links` are those that are a submodule before or after.
    """

    def __init__(self, top: Path, changes: Mapping[str, str], links: frozenset[str]) -> None:
        self._top = top
        self._changes = changes
        self._links = links
        self._kinds: dict[str, int | None] = {}
        self._files: frozenset[tuple[int, int]] | None = None

    def find(self, most: int) -> tuple[str, ...]:
        """Return the paths of at most `most` obstacles, sorted; paths are relative to the working tree."""
        found: set[str] = set()
        for path, letter in self._changes.items():
            if letter == "A" or (letter == "T" and path in self._links):
                for obstacle in self._at(path):
                    found.add(obstacle)
                    if len(found) >= most:
                        return tuple(sorted(found))
        return tuple(sorted(found))

    def _at(self, path: str) -> Iterator[str]:
        for parent in map(str, reversed(PurePosixPath(path).parents[:-1])):
            kind, leaves = self._kind(parent), self._changes.get(parent, "") in tuple(_LEAVES)
            if kind == stat.S_IFDIR and leaves and parent in self._links:
                yield from self._below(parent)  # a submodule in whose place a folder comes
            if kind != stat.S_IFDIR:
                if kind is not None and not leaves:
                    yield parent
                return
        kind = self._kind(path)
        if kind == stat.S_IFDIR:
            becomes_submodule = path in self._links and self._changes[path] == "A"
            yield from () if becomes_submodule else self._below(path)
        elif kind is not None and not self._is_moved(self._top / path):
            yield path

    def _below(self, folder: str) -> Iterator[str]:
        """Yield what is in a folder that has to go, but for the files that the move itself removes."""
        pending = [folder]
        while pending:
            path = pending.pop()
            try:
                with os.scandir(self._top / path) as entries:
                    inside = sorted(entries, key=lambda entry: entry.name)
            except OSError:
                yield path
                continue
            for entry in inside:
                name = f"{path}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    pending.append(name)
                elif self._changes.get(name, "") not in tuple(_LEAVES) and not self._is_moved(Path(entry.path)):
                    yield name

    def _kind(self, path: str) -> int | None:
        if path not in self._kinds:
            try:
                self._kinds[path] = stat.S_IFMT((self._top / path).lstat().st_mode)
            except OSError:
                self._kinds[path] = None
        return self._kinds[path]

    def _is_moved(self, file: Path) -> bool:
        """Tell whether a file is one that the move removes, under a name that the file system takes for the same."""
        if self._files is None:
            gone = (path for path, letter in self._changes.items() if letter in _LEAVES and path not in self._links)
            self._files = frozenset(each for path in gone if (each := _identity(self._top / path)) is not None)
        return _identity(file) in self._files


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        status = file.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
