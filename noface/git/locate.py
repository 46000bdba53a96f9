"""Finds the repository around a folder by looking at files alone: commands that only look start no git."""

from pathlib import Path
from typing import NamedTuple

from noface.errors import UsageError


class RepositoryFolders(NamedTuple):
    """A working tree's top and the git dir that all its worktrees share."""

    root: Path
    common_dir: Path

    @property
    def state_dir(self) -> Path:
        return self.common_dir / "noface"


def locate(start: Path) -> RepositoryFolders:
    for folder in (start, *start.parents):
        if (git_dir := git_dir_of(folder)) is not None:
            return RepositoryFolders(folder, common_dir_of(git_dir))
    raise nothing_around(start)


def nothing_around(start: Path) -> UsageError:
    return UsageError(
        f"{start} is not in a git repository.", "Change to your project's folder, or make one: `git init`."
    )


def git_dir_of(path: Path) -> Path | None:
    """Return the git dir of a working tree, as its `.git` tells; None if there is none."""
    dot_git = path / ".git"
    if dot_git.is_dir():
        return dot_git
    if not dot_git.is_file():
        return None
    try:
        pointer = dot_git.read_text("utf-8", "surrogateescape")
    except OSError:
        return None
    return (path / pointer.removeprefix("gitdir:").strip()).resolve()


def common_dir_of(git_dir: Path) -> Path:
    try:
        pointer = (git_dir / "commondir").read_text().strip()
    except OSError:
        return git_dir
    return (git_dir / pointer).resolve()
