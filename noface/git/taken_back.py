"""Keeps off main what a person took back from it, by an amend, a rebase, a reset or a filter.

Work that began on such a main holds it in files and history: only what it changed itself is brought onto today's main.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from noface.git.plumbing import Merge, Plumbing
from noface.git.survey import main_moves

_LINES_BYTES_MAX = 2_000_000


@dataclass(frozen=True, slots=True)
class WorkOnMain:
    """Work on another main: the merge, the commit that may go to main, and the lost main that it `began` on."""

    merge: Merge
    commit: str
    began: str | None = None


def began_on(plumbing: Plumbing, mains: Collection[str], work: str, main: str) -> str | None:
    """Return the newest of `mains`, where main once stood, that `work` holds and `main` does not; None without one."""
    lost = taken_back(plumbing, mains, main)
    return next((commit for commit in lost if plumbing.is_ancestor(commit, work)), None)


def taken_back(plumbing: Plumbing, mains: Collection[str], main: str) -> tuple[str, ...]:
    """Return where main once stood and what it does not hold any more, the newest first."""
    if plumbing.are_on_line(mains, main):
        return ()
    asked = "".join(f"{commit}\n" for commit in mains)
    lost = plumbing.git.ask("rev-list", "--topo-order", "--ignore-missing", "--stdin", stdin=f"{asked}^{main}\n")
    stood = frozenset(mains)
    return tuple(commit for commit in lost.split() if commit in stood)


def merge_onto(plumbing: Plumbing, main: str, work: str, began: str | None) -> Merge:
    """Merge `work` with `main`; if it `began` on a main that was taken back, only what has changed since then."""
    if began is None:
        return plumbing.merge(main, work)
    return merge_from(plumbing, began, main, work)


def merge_from(plumbing: Plumbing, base: str, *sides: str) -> Merge:
    """Merge two commits or trees by what each changes of `base`, whatever their histories are.

    A merge base cannot be named to `git merge-tree` before 2.40: it is made, as the one commit that both sides have.
    """
    began = plumbing.commit_tree(plumbing.tree(base), (), "Where the work began\n")
    return plumbing.merge(*(plumbing.commit_tree(plumbing.tree(s), (began,), "A side of a merge\n") for s in sides))


def holds(plumbing: Plumbing, tree: str, landing: str) -> bool:
    """True if a commit or tree has all that a landing brought: to bring it again would change nothing.

    If they conflict, since there are lines of others beside its own by now, its own lines are looked for.
    """
    parent = plumbing.resolve(f"{landing}^")
    if parent is None:
        return False
    merged = merge_from(plumbing, parent, tree, landing)
    return merged.tree == plumbing.tree(tree) if merged.tree is not None else _has_lines(plumbing, tree, landing)


def _has_lines(plumbing: Plumbing, tree: str, landing: str) -> bool:
    changes = plumbing.raw_changes(f"{landing}^", landing)
    paths = tuple(change.path for change in changes)
    old, new, now = (plumbing.texts(each, paths, _LINES_BYTES_MAX) for each in (f"{landing}^", landing, tree))
    for path in paths:
        was, brought, has = (Counter(side.get(path, "").splitlines()) for side in (old, new, now))
        if path not in new or brought - was - has or (was - brought) & (has - brought):
            return False
    return True


def reverses(plumbing: Plumbing, commit: str, landing: str, paths: Collection[str]) -> bool:
    undone = merge_from(plumbing, landing, f"{commit}^", f"{landing}^").tree
    before, after = (plumbing.entries(each, tuple(paths)) for each in (f"{commit}^", commit))
    return undone is not None and before != after and plumbing.entries(undone, tuple(paths)) == after


def bring_onto(plumbing: Plumbing, main: str, work: str, mains: Collection[str]) -> WorkOnMain:
    """Merge `work` with `main`; `mains` are the commits where main stood once. No ref holds what comes of it."""
    began = began_on(plumbing, mains, work, main)
    merge = merge_onto(plumbing, main, work, began)
    if merge.tree is None or began is None:
        return WorkOnMain(merge, work, began)
    message = plumbing.git.ask("log", "-1", "--format=%B", work)  # its trailers name issue and attempt
    return WorkOnMain(merge, plumbing.commit_tree(merge.tree, (main,), message), began)


def stood_at(plumbing: Plumbing, commit: str, main: str) -> bool:
    """True if main stood at `commit` and was moved away since, as its reflog tells, which git writes before the ref."""
    moves = main_moves(plumbing)
    return any(move.new == commit for move in moves) and (moves[-1].new, moves[-1].old) != (commit, main)
