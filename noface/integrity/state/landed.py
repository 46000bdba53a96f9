"""Tells noface's landings from commits whose message only quotes one. Pure.

A message is only words: people quote it, and reverts, cherry-picks and squashes take it along. What holds without the
database is where a commit stands:

1. A landing merges an attempt, whose trailers name the same issue and an outcome.
2. One that does not (`squash`, or what is added to a pull request) names its first parent in the trailer Noface-Base.
3. An attempt that passed, and that a person's rebase has put on main itself, says so in Noface-Outcome.
4. A commit that lands several issues names its first parent in Noface-Base, and no issue: the landings are those
   between its two parents.

Half-done work that a person takes to main is theirs, and so is a message with the trailers of several issues.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from noface.model.taxonomy import PASSED


@dataclass(frozen=True, slots=True)
class TrailedCommit:
    """A commit with Noface-Issue trailers; `base` and `outcome` are "" without those. `at` is in epoch seconds."""

    commit: str
    parents: tuple[str, ...]
    tree: str
    at: float
    issues: tuple[str, ...]
    base: str = ""
    outcome: str = ""
    brought_by: "TrailedCommit | None" = None

    @property
    def landing(self) -> "TrailedCommit":
        return self.brought_by or self

    @property
    def issue(self) -> str:
        return self.issues[0]

    @property
    def parent(self) -> str:
        return self.parents[0]


def is_landing(claimed: TrailedCommit, attempts: Mapping[str, str], *, on_main: bool) -> bool:
    """True if a commit is a landing.

    `attempts` names the issue of each of its parents that is an attempt; `on_main` tells that it is one of main's first
    parents, and not behind a merge.
    """
    if len(claimed.issues) != 1 or not claimed.parents:
        return False
    if claimed.outcome:
        return on_main and claimed.outcome == PASSED
    merges = any(attempts.get(each) == claimed.issue for each in claimed.parents[1:])
    return merges or claimed.base == claimed.parent
