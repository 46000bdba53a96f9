"""Moves the index and files of a checked-out main from one commit to another, all or nothing, and mends half a move.

The person's git is kept out by its own lock, `index.lock`, which says whose it is: a lock that is left behind names
the move that was cut off, and no other lock is ever removed. The files move on a copy of the index, with the person's
configuration; the copy takes the index's place when every file is written. A kill leaves every changed path old, new,
absent or a beginning of one.

Changed and deleted files move by `read-tree -m -u`, which looks at each before it writes the first; an edit made in
the moment between is lost, as it is in any `git switch`. New files are then written by `checkout-index` without
force: it creates them exclusively, so what a person puts in their place at any moment before stays, ignored or not,
and the move is undone. In a sparse checkout `read-tree` writes the new ones, too: nothing else knows which of them
belong there.
"""

import os
import shutil
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from noface.git.command import Git
from noface.git.plumbing import Plumbing
from noface.git.removal import unlink_below
from noface.git.worktrees import Worktree, user_git
from noface.process.files import is_folder, kind_at, read_regular

_MARK = "noface landing"
_PATHSPEC_BYTES_MAX = 100_000
LOCK_BYTES_MAX = 10_000
_READ_TREE = ("-c", "submodule.recurse=false", "read-tree", "-m", "-u")


@dataclass(frozen=True, slots=True)
class Landed:
    """Main is at the new commit."""

    commit: str


@dataclass(frozen=True, slots=True)
class Moved:
    """Main is no longer where it was; it stands at `commit` now. The merge must be made and proven again."""

    commit: str


@dataclass(frozen=True, slots=True)
class Blocked:
    """Something of the person's is in the way, and which files. `passing` names what goes by itself, and soon."""

    reason: str
    paths: tuple[str, ...] = ()
    passing: str = ""

    @property
    def text(self) -> str:
        return f"{self.reason}: {', '.join(self.paths)}" if self.paths else self.reason


MoveResult = Landed | Moved | Blocked
"""What can come of moving main."""


@dataclass(frozen=True, slots=True)
class Move:
    """A fast-forward of `tree` from `old` to `new`; `changes` maps each path that differs to git's letter.

    `links` are those that are a submodule before or after, `unlinked` those where a file replaces one. `index` is
    where the copy of the index is made, `inherit` what the git processes hold (guard.py).
    """

    plumbing: Plumbing
    tree: Worktree
    old: str
    new: str
    changes: Mapping[str, str]
    links: frozenset[str]
    unlinked: frozenset[str]
    index: Path
    inherit: tuple[int, ...]

    def git(self, index: Path | None = None) -> Git:
        """Return the person's git in this tree, which also reads what noface has made for the move."""
        git = user_git(self.tree, index=index, inherit=self.inherit)
        return replace(git, environment=(*git.environment, *self.plumbing.repository.object_variables.items()))


def lock_of(tree: Worktree) -> Path:
    return tree.git_dir / "index.lock"


def cut_off(tree: Worktree) -> tuple[str, str] | None:
    """Return old and new commit of a move that was cut off here, as its lock tells; None if there is none."""
    text = read_regular(lock_of(tree), LOCK_BYTES_MAX)
    if text is None:
        return None
    words = text.decode("utf-8", "replace").removeprefix(_MARK).split()
    return (words[0], words[1]) if text.startswith(_MARK.encode()) and len(words) > 1 else None


def lock(move: Move) -> bool:
    """Take the lock; False if another git command has it. It appears with its mark in it, never without."""
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
    lock_of(tree).unlink(missing_ok=True)


def carry_out(move: Move) -> str:
    """Move index and files; return why git refuses. Raises GitError if the old files could not be put back."""
    problem = _move_files(move, move.old, move.new, _appearing(move, "A", move.unlinked))
    if problem:
        foreign = put_back(move, around_new=True)
        if foreign:
            problem += f"; left as they are: {', '.join(foreign)}"
    return problem


def take_back(move: Move) -> str:
    """Undo a move that was carried out; return git's message if it refuses."""
    return _move_files(move, move.new, move.old, _appearing(move, "D"))


def index_is_at(move: Move, commit: str) -> bool:
    """True if the index holds a commit's entries at all paths that differ. Raises GitError if git is killed."""
    staged = move.git().answer("diff-index", "--cached", "--name-only", "-z", "--no-renames", commit)
    return not set(staged.parts) & set(move.changes)


def local_changes(git: Git, changes: Mapping[str, str]) -> tuple[str, ...]:
    """Return those paths of `changes` that a person has changed or staged, or has put a file of theirs at."""
    added = (path for path, letter in changes.items() if letter == "A" and _stands(Path(git.cwd), path))
    return tuple(sorted({*tracked_edits(git, changes), *added}))


def tracked_edits(git: Git, changes: Mapping[str, str]) -> tuple[str, ...]:
    """Return those paths of `changes` that git knows here and a person has changed or staged."""
    few = sum(len(path) + 20 for path in changes) <= _PATHSPEC_BYTES_MAX
    asked = ("--", *(f":(top,literal){path}" for path in changes)) if few else ()
    output = git.answer("status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", *asked)
    return tuple(sorted({entry[3:] for entry in output.parts} & set(changes)))


def put_back(move: Move, *, around_new: bool = False) -> tuple[str, ...]:
    """Put the files a cut-off or failed move has touched back to the index's, which is still the old one.

    Returns the paths that hold neither the old nor the new, nor a beginning of one: a person's. Nothing is touched
    where there is one; `around_new` leaves those alone that only the new commit has a file at, and puts the others
    back. Raises GitError if git cannot write the old files.
    """
    touched = local_changes(move.git(), move.changes)
    foreign = tuple(path for path in touched if not _is_explained(move, path))
    if around_new:
        parents = {str(parent) for path in move.changes for parent in Path(path).parents}
        kept = {path for path in foreign if move.changes[path] == "A" and path not in parents}
        touched = tuple(path for path in touched if path not in kept)
        foreign = tuple(path for path in foreign if path not in kept)
    if foreign or not touched:
        return foreign
    for path in touched:
        if move.changes[path] == "A":
            unlink_below(move.tree.path, path)
    back = [path for path in touched if move.changes[path] != "A"]
    move.git().ask("checkout-index", "-f", "-z", "--stdin", stdin="".join(f"{path}\0" for path in back))
    return ()


def _appearing(move: Move, letter: str, more: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return the paths at which a file appears where none is tracked: those of `letter`, no submodules, and `more`."""
    if (move.tree.git_dir / "info" / "sparse-checkout").exists():
        return ()
    return (*(path for path, kind in move.changes.items() if kind == letter and path not in move.links), *more)


def _move_files(move: Move, old: str, new: str, appearing: tuple[str, ...]) -> str:
    index = Path(os.path.realpath(move.tree.git_dir / "index"))
    _forget_copy(move.index)
    if index.exists():
        shutil.copy2(index, move.index)
    git = move.git(move.index)
    middle = move.plumbing.tree_with(new, dict.fromkeys(appearing)) if appearing else new
    only_new = index.exists() and middle == move.plumbing.tree(old)
    problem = ""
    if not only_new:
        output = git.run(*_READ_TREE, old, middle)
        if output.code != 0 and "not uptodate" in output.stderr:
            git.run("update-index", "-q", "--refresh")  # times that changed without content make git refuse
            output = git.run(*_READ_TREE, old, middle)
        problem = output.problem("read-tree")
    if appearing and not problem:
        problem = _write_new(git, middle, new, appearing)
    if problem:
        _forget_copy(move.index)
    else:
        move.index.replace(index)
    return problem


def _write_new(git: Git, old: str, new: str, paths: tuple[str, ...]) -> str:
    """Write the files that only the new tree has, none over anything that is there."""
    problem = git.run("read-tree", "-m", "-i", old, new).problem("read-tree")
    if problem:
        return problem
    for top in (Path(git.cwd, path) for path in paths):
        for folder, _, _ in os.walk(top, topdown=False) if is_folder(top) else ():
            with suppress(OSError):  # what holds files stays
                os.rmdir(folder)  # noqa: PTH106 - walk deals in strings
    feed = "".join(f"{path}\0" for path in paths)
    return git.run("checkout-index", "-u", "-z", "--stdin", stdin=feed).problem("checkout-index")


def _stands(top: Path, path: str) -> bool:
    folders = all(is_folder(top / parent) for parent in Path(path).parents[:-1])
    return folders and kind_at(top / path) not in (0, stat.S_IFDIR)


def _forget_copy(index: Path) -> None:
    index.unlink(missing_ok=True)
    index.with_name(f"{index.name}.lock").unlink(missing_ok=True)


def _is_explained(move: Move, path: str) -> bool:
    top = move.tree.path
    for parent in reversed(PurePosixPath(path).parents[:-1]):
        kind = kind_at(top / parent)
        if not kind or (kind != stat.S_IFDIR and str(parent) in move.changes):
            return True  # absent: so is the file, or what is in its folder's place is itself part of the move
        if kind != stat.S_IFDIR:
            return False
    kind = kind_at(top / path)
    if not kind:
        return True
    if kind == stat.S_IFDIR:
        return any(PurePosixPath(path) in PurePosixPath(other).parents for other in move.changes)
    if kind not in (stat.S_IFREG, stat.S_IFLNK):
        return False
    file = top / path
    content = os.fsencode(file.readlink()) if kind == stat.S_IFLNK else file.read_bytes()
    of_commits = (move.git().run("cat-file", "--filters", f"{commit}:{path}") for commit in (move.old, move.new))
    return any(output.code == 0 and output.stdout.startswith(content) for output in of_commits)
