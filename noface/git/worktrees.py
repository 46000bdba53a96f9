"""Finds where main is checked out, what a person has under way there, and what of theirs is in a landing's way."""

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from noface.git.command import Git
from noface.git.locate import git_dir_of
from noface.git.repository import Repository
from noface.process.files import kind_at, read_regular

_CONFIG_BYTES_MAX = 1 << 20

_IN_PROGRESS = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "sequencer": "a cherry-pick or revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "BISECT_LOG": "a bisect",
}
_WILL_COME_BACK = ("rebase-merge/head-name", "rebase-apply/head-name", "rebase-merge/update-refs", "BISECT_START")


@dataclass(frozen=True, slots=True)
class Worktree:
    """One working tree; `branch` is the full ref checked out there, or None, `head` its commit.

    Not `reachable` is one whose place git does not tell, or that a person has locked while its disk is away.
    """

    path: Path
    branch: str | None
    git_dir: Path
    head: str = ""
    reachable: bool = True

    def under_way(self) -> str | None:
        return next((words for name, words in _IN_PROGRESS.items() if (self.git_dir / name).exists()), None)

    def rebasing(self, ref: str) -> bool:
        """True if a rebase or bisect here will come back to `ref`, or move it."""
        texts = (read_regular(self.git_dir / name, _CONFIG_BYTES_MAX) or b"" for name in _WILL_COME_BACK)
        return any({ref, ref.removeprefix("refs/heads/")} & {*os.fsdecode(text).split("\n")} for text in texts)


def worktrees(repository: Repository) -> tuple[Worktree, ...]:
    """List the working trees, those whose folder is gone left out."""
    text = repository.git().ask("worktree", "list", "--porcelain", "-z")
    blocks = (dict(line.partition(" ")[::2] for line in block.split("\0") if line) for block in text.split("\0\0"))
    trees = []
    for fields in (each for each in blocks if "worktree" in each and "bare" not in each):
        path, branch, commit = Path(fields["worktree"]), fields.get("branch"), fields.get("HEAD", "")
        if path.resolve() == repository.common_dir.resolve():
            trees.append(_main_worktree(repository, branch, commit))
        elif (git_dir := git_dir_of(path)) is not None:
            trees.append(Worktree(path, branch, git_dir, commit))
        elif "locked" in fields:
            trees.append(Worktree(path, branch, path, commit, reachable=False))
    return tuple(trees)


def holding(repository: Repository, ref: str) -> tuple[Worktree, ...]:
    # During a rebase HEAD is detached, and its end moves the branch: it is as good as checked out.
    return tuple(tree for tree in worktrees(repository) if tree.branch == ref or tree.rebasing(ref))


def user_git(tree: Worktree, *, index: Path | None = None, inherit: tuple[int, ...] = ()) -> Git:
    extra = {"GIT_INDEX_FILE": str(index)} if index is not None else None
    return Git.user(str(tree.path), extra=extra, inherit=inherit)


def checked_out(tree: Worktree) -> str:
    """Return the full ref of the branch that is checked out now; empty if HEAD is detached. Raises GitError."""
    return user_git(tree).answer("symbolic-ref", "--quiet", "HEAD", codes=(0, 1)).text


def _main_worktree(repository: Repository, branch: str | None, commit: str) -> Worktree:
    """Return the working tree of a git dir that stands apart: `git worktree list` names the git dir instead."""
    common = repository.common_dir.resolve()
    configured = repository.git().run("config", "--get", "core.worktree").text
    for path in (repository.root, common / configured):
        git_dir = git_dir_of(path)
        if git_dir is not None and git_dir.resolve() == common:
            return Worktree(path, branch, common, commit)
    return Worktree(common, branch, common, commit, reachable=False)


# git's `read-tree -u` takes ignored files for expendable: it removes one where a file is to be written, a file or link
# where a folder is to be made, and a folder with all that is ignored in it where a file is to be written. A person's
# settings and data are such files, so whatever is there keeps the move from happening.

_LEAVES = "DT"


class Obstacles:
    """The obstacles of one move in the working tree `top`.

    `changes` maps each path that differs to git's letter; `links` are those that are a submodule before or after.
    """

    def __init__(self, top: Path, changes: Mapping[str, str], links: frozenset[str]) -> None:
        self._top = top
        self._changes = changes
        self._links = links
        self._kind = cache(lambda path: kind_at(top / path))
        self._files: frozenset[tuple[int, int]] | None = None

    def find(self, most: int) -> tuple[str, ...]:
        """Return the paths of at most `most` obstacles, sorted; paths are relative to the working tree."""
        obstacles: set[str] = set()
        for path, letter in self._changes.items():
            if letter == "A" or (letter == "T" and path in self._links):
                for obstacle in self._at(path):
                    obstacles.add(obstacle)
                    if len(obstacles) >= most:
                        return tuple(sorted(obstacles))
        return tuple(sorted(obstacles))

    def _at(self, path: str) -> Iterator[str]:
        for parent in map(str, reversed(PurePosixPath(path).parents[:-1])):
            kind, leaves = self._kind(parent), self._changes.get(parent, "") in tuple(_LEAVES)
            if kind == stat.S_IFDIR and leaves and parent in self._links:
                yield from self._below(parent)  # a submodule in whose place a folder comes
            if kind != stat.S_IFDIR:
                if kind and not leaves:
                    yield parent
                return
        kind = self._kind(path)
        if kind == stat.S_IFDIR:
            becomes_submodule = path in self._links and self._changes[path] == "A"
            yield from () if becomes_submodule else self._below(path)
        elif kind and not self._is_moved(self._top / path):
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

    def _is_moved(self, file: Path) -> bool:
        """True if a file is one that the move removes, under a name that the file system takes for the same."""
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
