"""Brings checkouts along whose HEAD came to main, or left it, while a landing moved main (law 3).

`git switch` reads the branch's commit first, then writes files and index under the index's lock, and HEAD only when
that lock is gone again. A landing that looks at HEAD in between sees main checked out where it is about to be left, or
nowhere; afterwards the index is at the other end of the landing than HEAD, and shows the whole of it as staged. No
lock of git's spans the three steps. So each landing is remembered for a while, and those who come next look again.

Whose such a state is, two times tell: in a switch HEAD is written last. Where the index was written after HEAD, it may
be what a person has staged, and stays.
"""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from noface.errors import GitError
from noface.git.command import failed
from noface.git.forward import Move, carry_out, index_is_at, lock, lock_of, unlock
from noface.git.mend import make_move
from noface.git.plumbing import Plumbing
from noface.git.worktrees import Worktree, checked_out, worktrees
from noface.system.files import read_regular

REMEMBERED_SECONDS = 600.0
"""How long after a landing a switch of branches may end that began before it."""
_CLOCKS_APART_SECONDS = 0.1  # what a file system's times may be behind
_UNDER_WAY_SECONDS = 0.1  # between an index's writing and HEAD's
_LOOKS_SECONDS_MAX = 0.5
_LOOK_AGAIN_SECONDS = 0.01
_FIELDS = 3
_BYTES_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class _Late:
    """A landing from `old` to `new`, begun `at` (seconds since the epoch)."""

    old: str
    new: str
    at: float


def remember(plumbing: Plumbing, old: str, new: str) -> None:
    """Write down that main is about to move; the caller is in `landing`."""
    _write(plumbing, (*_read(plumbing), _Late(old, new, time.time())))


def bring_along(plumbing: Plumbing, descriptor: int) -> None:
    """Move index and files to HEAD's end of a late landing where a switch has left them at the other.

    Whatever cannot be told or done is left as it is. The caller is in `landing`.
    """
    late = _read(plumbing)
    if not late:
        return
    trees = [tree for tree in worktrees(plumbing.repository) if tree.reachable]
    for each in late:
        for tree in trees:
            if _head_was_written_last(tree, each.at):
                with suppress(GitError):
                    _bring(plumbing, tree, each, descriptor)
    oldest = time.time() - REMEMBERED_SECONDS
    kept = tuple(each for each in late if each.at > oldest)
    if kept != late:
        _write(plumbing, kept)


def bring_along_soon(plumbing: Plumbing, descriptor: int) -> None:
    """Do what `bring_along` does, and wait a little for a switch that can be seen to be under way."""
    deadline = time.monotonic() + _LOOKS_SECONDS_MAX
    while any(_may_be_switching(tree) for tree in worktrees(plumbing.repository) if tree.reachable):
        if time.monotonic() > deadline:
            break
        time.sleep(_LOOK_AGAIN_SECONDS)
    bring_along(plumbing, descriptor)


def _may_be_switching(tree: Worktree) -> bool:
    if lock_of(tree).exists():
        return True
    try:
        return 0 <= time.time() - (tree.git_dir / "index").stat().st_mtime < _UNDER_WAY_SECONDS
    except OSError:
        return False


def _head_was_written_last(tree: Worktree, since: float) -> bool:
    try:
        head = (tree.git_dir / "HEAD").stat().st_mtime_ns
        index = (tree.git_dir / "index").stat().st_mtime_ns
    except OSError:
        return False
    return head >= index and head >= (since - _CLOCKS_APART_SECONDS) * 1e9


def _bring(plumbing: Plumbing, tree: Worktree, late: _Late, descriptor: int) -> None:
    if tree.under_way() is not None:
        return
    here = checked_out(tree) == plumbing.repository.main
    ends = (late.old, late.new) if here else (late.new, late.old)
    move = make_move(plumbing, tree, *ends, descriptor)
    if not _apart(move) or not lock(move):
        return
    whole = True
    try:
        if _apart(move) and _head_was_written_last(tree, late.at):
            whole = False
            carry_out(move)
            whole = True
    finally:
        if whole:
            unlock(tree)


def _apart(move: Move) -> bool:
    """Tell whether HEAD has all of the one end's entries, and the index all of the other's."""
    if not move.changes or not index_is_at(move, move.old):
        return False
    asked = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "HEAD", move.new)
    differ = move.git().run(*asked)
    if differ.code != 0:
        raise failed(asked, differ)
    return not set(differ.stdout.decode("utf-8", "surrogateescape").split("\0")) & set(move.changes)


def _file(plumbing: Plumbing) -> Path:
    return plumbing.repository.state_dir / "late-landings"


def _read(plumbing: Plumbing) -> tuple[_Late, ...]:
    told = read_regular(_file(plumbing), _BYTES_MAX) or b""
    return tuple(_parsed(told.decode("ascii", "replace").splitlines()))


def _parsed(lines: list[str]) -> Iterator[_Late]:
    for line in lines:
        words = line.split()
        with suppress(ValueError):
            if len(words) == _FIELDS:
                yield _Late(words[0], words[1], float(words[2]))


def _write(plumbing: Plumbing, late: tuple[_Late, ...]) -> None:
    file = _file(plumbing)
    fresh = file.with_suffix(".new")
    fresh.write_text("".join(f"{each.old} {each.new} {each.at!r}\n" for each in late))
    os.replace(fresh, file)  # noqa: PTH105 - what stands there is replaced whole
