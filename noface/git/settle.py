"""Finishes or undoes a landing that was cut off between its intent and its record (law 7)."""

import time
from pathlib import Path

from noface.errors import RefLockedError
from noface.git.forward import cut_off, index_is_new, local_changes
from noface.git.land import advance_alone, landing
from noface.git.mend import make_move, mend
from noface.git.outcome import Held, Landed, Moved, Result
from noface.git.plumbing import Plumbing
from noface.git.refs import RefUpdate
from noface.git.worktrees import holding, worktrees

_EMPTY_LOCK_SECONDS_MIN = 60.0


def settle(plumbing: Plumbing, old: str, new: str, note: str) -> Result:
    """Bring an intended move of main from `old` to `new` to an end; harmless to repeat.

    Raises UsageError where main is gone, GitError where git cannot be used.
    """
    with landing(plumbing) as descriptor:
        cut = [tree for tree in worktrees(plumbing.repository) if tree.reachable and cut_off(tree) is not None]
        _remove_own_ref_locks(plumbing, new, ours=bool(cut))
        for tree in cut:
            held = mend(plumbing, tree, descriptor)
            if held is not None:
                return held
        main = plumbing.main()
        if plumbing.is_ancestor(new, main):
            return Landed(new)
        if main != old:
            return Moved(main)
        if _files_are_new(plumbing, old, new, descriptor):
            try:
                plumbing.refs.apply(RefUpdate(plumbing.repository.main, new, old))
            except RefLockedError as error:
                return Held(f"main could not be moved: a lock is in the way: {error.hint}", passing="lock")
            return Landed(new)
        return advance_alone(plumbing, old, new, note, descriptor)


def settle_forgotten(plumbing: Plumbing) -> tuple[Held, ...]:
    """Bring moves of files to an end that were cut off and that no record tells of; return what is in the way."""
    with landing(plumbing) as descriptor:
        cut = [tree for tree in worktrees(plumbing.repository) if tree.reachable and cut_off(tree) is not None]
        return tuple(held for tree in cut if (held := mend(plumbing, tree, descriptor)) is not None)


def _remove_own_ref_locks(plumbing: Plumbing, new: str, *, ours: bool) -> None:
    """Remove the locks of main and HEAD where they are those our killed update-ref left.

    Main's holds the new commit's id then, and HEAD's, which it takes for the reflog, is empty; `ours` says that the
    index's is there, which comes before them. After a power loss both may be empty; a lock that stays so is no
    running command's.
    """
    common = plumbing.repository.common_dir
    for lock in (Path(f"{common / plumbing.repository.main}.lock"), common / "HEAD.lock"):
        try:
            content = lock.read_text("utf-8", "replace").strip()
            stale = time.time() - lock.stat().st_mtime > _EMPTY_LOCK_SECONDS_MIN
        except OSError:
            continue  # there is none
        if content == new or (not content and (stale or (ours and lock.name == "HEAD.lock"))):
            lock.unlink(missing_ok=True)
            ours = True


def _files_are_new(plumbing: Plumbing, old: str, new: str, descriptor: int) -> bool:
    """Tell whether index and files are the new ones already, and only our lock is gone: a person removed it."""
    trees = holding(plumbing.repository, plumbing.repository.main)
    if len(trees) != 1 or not trees[0].reachable or trees[0].under_way() is not None:
        return False
    move = make_move(plumbing, trees[0], old, new, descriptor)
    if not local_changes(move.git(), move.changes) or not index_is_new(move):
        return False
    unstaged = move.git().run("diff-files", "--name-only", "-z", "--no-renames").stdout
    return not set(unstaged.decode("utf-8", "surrogateescape").split("\0")) & set(move.changes)
