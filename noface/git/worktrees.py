"""Finds where main is checked out, and what a person has under way there."""

from dataclasses import dataclass
from pathlib import Path

from noface.git.command import Git
from noface.git.repo import Repository

_IN_PROGRESS = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "BISECT_LOG": "a bisect",
}


@dataclass(frozen=True, slots=True)
class Worktree:
    """One working tree of the repository; `branch` is the full ref checked out there, or None."""

    path: Path
    branch: str | None
    git_dir: Path

    def under_way(self) -> str | None:
        """Name the operation a person has not finished here, or None."""
        for name, words in _IN_PROGRESS.items():
            if (self.git_dir / name).exists():
                return words
        return None

    def rebasing(self, ref: str) -> bool:
        """Tell whether a rebase or bisect here will come back to `ref`."""
        for name in ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"):
            try:
                said = (self.git_dir / name).read_text().strip()
            except OSError:
                continue
            if said in (ref, ref.removeprefix("refs/heads/")):
                return True
        return False


def worktrees(repository: Repository) -> tuple[Worktree, ...]:
    """List the working trees, those whose folder is gone left out."""
    text = repository.git().ask("worktree", "list", "--porcelain", "-z")
    found = []
    for block in text.split("\0\0"):
        fields = dict(line.partition(" ")[::2] for line in block.split("\0") if line)
        if "worktree" not in fields or "bare" in fields:
            continue
        path = Path(fields["worktree"])
        git_dir = _git_dir(path)
        if git_dir is not None:
            found.append(Worktree(path, fields.get("branch"), git_dir))
    return tuple(found)


def holding(repository: Repository, ref: str) -> Worktree | None:
    """Return the working tree where `ref` is checked out, or about to be checked out again."""
    for tree in worktrees(repository):
        if tree.branch == ref or tree.rebasing(ref):
            return tree
    return None


def user_git(tree: Worktree) -> Git:
    """Return a git that acts as the person in their own working tree."""
    return Git.user(str(tree.path))


def _git_dir(path: Path) -> Path | None:
    dot_git = path / ".git"
    if dot_git.is_dir():
        return dot_git
    try:
        pointer = dot_git.read_text()
    except OSError:
        return None
    return (path / pointer.removeprefix("gitdir:").strip()).resolve()
