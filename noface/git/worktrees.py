"""Finds where main is checked out, and what a person has under way there."""

from dataclasses import dataclass
from pathlib import Path

from noface.git.command import Git, failed
from noface.git.repository import Repository

_IN_PROGRESS = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "sequencer": "a cherry-pick or revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "BISECT_LOG": "a bisect",
}
_WILL_COME_BACK = (
    "rebase-merge/head-name",
    "rebase-apply/head-name",
    "rebase-merge/update-refs",
    "BISECT_START",
)


@dataclass(frozen=True, slots=True)
class Worktree:
    """One working tree of the repository; `branch` is the full ref checked out there, or None, `head` its commit.

    `reachable` is False where its files cannot be got at: git does not tell the place, or a person has locked it
    while its disk is away.
    """

    path: Path
    branch: str | None
    git_dir: Path
    head: str = ""
    reachable: bool = True

    def under_way(self) -> str | None:
        """Name the operation a person has not finished here, or None."""
        for name, words in _IN_PROGRESS.items():
            if (self.git_dir / name).exists():
                return words
        return None

    def rebasing(self, ref: str) -> bool:
        """Tell whether a rebase or bisect here will come back to `ref`, or move it."""
        for name in _WILL_COME_BACK:
            try:
                said = (self.git_dir / name).read_text("utf-8", "surrogateescape").split("\n")
            except OSError:
                continue
            if ref in said or ref.removeprefix("refs/heads/") in said:
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
        path, branch, head = Path(fields["worktree"]), fields.get("branch"), fields.get("HEAD", "")
        if path.resolve() == repository.common_dir.resolve():
            found.append(_main_worktree(repository, branch, head))
        elif (git_dir := _git_dir(path)) is not None:
            found.append(Worktree(path, branch, git_dir, head))
        elif "locked" in fields:
            found.append(Worktree(path, branch, path, head, reachable=False))
    return tuple(found)


def holding(repository: Repository, ref: str) -> tuple[Worktree, ...]:
    """Return the working trees where `ref` is checked out, or about to be checked out again."""
    return tuple(tree for tree in worktrees(repository) if tree.branch == ref or tree.rebasing(ref))


def user_git(tree: Worktree, *, index: Path | None = None, inherit: tuple[int, ...] = ()) -> Git:
    """Return a git that acts as the person in their own working tree, on another index where one is named."""
    extra = {"GIT_INDEX_FILE": str(index)} if index is not None else None
    return Git.user(str(tree.path), extra=extra, inherit=inherit)


def checked_out(tree: Worktree) -> str:
    """Return the full ref of the branch that is checked out now; empty where HEAD is detached.

    Raises GitError where git does not tell.
    """
    asked = ("symbolic-ref", "--quiet", "HEAD")
    output = user_git(tree).run(*asked)
    if output.code not in (0, 1):
        raise failed(asked, output)
    return output.text


def _main_worktree(repository: Repository, branch: str | None, head: str) -> Worktree:
    """Return the working tree of a git dir that stands apart from it (a submodule's, or `--separate-git-dir`).

    `git worktree list` names the git dir in its place.
    """
    common = repository.common_dir.resolve()
    told = repository.git().run("config", "--get", "core.worktree").text
    for path in (repository.root, common / told):
        git_dir = _git_dir(path)
        if git_dir is not None and git_dir.resolve() == common:
            return Worktree(path, branch, common, head)
    return Worktree(common, branch, common, head, reachable=False)


def _git_dir(path: Path) -> Path | None:
    dot_git = path / ".git"
    if dot_git.is_dir():
        return dot_git
    try:
        pointer = dot_git.read_text("utf-8", "surrogateescape")
    except OSError:
        return None
    return (path / pointer.removeprefix("gitdir:").strip()).resolve()
