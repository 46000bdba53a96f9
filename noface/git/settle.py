"""Finishes or undoes a landing that was cut off between its intent and its record (law 7)."""

from noface.errors import RefLockedError
from noface.git.forward import cut_off, index_is_new, local_changes
from noface.git.land import advance_alone, landing
from noface.git.mend import make_move, mend
from noface.git.outcome import Held, Landed, Moved, Result
from noface.git.plumbing import Plumbing
from noface.git.ref_locks import remove_own_ref_locks
from noface.git.refs import RefUpdate
from noface.git.switched import bring_along
from noface.git.worktrees import holding, worktrees


def settle(plumbing: Plumbing, old: str, new: str, note: str) -> Result:
    """Bring an intended move of main from `old` to `new` to an end; harmless to repeat.

    Raises UsageError where main is gone, GitError where git cannot be used.
    """
    with landing(plumbing) as descriptor:
        cut = [tree for tree in worktrees(plumbing.repository) if tree.reachable and cut_off(tree) is not None]
        remove_own_ref_locks(plumbing, new, ours=bool(cut))
        for tree in cut:
            held = mend(plumbing, tree, descriptor)
            if held is not None:
                return held
        bring_along(plumbing, descriptor)
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
        held = tuple(held for tree in cut if (held := mend(plumbing, tree, descriptor)) is not None)
        bring_along(plumbing, descriptor)
        return held


def _files_are_new(plumbing: Plumbing, old: str, new: str, descriptor: int) -> bool:
    """Tell whether index and files are the new ones already, and only our lock is gone: a person removed it."""
    trees = holding(plumbing.repository, plumbing.repository.main)
    if len(trees) != 1 or not trees[0].reachable or trees[0].under_way() is not None:
        return False
    move = make_move(plumbing, trees[0], old, new, descriptor)
    if not local_changes(move.git(), move.changes) or not index_is_new(move):
        return False
    unstaged = move.git().ask("diff-files", "--name-only", "-z", "--no-renames")
    return not set(unstaged.split("\0")) & set(move.changes)
