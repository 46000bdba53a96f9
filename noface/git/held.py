"""Makes objects and holds them by a ref, so that no pruning takes them (law 2).

Between an object's making and its ref a `git gc --prune=now` of the person's deletes it, with what it stands on. What
the ref holds is therefore looked over once it is held, and made again where something has gone meanwhile.

A pruning that began before the ref was there may still delete what it did not know. While a `git gc` is seen at work
the objects are packed as well, which it leaves alone: one that ended before has deleted what it would, and one that
begins later sees the ref. (A bare `git prune --expire=now` leaves no sign to see. A pack for each attempt of every run
would be too many.)
"""

from collections.abc import Callable
from typing import TypeVar

from noface.errors import GitError, RefLockedError
from noface.git.plumbing import Merge, Plumbing
from noface.git.refs import RefUpdate

TRIES_MAX = 20
_Made = TypeVar("_Made")


def held(
    plumbing: Plumbing, ref: str, base: str, make: Callable[[], _Made], commit_of: Callable[[_Made], str | None]
) -> _Made:
    """Return what `make` makes, once `ref` holds the commit or tree that `commit_of` names of it, complete.

    What `base` reaches is taken for complete. Nothing is held where there is nothing to hold. Raises GitError where
    it cannot be made, or is gone each time.
    """
    problem: GitError | None = None
    for _ in range(TRIES_MAX):
        pruned = problem is not None or plumbing.pruned_now()
        try:
            made = make()
            name = commit_of(made)
            if name is None:
                return made
            plumbing.refs.apply(RefUpdate(ref, name))
            if pruned or plumbing.pruned_now():
                plumbing.pack(name, base)
            missing = plumbing.missing(name, base)
        except RefLockedError:
            raise
        except GitError as error:
            problem = error
            continue
        if not missing:
            return made
        problem = GitError(f"objects that noface has just made are gone: {missing}", "Is a `git prune` running?")
    assert problem is not None  # noqa: S101 - it was tried at least once
    raise problem


def held_merge(plumbing: Plumbing, ref: str, ours: str, theirs: str) -> Merge:
    """Merge two commits and hold the resulting tree by `ref`; nothing is held where they conflict."""
    return held(plumbing, ref, ours, lambda: plumbing.merge(ours, theirs), lambda merge: merge.tree)
