"""Brings half-moved files to an end: what a kill left, and what a switch of branches missed (laws 3 and 7)."""

import json
import time
from contextlib import suppress
from pathlib import Path

from noface.errors import GitError
from noface.git.fast_forward import Blocked, Move, carry_out, cut_off, index_is_at, lock, lock_of, put_back, unlock
from noface.git.plumbing import Plumbing
from noface.git.refs import RefUpdate
from noface.git.stored import LINK_MODE
from noface.git.worktrees import Worktree, checked_out, worktrees
from noface.process.files import read_regular, write_atomic

PATHS_LISTED_MAX = 20


def make_move(plumbing: Plumbing, tree: Worktree, old: str, new: str, descriptor: int) -> Move:
    differing = tuple(plumbing.raw_changes(old, new))
    changes = {each.path: each.status for each in differing}
    links = frozenset(each.path for each in differing if LINK_MODE in (each.old_mode, each.new_mode))
    unlinked = frozenset(each.path for each in differing if each.old_mode == LINK_MODE and each.status == "T")
    index = plumbing.repository.state_dir / "landing-index"
    return Move(plumbing, tree, old, new, changes, links, unlinked, index, (descriptor,))


def repair_interrupted(plumbing: Plumbing, tree: Worktree, descriptor: int) -> Blocked | None:
    """Bring a move that was cut off in `tree` to an end, forwards or backwards; None if all is well."""
    ends = cut_off(tree)
    if ends is None:
        return None
    where, foreign = f"a landing was cut off in {tree.path}", tuple[str, ...]()
    try:
        move = make_move(plumbing, tree, *ends, descriptor)
        if not index_is_at(move, move.new):
            foreign = put_back(move)
        elif (
            plumbing.is_ancestor(move.old, move.new)
            and plumbing.local_main() == move.old
            and checked_out(tree) == plumbing.repository.main
        ):
            plumbing.refs.apply(RefUpdate(plumbing.repository.main, move.new, move.old))
    except GitError as error:
        return Blocked(f"{where}, and git cannot bring it to an end: {error}")
    unlock(tree)
    reason = f"{where}, and these files hold neither the old nor the new"
    return Blocked(reason, foreign[:PATHS_LISTED_MAX]) if foreign else None


# `git switch` reads the branch's commit first, then writes files and index under the index's lock, and HEAD only when
# that lock is gone again. A landing that looks at HEAD in between sees main checked out where it is about to be left,
# or nowhere; afterwards the index is at the other end of the landing than HEAD, and shows the whole of it as staged. No
# lock of git's spans the three steps. So each landing is remembered for a while, and those who come next look again.
#
# Two times tell whose such a state is: in a switch HEAD is written last. Where the index was written after HEAD, it
# may be what a person has staged, and stays.

REMEMBERED_SECONDS = 600.0
"""How long after a landing a switch of branches may end that began before it."""
_CLOCKS_APART_SECONDS = 0.1  # what a file system's times may be behind
_UNDER_WAY_SECONDS = 0.1  # between an index's writing and HEAD's
_LOOKS_SECONDS_MAX = 0.5
_LOOK_AGAIN_SECONDS = 0.01
_BYTES_MAX = 1 << 20


_Late = tuple[str, str, float]
"""A landing: from which commit to which, and when it began (seconds since the epoch)."""


def remember(plumbing: Plumbing, old: str, new: str) -> None:
    """Write down that main is about to move; the caller is in `landing`."""
    _write(plumbing, (*_read(plumbing), (old, new, time.time())))


def follow_switches(plumbing: Plumbing, descriptor: int) -> None:
    """Move index and files to HEAD's end of a late landing if a switch has left them at the other; else leave them."""
    late = _read(plumbing)
    if not late:
        return
    trees = [tree for tree in worktrees(plumbing.repository) if tree.reachable]
    for each in late:
        *_, at = each
        for tree in trees:
            if _head_was_written_last(tree, at):
                with suppress(GitError):
                    _bring(plumbing, tree, each, descriptor)
    oldest = time.time() - REMEMBERED_SECONDS
    kept = tuple((old, new, at) for old, new, at in late if at > oldest)
    if kept != late:
        _write(plumbing, kept)


def follow_switches_soon(plumbing: Plumbing, descriptor: int) -> None:
    """Do what `follow_switches` does, and wait a little for a switch that can be seen to be under way."""
    deadline = time.monotonic() + _LOOKS_SECONDS_MAX
    while time.monotonic() < deadline:
        trees = [tree for tree in worktrees(plumbing.repository) if tree.reachable]
        written = [file.stat().st_mtime for tree in trees if (file := tree.git_dir / "index").exists()]
        under_way = any(0 <= time.time() - at < _UNDER_WAY_SECONDS for at in written)
        if not under_way and not any(lock_of(tree).exists() for tree in trees):
            break
        time.sleep(_LOOK_AGAIN_SECONDS)
    follow_switches(plumbing, descriptor)


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
    old, new, at = late
    ends = (old, new) if checked_out(tree) == plumbing.repository.main else (new, old)
    move = make_move(plumbing, tree, *ends, descriptor)
    if not _apart(move) or not lock(move):
        return
    whole = True
    try:
        if _apart(move) and _head_was_written_last(tree, at):
            whole = False
            carry_out(move)
            whole = True
    finally:
        if whole:
            unlock(tree)


def _apart(move: Move) -> bool:
    """True if HEAD has all of the one end's entries, and the index all of the other's."""
    if not move.changes or not index_is_at(move, move.old):
        return False
    differ = move.git().answer("diff-tree", "-r", "-z", "--name-only", "--no-renames", "HEAD", move.new)
    return not set(differ.parts) & set(move.changes)


def _file(plumbing: Plumbing) -> Path:
    return plumbing.repository.state_dir / "late-landings"


def _read(plumbing: Plumbing) -> tuple[_Late, ...]:
    text = read_regular(_file(plumbing), _BYTES_MAX) or b"[]"
    try:
        return tuple((str(old), str(new), float(at)) for old, new, at in json.loads(text))
    except (ValueError, TypeError):
        return ()


def _write(plumbing: Plumbing, late: tuple[_Late, ...]) -> None:
    write_atomic(_file(plumbing), json.dumps(late).encode(), durable=False)
