"""Moves main by compare-and-swap (law 1), with the files where it is checked out (law 3).

Where main is checked out, the ref is locked first, then HEAD is looked at again, then the files move with the
person's own configuration, then the ref. `merge --ff-only` would be no compare-and-swap, and a bare `update-ref`
would leave every change showing as reversed (SAFETY, "dangerous git" 7).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from noface.errors import GitError
from noface.git.command import Git
from noface.git.refs import RefUpdate
from noface.git.repo import Plumbing
from noface.git.worktrees import Worktree, holding, user_git
from noface.system.failpoints import hit

_PATHS_SHOWN_MAX = 20
_PATHSPECS_MAX = 500


@dataclass(frozen=True, slots=True)
class Landed:
    """Main is at the new commit."""

    commit: str


@dataclass(frozen=True, slots=True)
class Moved:
    """Main is no longer where it was; it stands at `commit` now. The merge must be made and proven again."""

    commit: str


@dataclass(frozen=True, slots=True)
class Held:
    """Something of the person's is in the way: `reason` says what, `paths` which files."""

    reason: str
    paths: tuple[str, ...] = ()


Result = Landed | Moved | Held


def advance(plumbing: Plumbing, old: str, new: str, note: str) -> Result:
    """Move main from `old` to `new`, or say why not; nothing is changed unless it is `Landed`.

    `note` goes into the reflog.
    """
    repository = plumbing.repository
    tree = holding(repository, repository.main)
    if tree is None:
        return _swap(plumbing, old, new)
    busy = tree.under_way()
    if busy is not None:
        return Held(f"{busy} is under way in {tree.path}: finish or abort it")
    if (tree.git_dir / "index.lock").exists():
        return Held(f"another git command is running in {tree.path}, or left {tree.git_dir / 'index.lock'} behind")
    paths = changed_paths(plumbing, old, new)
    in_the_way = local_changes(user_git(tree), paths)
    if in_the_way:
        return Held(f"local changes in {tree.path} overlap: commit, stash or undo them", in_the_way)
    return _fast_forward(plumbing, tree, old, new, note)


def changed_paths(plumbing: Plumbing, old: str, new: str) -> tuple[str, ...]:
    """Return the paths that differ between two commits."""
    output = plumbing.git.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
    return tuple(p for p in output.stdout.decode("utf-8", "surrogateescape").split("\0") if p)


def local_changes(git: Git, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of `paths` that a person has changed, staged or put an untracked file at."""
    asked = ("--", *(f":(top,literal){path}" for path in paths)) if len(paths) <= _PATHSPECS_MAX else ()
    output = git.run("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", *asked)
    if output.code != 0:
        raise GitError(f"git status failed: {output.stderr.strip()}")
    entries = output.stdout.decode("utf-8", "surrogateescape").split("\0")
    wanted = set(paths)
    touched = {entry[3:] for entry in entries if entry}
    return tuple(sorted(touched & wanted))[:_PATHS_SHOWN_MAX]


def _swap(plumbing: Plumbing, old: str, new: str) -> Result:
    hit("landing_ref_locked")
    hit("landing_files_updated")
    try:
        plumbing.refs.apply(RefUpdate(plumbing.repository.main, new, old))
    except GitError as error:
        return _moved_or_held(plumbing, old, str(error))
    hit("landing_ref_moved")
    return Landed(new)


def _moved_or_held(plumbing: Plumbing, old: str, message: str) -> Result:
    now = plumbing.main()
    return Moved(now) if now != old else Held(f"main could not be moved: {message}")


def _fast_forward(plumbing: Plumbing, tree: Worktree, old: str, new: str, note: str) -> Result:
    main = plumbing.repository.main
    try:
        with _locked(plumbing, main, old, new, note) as transaction:
            hit("landing_ref_locked")
            if user_git(tree).run("symbolic-ref", "--quiet", "HEAD").text != main:
                return Held(f"{tree.path} is switching branches")
            problem = move_files(user_git(tree), old, new)
            if problem:
                return Held(f"git would not update {tree.path}: {problem}")
            hit("landing_files_updated")
            _say(transaction, "commit")
    except _RefRefusedError as error:
        return _moved_or_held(plumbing, old, str(error))
    hit("landing_ref_moved")
    return Landed(new)


def move_files(git: Git, old: str, new: str) -> str:
    """Move index and files from `old` to `new`, all or nothing; return what git said where it would not."""
    arguments = ("-c", "submodule.recurse=false", "read-tree", "-m", "-u", old, new)
    first = git.run(*arguments)
    if first.code == 0:
        return ""
    git.run("update-index", "-q", "--refresh")  # times that changed without content make git refuse
    second = git.run(*arguments)
    return "" if second.code == 0 else second.stderr.strip()


class _RefRefusedError(Exception):
    """The ref could not be locked at its old value."""


@contextmanager
def _locked(plumbing: Plumbing, ref: str, old: str, new: str, note: str) -> Iterator[Any]:
    """Hold the ref's lock with the update prepared; leaving without a commit lets go of it unchanged."""
    process = plumbing.git.open("update-ref", "-m", note, "--stdin")
    try:
        _say(process, "start")
        process.stdin.write(f"update {ref} {new} {old}\n".encode())
        _say(process, "prepare")
        yield process
    finally:
        process.stdin.close()
        process.proc.wait()
        process.stdout.close()
        process.stderr.close()


def _say(process: Any, word: str) -> None:
    try:
        process.stdin.write(f"{word}\n".encode())
        process.stdin.flush()
    except OSError as error:
        raise _RefRefusedError(str(error)) from error
    if process.stdout.readline().strip() != f"{word}: ok".encode():
        raise _RefRefusedError(process.stderr.read().decode("utf-8", "replace").strip())
