"""Draw a sample's bugs from the catalogue: other ones for every seed, each class at least once."""

import random

from noface.demo.catalogue import CATALOGUE, Bug, BugClass

ONE_EDIT_COUNT = 4
"""Bugs of one edit, the one that the dependent bug needs among them."""


def draw(seed: int | None) -> tuple[Bug, ...]:
    """Nine bugs in the order of their issues; a bug comes after the one it needs. No seed is seed 0."""
    chance = random.Random(seed or 0)  # noqa: S311 - a sample project is no secret
    by_class = {kind: [bug for bug in CATALOGUE if bug.kind is kind] for kind in BugClass}
    dependent = chance.choice(by_class[BugClass.DEPENDENT])
    needed = next(bug for bug in CATALOGUE if bug.name == dependent.needs)
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
