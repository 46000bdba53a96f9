"""The bugs that sample projects are made of, and the edits that the scripted worker has for them."""

import random
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources

ONE_EDIT_COUNT = 4
"""Bugs of one edit in a sample, the one that the dependent bug needs among them."""


class BugClass(StrEnum):
    """What it takes until a bug is repaired: the part that the worker plays."""

    ONE_EDIT = "one edit"
    """The first attempt is right."""
    FEEDBACK = "feedback"
    """The first edit passes the acceptance test and breaks the suite; told what broke, the worker has a better one."""
    SECOND_TIER = "second tier"
    """Only the second tier has the edit."""
    DEPENDENT = "dependent"
    """One edit, but its acceptance test also needs another bug repaired."""
    OUT_OF_REACH = "out of reach"
    """Missing code, and no edit for it."""


@dataclass(frozen=True, slots=True)
class Bug:
    """A fault in the sample library, and the issue that reports it.

    `wrong` stands in the sample in place of `right`, which occurs once in the library's `module`; `first` is the edit
    of class FEEDBACK that breaks the suite. If code is missing all three are empty. `acceptance` is the test file
    that fails while the bug is there. `needs` names the bug that must be repaired before.
    """

    name: str
    kind: BugClass
    module: str
    title: str
    body: str
    acceptance: str
    right: str = ""
    wrong: str = ""
    first: str = ""
    priority: int = 2
    labels: tuple[str, ...] = ("bug",)
    needs: str | None = None

    @property
    def path(self) -> str:
        return f"oddments/{self.module}.py"


@cache
def catalogue() -> tuple[Bug, ...]:
    text = resources.files("noface.demo").joinpath("catalogue.toml").read_text(encoding="utf-8")
    return tuple(
        Bug(**{**entry, "kind": BugClass(entry["kind"]), "labels": tuple(entry.get("labels", ["bug"]))})
        for entry in tomllib.loads(text)["bug"]
    )


def draw(seed: int | None) -> tuple[Bug, ...]:
    """Nine bugs in the order of their issues, each class at least once, after the bugs they need; None is seed 0."""
    chance = random.Random(seed or 0)  # noqa: S311 - a sample project is no secret
    by_class = {kind: [bug for bug in catalogue() if bug.kind is kind] for kind in BugClass}
    dependent = chance.choice(by_class[BugClass.DEPENDENT])
    needed = next(bug for bug in catalogue() if bug.name == dependent.needs)
    others = [bug for bug in by_class[BugClass.ONE_EDIT] if bug is not needed]
    drawn = [dependent, needed, *chance.sample(others, ONE_EDIT_COUNT - 1)]
    drawn += [
        chance.choice(by_class[kind]) for kind in (BugClass.FEEDBACK, BugClass.SECOND_TIER, BugClass.OUT_OF_REACH)
    ]
    again = by_class[chance.choice((BugClass.FEEDBACK, BugClass.SECOND_TIER))]
    drawn.append(chance.choice([bug for bug in again if bug not in drawn]))
    chance.shuffle(drawn)
    here, there = drawn.index(dependent), drawn.index(needed)
    if here < there:
        drawn[here], drawn[there] = needed, dependent
    return tuple(drawn)
