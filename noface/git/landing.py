"""Moves main by compare-and-swap (law 1), with the files where it is checked out (law 3).

The index and the ref at its old value are locked, then HEAD is looked at again, then the files move, then the ref.
`merge --ff-only` would be no compare-and-swap, and a bare `update-ref` would leave every change showing as reversed
(docs/facts.md, "Moving a branch that is checked out"). `settle` finishes or undoes a landing that was cut off between
its intent and its record (law 7).
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from noface.errors import GitError, RefLockedError
from noface.git.command import Git, end_process
from noface.git.fast_forward import (
    LOCK_BYTES_MAX,
    Blocked,
    Landed,
    Move,
    Moved,
    MoveResult,
    carry_out,
    cut_off,
    index_is_at,
    local_changes,
    lock,
    lock_of,
    take_back,
    tracked_edits,
    unlock,
)
from noface.git.plumbing import Plumbing
from noface.git.refs import RefUpdate, exclusive_lock, lock_advice, lock_in_the_way
from noface.git.repair_interrupted import (
    PATHS_LISTED_MAX,
    follow_switches,
    follow_switches_soon,
    make_move,
    remember,
    repair_interrupted,
)
from noface.git.taken_back import stood_at
from noface.git.worktrees import Obstacles, Worktree, checked_out, holding, worktrees
from noface.process.failpoints import hit
from noface.process.files import read_regular

PASSING_SECONDS_MAX = 1.5
"""How long a landing waits for another git's lock before the loop goes on with other work and tries again later."""
_FIRST_PAUSE_SECONDS = 0.02
_SWITCH = "a switch of branches"
_OVERLAP = "local changes in {} overlap: commit, stash or undo them"
_OBSTACLES = "files of yours in {} are where the landing has files of its own: move them away"


@dataclass(frozen=True, slots=True)
class Advance:
    """A move of main from `old` to `new`; `note` goes into the reflog, `descriptor` is `landing`'s."""

    plumbing: Plumbing
    old: str
    new: str
    note: str
    descriptor: int

    def outcome(self, message: str) -> MoveResult:
        """Return what came of a move that was refused with `message`, or that nobody confirmed."""
        now = self.plumbing.local_main()
        if now == self.new:
            return Landed(self.new)
        lock = lock_in_the_way(message)
        why = f"a lock is in the way: {lock_advice(lock)}" if lock is not None else message
        if now != self.old:
            return Moved(now)
        return Blocked(f"main could not be moved: {why}", passing=str(lock or ""))


def _always() -> bool:
    return True


def advance(
    plumbing: Plumbing, old: str, new: str, note: str, *, patient: bool = True, wanted: Callable[[], bool] = _always
) -> MoveResult:
    """Move main from `old` to `new`, or say why not; nothing is changed unless it is `Landed`.

    `note` goes into the reflog; if `patient`, a lock in the way is waited for a moment, which holds up the caller.
    `wanted` is asked after each such wait. Raises UsageError if main is gone, GitError if git cannot be used.
    """
    with landing(plumbing) as descriptor:
        plan = Advance(plumbing, old, new, note, descriptor)
        return _advance_patiently(plan, wanted) if patient else _advance(plan)


@contextmanager
def landing(plumbing: Plumbing) -> Iterator[int]:
    """Wait until no git process of an earlier landing runs any more, and keep others waiting."""
    state = plumbing.repository.state_dir
    state.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(state / "landing.guard") as descriptor:
        yield descriptor


def _advance_patiently(plan: Advance, wanted: Callable[[], bool] = _always) -> MoveResult:
    """Carry out a move; a lock in the way for a moment only is waited for, as an editor's `git status` holds one."""
    deadline, pause = time.monotonic() + PASSING_SECONDS_MAX, _FIRST_PAUSE_SECONDS
    while True:
        result = _advance(plan)
        if not isinstance(result, Blocked) or result.passing in ("", _SWITCH) or time.monotonic() + pause > deadline:
            return result
        time.sleep(pause)
        pause *= 2
        if not wanted():
            return result


def _advance(plan: Advance) -> MoveResult:
    plumbing, repository = plan.plumbing, plan.plumbing.repository
    follow_switches(plumbing, plan.descriptor)
    if why := plumbing.refs.vet(plan.new):
        return Blocked(f"{repository.main_name} is not moved: {why}")
    trees = holding(repository, repository.main)
    if not trees:
        return _swap(plan)
    if len(trees) > 1:
        return Blocked(f"{repository.main_name} is checked out twice: {trees[0].path} and {trees[1].path}")
    tree = trees[0]
    if not tree.reachable:
        return Blocked(f"{repository.main_name} is checked out, but its files cannot be got at ({tree.path})")
    busy = tree.under_way()
    if busy is not None:
        return Blocked(f"{busy} is under way in {tree.path}: finish or abort it")
    blocked = repair_interrupted(plumbing, tree, plan.descriptor)
    if blocked is not None:
        return blocked
    if lock_of(tree).exists():
        return _locked_out(tree)
    if tree.branch == repository.main and tree.head != plan.old:
        return plan.outcome(f"{tree.path} is switching branches")
    move = make_move(plumbing, tree, plan.old, plan.new, plan.descriptor)
    try:
        changed = tracked_edits(move.git(), move.changes)
    except GitError as error:
        return Blocked(f"git cannot tell what was changed in {tree.path}: {error}")
    if changed:
        return Blocked(_OVERLAP.format(tree.path), changed[:PATHS_LISTED_MAX])
    obstacles = Obstacles(tree.path, move.changes, move.links).find(PATHS_LISTED_MAX)
    if obstacles:
        return Blocked(_OBSTACLES.format(tree.path), obstacles)
    return _fast_forward(plan, move)


def _swap(plan: Advance) -> MoveResult:
    plumbing, repository = plan.plumbing, plan.plumbing.repository
    try:
        with _prepared(plan) as transaction:
            hit("landing_ref_locked")
            trees = holding(repository, repository.main)
            if trees:
                return Blocked(f"{repository.main_name} is being checked out in {trees[0].path}", passing=_SWITCH)
            hit("landing_files_updated")
            remember(plumbing, plan.old, plan.new)
            _command(transaction, "commit")
    except _RefRefusedError as error:
        return plan.outcome(str(error))
    hit("landing_ref_moved")
    follow_switches_soon(plumbing, plan.descriptor)
    return Landed(plan.new)


def _fast_forward(plan: Advance, move: Move) -> MoveResult:
    """Move files and ref under both locks; the index's first, so that no checkout is stopped half-way by the ref's.

    Where files and ref end up apart the index's lock stays: it tells the next landing what to mend.
    """
    plumbing = plan.plumbing
    if not lock(move):
        return _locked_out(move.tree)
    whole, carried = True, False
    try:
        with _prepared(plan) as transaction:
            hit("landing_ref_locked")
            # Asked again under both locks: a switch of branches that began before them may have ended since.
            if checked_out(move.tree) != plumbing.repository.main:
                return Blocked(f"{move.tree.path} is switching branches", passing=_SWITCH)
            whole = False
            problem = carry_out(move)
            if problem:
                whole = True
                return Blocked(f"git would not update {move.tree.path}: {problem}")
            carried = True
            remember(plumbing, move.old, move.new)
            hit("landing_files_updated")
            _command(transaction, "commit")
        hit("landing_ref_moved")
        whole = True
    except _RefRefusedError as error:
        whole = not carried or _agree(plumbing, move)
        return plan.outcome(str(error))
    except GitError as error:
        return Blocked(f"git could neither update {move.tree.path} nor put the old files back: {error}")
    except BaseException:
        whole = whole or (carried and _agree(plumbing, move))
        raise
    finally:
        if whole:
            unlock(move.tree)
    return Landed(move.new)


def _agree(plumbing: Plumbing, move: Move) -> bool:
    """Take files back that were carried out if the ref is not new; tell whether both are at one end now.

    The update-ref has ended: what the ref holds is what came of it. Where git does not tell, the lock stays.
    """
    with suppress(GitError):
        # A process of its own reads it anew.
        now = plumbing.git.ask("rev-parse", "--verify", "--quiet", plumbing.repository.main)
        return now == move.new or not take_back(move)
    return False


def _locked_out(tree: Worktree) -> Blocked:
    lock = lock_of(tree)
    reason = f"another git command is running in {tree.path}, or left its lock behind: {lock_advice(lock)}"
    return Blocked(reason, passing=str(lock))


class _RefRefusedError(Exception):
    """The ref could not be locked at its old value, or not moved."""


@contextmanager
def _prepared(plan: Advance) -> Iterator[Any]:
    """Hold main's lock with the update prepared; leaving without a commit lets go of it unchanged.

    A git that was killed leaves the lock, and nobody would know it for noface's once another landing is tried.
    """
    git: Git = replace(plan.plumbing.repository.shared_git(), inherit=(plan.descriptor,))
    # The loop waits meanwhile, and tries again soon.
    short = ("-c", "core.filesRefLockTimeout=1000", "-c", "core.packedRefsTimeout=1000")
    process = git.open(*short, "update-ref", "-m", plan.note, "--stdin")
    # With the old value: git refuses it if main has moved since it was looked at (law 1).
    update = f"update {plan.plumbing.repository.main} {plan.new} {plan.old}\n"
    try:
        _command(process, "start")
        process.stdin.write(update.encode("utf-8", "surrogateescape"))
        _command(process, "prepare")
        yield process
    finally:
        end_process(process)
        if process.returncode < 0:
            remove_own_ref_locks(plan.plumbing, plan.new)


def _command(process: Any, word: str) -> None:
    try:
        process.stdin.write(f"{word}\n".encode())
        process.stdin.flush()
    except OSError as error:
        raise _RefRefusedError(str(error)) from error
    if process.stdout.readline().strip() != f"{word}: ok".encode():
        raise _RefRefusedError(process.stderr.read().decode("utf-8", "replace").strip())


def settle(plumbing: Plumbing, old: str, new: str, note: str) -> MoveResult:
    """Bring an intended move of main from `old` to `new` to an end; harmless to repeat.

    Raises UsageError if main is gone, GitError if git cannot be used.
    """
    with landing(plumbing) as descriptor:
        cut = [tree for tree in worktrees(plumbing.repository) if tree.reachable and cut_off(tree) is not None]
        remove_own_ref_locks(plumbing, new, ours=bool(cut))
        for tree in cut:
            blocked = repair_interrupted(plumbing, tree, descriptor)
            if blocked is not None:
                return blocked
        follow_switches(plumbing, descriptor)
        main = plumbing.local_main()
        if plumbing.is_ancestor(new, main) or stood_at(plumbing, new, main):
            return Landed(new)
        if main != old:
            return Moved(main)
        if _files_are_new(plumbing, old, new, descriptor):
            try:
                plumbing.refs.apply(RefUpdate(plumbing.repository.main, new, old))
            except RefLockedError as error:
                return Blocked(f"main could not be moved: a lock is in the way: {error.hint}", passing="lock")
            return Landed(new)
        return _advance_patiently(Advance(plumbing, old, new, note, descriptor))


def settle_forgotten(plumbing: Plumbing) -> tuple[Blocked, ...]:
    """Bring moves of files to an end that were cut off and that no record tells of; return what is in the way."""
    with landing(plumbing) as descriptor:
        cut = [tree for tree in worktrees(plumbing.repository) if tree.reachable and cut_off(tree) is not None]
        repairs = [repair_interrupted(plumbing, tree, descriptor) for tree in cut]
        follow_switches(plumbing, descriptor)
        return tuple(blocked for blocked in repairs if blocked is not None)


def _files_are_new(plumbing: Plumbing, old: str, new: str, descriptor: int) -> bool:
    """True if index and files are the new ones already, and only our lock is gone: a person removed it."""
    trees = holding(plumbing.repository, plumbing.repository.main)
    if len(trees) != 1 or not trees[0].reachable or trees[0].under_way() is not None:
        return False
    move = make_move(plumbing, trees[0], old, new, descriptor)
    if not local_changes(move.git(), move.changes) or not index_is_at(move, move.new):
        return False
    unstaged = move.git().ask("diff-files", "--name-only", "-z", "--no-renames")
    return not set(unstaged.split("\0")) & set(move.changes)


_EMPTY_LOCK_SECONDS_MIN = 60.0


def remove_own_ref_locks(plumbing: Plumbing, new: str, *, ours: bool = False) -> None:
    """Remove the locks of main and HEAD if they are those our killed update-ref left.

    Main's holds the new commit's id then, and HEAD's, which it takes for the reflog, is empty; `ours` says that the
    index's is there, which comes before them. After a power loss both may be empty; a lock that stays so is no
    running command's. The caller knows that no update-ref of noface's runs.
    """
    common = plumbing.repository.common_dir
    for file in (Path(f"{common / plumbing.repository.main}.lock"), common / "HEAD.lock"):
        try:
            held = read_regular(file, LOCK_BYTES_MAX)
            stale = time.time() - file.stat().st_mtime > _EMPTY_LOCK_SECONDS_MIN
        except OSError:
            continue  # there is none
        if held is None:
            continue
        content = held.decode("utf-8", "replace").strip()
        if content == new or (not content and (stale or (ours and file.name == "HEAD.lock"))):
            file.unlink(missing_ok=True)
            ours = True
