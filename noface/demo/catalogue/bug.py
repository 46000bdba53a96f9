"""One bug of the catalogue."""

from dataclasses import dataclass
from enum import StrEnum


class BugClass(StrEnum):
    """What it takes to repair a bug by search."""

    ONE_EDIT = "one edit"
    """A single small edit: the first attempt finds it."""
    FEEDBACK = "feedback"
    """An easier edit passes the acceptance test and breaks the suite; knowing what it broke, the search goes on."""
    SECOND_TIER = "second tier"
    """Two edits at once, or an edit the first tier doesn't know."""
    DEPENDENT = "dependent"
    """One edit, but its acceptance test also needs another bug repaired."""
    OUT_OF_REACH = "out of reach"
    """Missing code: no small edit does it."""


@dataclass(frozen=True, slots=True)
class Bug:
    """A fault in the sample library, and the issue that reports it.

    `wrong` stands in the sample in place of `right`, which occurs once in the library's `module`; where code is
    missing both are empty. `acceptance` is the test file that fails while the bug is there. `needs` names the bug
    that must be repaired before.
    """

    name: str
    kind: BugClass
    module: str
    right: str
    wrong: str
    title: str
    body: str
    acceptance: str
    priority: int = 2
    labels: tuple[str, ...] = ("bug",)
    needs: str | None = None
