"""Moves the index and files of a checked-out main from one commit to another, all or nothing, and mends half a move.

The person's git is kept out by its own lock, `index.lock`, which says whose it is: a lock that is left behind names
the move that was cut off, and no other lock is ever removed. The files move by `read-tree -m -u` on a copy of the
index, with the person's configuration; the copy takes the index's place when every file is written. A kill leaves
every changed path old, new, absent or a beginning of one (SAFETY, "dangerous git" 7).
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from noface.errors import GitError
from noface.git.command import Git
from noface.git.content import Contents
from noface.git.worktrees import Worktree, user_git

_MARK = "noface landing"
_PATHSPEC_BYTES_MAX = 100_000
_READ_TREE = ("-c", "submodule.recurse=false", "read-tree", "-m", "-u")


@dataclass(frozen=True, slots=True)
class Move:
    """A fast-forward of `tree` from `old` to `new`; `changes` maps each path that differs to git's letter.

    `index` is where the copy of the index is made, `inherit` what the git processes hold (guard.py).
    """

    tree: Worktree
    old: str
    new: str
    changes: Mapping[str, str]
    index: Path
    inherit: tuple[int, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that differ."""
        return tuple(self.changes)

    def git(self, index: Path | None = None) -> Git:
        """Return the person's git in this tree."""
        return user_git(self.tree, index=index, inherit=self.inherit)


def lock_of(tree: Worktree) -> Path:
    """Return the lock by which git commands keep each other from a working tree's index."""
    return tree.git_dir / "index.lock"


def cut_off(tree: Worktree) -> tuple[str, str] | None:
    """Return old and new commit of a move that was cut off here, as its lock tells; None where there is none."""
    try:
        text = lock_of(tree).read_bytes()
    except OSError:
        return None
    words = text.decode("utf-8", "replace").removeprefix(_MARK).split()
    return (words[0], words[1]) if text.startswith(_MARK.encode()) and len(words) > 1 else None


def lock(move: Move) -> bool:
    """Take the lock; False where another git command has it. It appears with its mark in it, never without."""
    own = move.index.with_suffix(".lock-to-be")
    own.write_text(f"{_MARK} {move.old} {move.new}\n")
    try:
        os.link(own, lock_of(move.tree))
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        try:
            with lock_of(move.tree).open("xb") as file:
                file.write(own.read_bytes())
        except FileExistsError:
            return False
    finally:
        own.unlink(missing_ok=True)
    return True


def unlock(tree: Worktree) -> None:
    """Let the person's git in again."""
    lock_of(tree).unlink(missing_ok=True)


def carry_out(move: Move) -> str:
    """Move index and files; return what git said where it would not, with everything as it was.

    Raises GitError where it is not: the old files could not be put back.
    """
    problem = _read_tree(move, move.old, move.new)
    if problem:
        foreign = put_back(move)
        if foreign:
            problem += f"; left as they are: {', '.join(foreign)}"
    return problem


def take_back(move: Move) -> str:
    """Undo a move that was carried out; return what git said where it would not."""
    return _read_tree(move, move.new, move.old)


def index_is_new(move: Move) -> bool:
    """Tell whether the index holds the new commit's entries: then every file had been written, too."""
    staged = move.git().run("diff-index", "--cached", "--name-only", "-z", "--no-renames", move.new)
    if staged.code != 0:
        return False
    return not set(_split(staged.stdout)) & set(move.changes)


def local_changes(git: Git, changes: Mapping[str, str]) -> tuple[str, ...]:
    """Return those paths of `changes` that a person has changed or staged, or has put something of theirs at."""
    few = sum(len(path) + 20 for path in changes) <= _PATHSPEC_BYTES_MAX
    asked = ("--", *(f":(top,literal){path}" for path in changes)) if few else ()
    output = git.run("status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", *asked)
    if output.code != 0:
        raise GitError(f"git status failed: {output.stderr.strip()}")
    touched = {entry[3:] for entry in _split(output.stdout)} & set(changes)
    gone = {path for path, letter in changes.items() if letter in "DT"}
    for path, letter in changes.items():
        below_gone = any(str(parent) in gone for parent in Path(path).parents)
        file = Path(git.cwd, path)
        if letter == "A" and not below_gone and os.path.lexists(file) and (file.is_symlink() or not file.is_dir()):
            touched.add(path)
    return tuple(sorted(touched))


def put_back(move: Move) -> tuple[str, ...]:
    """Put the files a cut-off or failed move has touched back to the index's, which is still the old one.

    Returns the paths that hold neither the old nor the new, nor a beginning of one: a person's. Nothing is touched
    where there is one. Raises GitError where git cannot write the old files.
    """
    touched = local_changes(move.git(), move.changes)
    contents = Contents(move.git(), move.tree.path, (move.old, move.new), move.changes)
    foreign = tuple(path for path in touched if not contents.explain(path))
    if foreign or not touched:
        return foreign
    for path in touched:
        if move.changes[path] == "A":
            _unlink(move.tree.path, path)
    back = [path for path in touched if move.changes[path] != "A"]
    feed = "".join(f"{path}\0" for path in back).encode("utf-8", "surrogateescape")
    move.git().ask("checkout-index", "-f", "-z", "--stdin", stdin=feed)
    return ()


def _read_tree(move: Move, old: str, new: str) -> str:
    index = Path(os.path.realpath(move.tree.git_dir / "index"))
    _forget_copy(move.index)
    if index.exists():
        shutil.copy2(index, move.index)
    git = move.git(move.index)
    output = git.run(*_READ_TREE, old, new)
    if output.code != 0 and "not uptodate" in output.stderr:
        git.run("update-index", "-q", "--refresh")  # times that changed without content make git refuse
        output = git.run(*_READ_TREE, old, new)
    if output.code == 0:
        move.index.replace(index)
        return ""
    _forget_copy(move.index)
    return output.stderr.strip() or f"read-tree ended with code {output.code}"


def _forget_copy(index: Path) -> None:
    index.unlink(missing_ok=True)
    index.with_name(f"{index.name}.lock").unlink(missing_ok=True)


def _unlink(top: Path, path: str) -> None:
    """Remove a file that the new commit added, and the folders that are empty without it."""
    (top / path).unlink(missing_ok=True)
    for parent in list(Path(path).parents)[:-1]:
        try:
            (top / parent).rmdir()
        except OSError:
            return


def _split(output: bytes) -> list[str]:
    return [part for part in output.decode("utf-8", "surrogateescape").split("\0") if part]
