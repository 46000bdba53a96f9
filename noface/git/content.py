"""Tells whether a file in a checkout can be explained by a move between two commits that was cut off."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from noface.git.command import Git


class Contents:
    """What `commits` hold at the paths of `changes`, as it stands in the person's files (line endings, filters)."""

    def __init__(self, git: Git, top: Path, commits: tuple[str, str], changes: Mapping[str, str]) -> None:
        self._git = git
        self._top = top
        self._commits = commits
        self._changes = changes

    def explain(self, path: str) -> bool:
        """Tell whether the file is as one of the commits has it, a beginning of that, or absent."""
        for parent in reversed(PurePosixPath(path).parents[:-1]):
            kind = self._kind(str(parent))
            if kind is None or (kind != stat.S_IFDIR and str(parent) in self._changes):
                return True  # absent: so is the file, or what is in its folder's place is itself part of the move
            if kind != stat.S_IFDIR:
                return False
        kind = self._kind(path)
        if kind is None:
            return True
        if kind == stat.S_IFDIR:
            return any(PurePosixPath(path) in PurePosixPath(other).parents for other in self._changes)
        if kind not in (stat.S_IFREG, stat.S_IFLNK):
            return False
        file = self._top / path
        found = os.fsencode(file.readlink()) if kind == stat.S_IFLNK else file.read_bytes()
        held = (self._held(commit, path) for commit in self._commits)
        return any(content is not None and content.startswith(found) for content in held)

    def _kind(self, path: str) -> int | None:
        try:
            return stat.S_IFMT((self._top / path).lstat().st_mode)
        except OSError:
            return None

    def _held(self, commit: str, path: str) -> bytes | None:
        output = self._git.run("cat-file", "--filters", f"{commit}:{path}")
        return output.stdout if output.code == 0 else None
