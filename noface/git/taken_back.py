"""Keeps off main what a person took back from it, by an amend, a rebase, a reset or a filter.

Work that began on such a main holds it twice: in its files and in its history. A merge would bring back both. So only
what the work itself changed is brought onto today's main, as a commit that has nothing of the old history. A worker may
remember that main and restore its files, as a change of its own: a file that is again exactly what was taken away is as
on today's main, unless an issue's landing had brought it, which may be worked at again.
"""

from collections.abc import Collection
from dataclasses import dataclass

from noface.git.plumbing import Merge, Plumbing
from noface.git.survey import main_moves
from noface.model.attempt import ABSENT

_LOST_MAX = 5
"""So many mains that were taken back, the newest of them, are compared with what work brings."""


@dataclass(frozen=True, slots=True)
class WorkOnMain:
    """Work as it is on another main: the merge's tree or the paths in conflict, and the commit that may go to main.

    `commit` is the work itself unless main has lost what it `began` on, a commit.
    """

    merge: Merge
    commit: str
    began: str | None = None


def began_on(plumbing: Plumbing, mains: Collection[str], work: str, main: str) -> str | None:
    """Return the newest of `mains`, where main once stood, that `work` holds and `main` does not; None without one.

    Commits that are gone from the repository are passed over. Raises GitError if git cannot tell.
    """
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


def _returned(plumbing: Plumbing, lost: tuple[str, ...], main: str, tree: str) -> tuple[str | None, tuple[str, ...]]:
    """Return a main that was taken back and the files of it that `tree` has and today's main has not, or not so."""
    for commit in lost[:_LOST_MAX]:
        paths = tuple(change.path for change in plumbing.changes(main, tree) if change.new_mode != ABSENT)
        then, now = plumbing.entries(commit, paths), plumbing.entries(tree, paths)
        same = tuple(path for path in paths if path in then and then[path] == now.get(path))
        literal = (f":(top,literal){path}" for path in same)
        landing = ("log", "-1", "--format=%H", "--grep=^Noface-Issue: ", f"{main}..{commit}", "--", *literal)
        if same and not plumbing.git.ask(*landing):
            return commit, same
    return None, ()


def merge_onto(plumbing: Plumbing, main: str, work: str, began: str | None) -> Merge:
    """Merge `work` with `main`; if it `began` on a main that was taken back, only what has changed since then."""
    if began is None:
        return plumbing.merge(main, work)
    # A merge base cannot be named to `git merge-tree` before 2.40: it is made, as the one commit that both sides have.
    base = plumbing.commit_tree(plumbing.tree(began), (), "Where the work began\n")
    ours, theirs = (plumbing.commit_tree(plumbing.tree(side), (base,), "A side of a merge\n") for side in (main, work))
    return plumbing.merge(ours, theirs)


def bring_onto(plumbing: Plumbing, main: str, work: str, mains: Collection[str]) -> WorkOnMain:
    """Merge `work` with `main`; `mains` are the commits where main stood once. No ref holds what comes of it."""
    lost = taken_back(plumbing, mains, main)
    began = next((commit for commit in lost if plumbing.is_ancestor(commit, work)), None)
    merge, from_old = merge_onto(plumbing, main, work, began), began
    if merge.tree is not None and lost:
        restored, paths = _returned(plumbing, lost, main, merge.tree)
        today = plumbing.entries(main, paths)
        tree = plumbing.tree_with(merge.tree, {path: today.get(path) for path in paths}) if paths else merge.tree
        merge, from_old = Merge(tree, ()), began or restored
    if merge.tree is None or from_old is None:
        return WorkOnMain(merge, work, from_old)
    message = plumbing.git.ask("log", "-1", "--format=%B", work)  # its trailers name issue and attempt
    return WorkOnMain(merge, plumbing.commit_tree(merge.tree, (main,), message), from_old)


def stood_at(plumbing: Plumbing, commit: str, main: str) -> bool:
    """True if main stood at `commit` and has been moved away since, as its reflog tells; it is at `main` now.

    Git writes the reflog before the ref: an update that was killed between the two has not moved it.
    """
    moves = main_moves(plumbing)
    return any(move.new == commit for move in moves) and (moves[-1].new, moves[-1].old) != (commit, main)
