"""Whose the scratch branch `noface/<issue>` is: noface's, or a person's who has committed there.

A commit of a person's there is never moved away: the issue waits, and `noface retry` starts from it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from noface.model.request import RequestKind

PERSON = "person-"
"""Below an issue's refs, `person-<n>-<id>` holds what a person had committed when attempt n was the last."""

LEFT = "branch"
"""Below an issue's refs, where noface left the scratch branch."""

ASIDE = "aside-"
"""Below an issue's refs, `aside-<n>` holds what attempt n left that is no part of its change."""

IN_GIT = "in-git-"
"""Below an issue's refs, `in-git-<n>-<k>` holds what the git of attempt n's worker held beside its files."""

REMOVED_FILE = "removed.json"
"""In the folder of an attempt whose files went: when and why, for whoever looks for them."""

SEEN = "seen"


@dataclass(frozen=True, slots=True)
class Scratch:
    """The scratch branch `name` of an issue: it stands `at` a commit, None without one.

    `refs` are the issue's refs by their last name.
    """

    name: str
    at: str | None
    refs: Mapping[str, str]

    @property
    def left(self) -> str | None:
        return self.refs.get(LEFT)

    @property
    def adopted(self) -> tuple[int, str] | None:
        names = [name.split("-") for name in self.refs if name.startswith(PERSON)]
        given = [(int(number), self.refs[f"{PERSON}{number}-{commit}"]) for _, number, commit in names]
        return max(given, key=lambda each: (each[0], each[1] == self.left), default=None)

    def of_a_person(self, made: Collection[str]) -> bool:
        held = {commit for name, commit in self.refs.items() if name == LEFT or not needed_until_landed(name)}
        return self.at is not None and self.at not in made and self.at not in held


def needed_until_landed(name: str) -> bool:
    """True if a ref of an issue, by its last name, may go once the issue is merged."""
    return not name.removeprefix(ASIDE).isdigit() and not name.startswith((PERSON, IN_GIT))


@dataclass(frozen=True, slots=True)
class BranchTaken:
    """Why noface may not move a scratch branch: commits of a person's, or where they have it checked out.

    `remote` is the git remote where the branch is, "" for this repository.
    """

    branch: str
    commit: str = ""
    place: str = ""
    remote: str = ""

    @property
    def reason(self) -> str:
        if self.place:
            return f"{self.branch} is checked out in {self.place}, so it cannot be moved to the newest work"
        if self.remote:
            return f"{self.branch} on {self.remote} holds what noface did not push ({self.commit[:12]})"
        return f"a person has committed to {self.branch} ({self.commit[:12]}); a retry starts from that"

    @property
    def kind(self) -> RequestKind:
        if self.place:
            return RequestKind.BRANCH_CHECKED_OUT
        return RequestKind.BRANCH_ON_REMOTE if self.remote else RequestKind.BRANCH_COMMITTED
