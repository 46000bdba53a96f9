"""Tells what a `.git` below the top of a workspace makes of its folder: work in such a one is no part of a change."""

import os
import re
import stat
from enum import StrEnum
from pathlib import Path

from noface.system.files import read_regular

_POINTER = b"gitdir:"
_POINTER_BYTES_MAX = 8192
_TO_WORKTREE = re.compile(rb"/worktrees/[^/\n]+/?\s*$")


class Nested(StrEnum):
    """What a folder with a `.git` is. NONE: git takes it for an ordinary folder, as tests have for a project's root."""

    NONE = "none"
    REPOSITORY = "repository"
    WORKTREE = "worktree"


def nested_by(git: Path) -> Nested:
    """Return what the entry `git`, which is called `.git`, makes of the folder it is in; nothing is run in it."""
    try:
        status = git.lstat()
        if stat.S_ISDIR(status.st_mode):
            with os.scandir(git) as entries:
                return Nested.NONE if next(entries, None) is None else Nested.REPOSITORY
    except OSError:
        return Nested.REPOSITORY  # it cannot be looked into: git may be able to
    if stat.S_ISLNK(status.st_mode):
        return Nested.REPOSITORY
    text = read_regular(git, _POINTER_BYTES_MAX)
    if text is None or not text.startswith(_POINTER):
        return Nested.NONE
    return Nested.WORKTREE if _TO_WORKTREE.search(text) else Nested.REPOSITORY
