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
        """Where noface keeps its state."""
        return self.common_dir / "noface"

    def has_branch(self, name: str) -> bool:
        """True if a local branch is there; True if git keeps its refs in a form that only git reads."""
        if (self.common_dir / "reftable").is_dir() or (self.common_dir / "refs" / "heads" / name).is_file():
            return True
        try:
            packed = (self.common_dir / "packed-refs").read_text("utf-8", "replace")
        except OSError:
            return False
        return f" refs/heads/{name}\n" in packed


def locate(start: Path) -> RepositoryFolders:
    """Return the repository around `start`; raise UsageError if there is none."""
    for folder in (start, *start.parents):
        git_dir = folder / ".git"
        if git_dir.is_dir():
            return RepositoryFolders(folder, common_dir_of(git_dir))
        if git_dir.is_file():
            pointer = git_dir.read_text().removeprefix("gitdir:").strip()
            return RepositoryFolders(folder, common_dir_of((folder / pointer).resolve()))
    raise nothing_around(start)


def nothing_around(start: Path) -> UsageError:
    """Return the error for a folder that no repository is around."""
    return UsageError(
        f"{start} is not in a git repository.", "Change to your project's folder, or make one: `git init`."
    )


def common_dir_of(git_dir: Path) -> Path:
    """Return the git dir that all working trees share, of one of them or its own."""
    try:
        pointer = (git_dir / "commondir").read_text().strip()
    except OSError:
        return git_dir
    return (git_dir / pointer).resolve()
