"""Finishes or undoes a landing that was cut off between its intent and its record (law 7)."""

import time
from pathlib import Path

from noface.git.forward import cut_off, index_is_new, local_changes
from noface.git.land import advance_alone, landing
from noface.git.mend import make_move, mend
from noface.git.outcome import Landed, Moved, Result
from noface.git.plumbing import Plumbing
from noface.git.refs import RefUpdate
from noface.git.worktrees import holding, worktrees

_EMPTY_LOCK_SECONDS_MIN = 10.0


def settle(plumbing: Plumbing, old: str, new: str, note: str) -> Result:
    """Bring an intended move of main from `old` to `new` to an end; harmless to repeat.

    Raises UsageError where main is gone, GitError where git cannot be used.
    """
    with landing(plumbing) as descriptor:
        _remove_own_ref_lock(plumbing, new)
        for tree in worktrees(plumbing.repository):
            held = mend(plumbing, tree, descriptor) if tree.reachable and cut_off(tree) is not None else None
            if held is not None:
                return held
        main = plumbing.main()
        if plumbing.is_ancestor(new, main):
            return Landed(new)
        if main != old:
            return Moved(main)
        if _files_are_new(plumbing, old, new, descriptor):
            plumbing.refs.apply(RefUpdate(plumbing.repository.main, new, old))
            return Landed(new)
        return advance_alone(plumbing, old, new, note, descriptor)


def _remove_own_ref_lock(plumbing: Plumbing, new: str) -> None:
    """Remove main's lock file where it is the one our killed update-ref left: it holds the new commit's id.

    After a power loss it may be empty; one that stays so is no running command's.
    """
    lock = Path(f"{plumbing.repository.common_dir / plumbing.repository.main}.lock")
    try:
        content = lock.read_text("utf-8", "replace").strip()
        old_enough = time.time() - lock.stat().st_mtime > _EMPTY_LOCK_SECONDS_MIN
    except OSError:
        return  # there is none
    if content == new or (not content and old_enough):
        lock.unlink(missing_ok=True)


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
