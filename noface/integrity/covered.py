"""What a change adds and no test runs: from what the processes of test gates have counted. Pure.

A line that nothing counts is neither run nor unrun. A condition is one-sided if it was met and always
turned out alike: if it asks for its surroundings alone, it may be there for the tests.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, groupby

from noface.integrity.surroundings import Condition, Place
from noface.model.failure import Failure
from noface.model.quoting import some
from noface.model.taxonomy import FailureKind

SURROUNDINGS = "asks-surroundings"
UNRUN = "no test runs these added lines"
_SHOWN_MAX = 10
_LINES_MAX = 5_000


@dataclass(frozen=True, slots=True)
class FollowedFile:
    """A file of a change whose runs are followed: the lines that are new in its text, and conditions among them."""

    path: str
    text: str
    lines: frozenset[int]
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Follows:
    """What of a tree is followed; `go` is the name of the module that its Go code is, if its coverage is wanted."""

    tree: str = ""
    files: tuple[FollowedFile, ...] = ()
    go: str = ""


NOTHING_FOLLOWED = Follows()


@dataclass(frozen=True, slots=True)
class Covered:
    """What is known of the runs of one file: lines run and not run, and how conditions turned out, by their places."""

    run: frozenset[int] = frozenset()
    unrun: frozenset[int] = frozenset()
    outcomes: Mapping[Place, frozenset[bool]] = field(default_factory=dict)


Count = Callable[[int], int | None]
"""How often the place at an offset of a text was run; None if nothing counts there."""


def joined(runs: Iterable[Covered]) -> Covered:
    """Return what several processes or gates have run together."""
    every = tuple(runs)
    run = frozenset(line for each in every for line in each.run)
    places = {place for each in every for place in each.outcomes}
    outcomes = {p: frozenset(is_ for each in every for is_ in each.outcomes.get(p, ())) for p in places}
    return Covered(run, frozenset(line for each in every for line in each.unrun) - run, outcomes)


def counted(file: FollowedFile, count: Count) -> Covered:
    """Return what counts of how often each place was run tell of a file; None if nothing counts.

    A place is an offset in the file's text.
    """
    run, unrun = set[int](), set[int]()
    lines = file.text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    for number in sorted(file.lines)[:_LINES_MAX]:
        words = lines[number - 1].strip() if number <= len(lines) else ""
        if any(letter.isalnum() for letter in words) and not words.startswith(("//", "/*", "*")):
            times = count(starts[number - 1] + lines[number - 1].index(words))
            if times is not None:
                (run if times else unrun).add(number)
    outcomes = {}
    for each in file.conditions:
        met, held = count(each.at), count(each.then)
        if met and held is not None:
            outcomes[each.place] = frozenset({held > 0, held >= met})
    return Covered(frozenset(run), frozenset(unrun), outcomes)


def by_ranges(ranges: Iterable[tuple[int, int, int]]) -> Count:
    """Return how often a place was run, by nested ranges of start, end and count: the innermost one tells."""
    every = sorted(ranges, key=lambda each: (each[0], -each[1]))

    def count(at: int) -> int | None:
        innermost, size = None, 0
        for start, end, times in every[: bisect_right(every, (at, 1 << 60, 0))]:
            if start <= at < end and (innermost is None or end - start <= size):
                innermost, size = times, end - start
        return innermost

    return count


def one_sided(files: Iterable[FollowedFile], covered: Mapping[str, Covered]) -> tuple[Condition, ...]:
    """Return the conditions of a change that tests have met, and that always turned out alike."""
    none: frozenset[bool] = frozenset()
    known = {file.path: covered[file.path].outcomes for file in files if file.path in covered}
    return tuple(c for file in files for c in file.conditions if len(known.get(c.path, {}).get(c.place, none)) == 1)


def unentered(files: Iterable[FollowedFile], covered: Mapping[str, Covered]) -> str:
    """Return which added lines no test runs, as a sentence; "" if all known ones are run."""
    stretches = [
        f"{file.path}:{stretch}"
        for file in files
        if file.path in covered
        for stretch in _stretches(covered[file.path].unrun & file.lines)
    ]
    return f"{UNRUN}: {some(tuple(stretches), _SHOWN_MAX)}" if stretches else ""


def _stretches(lines: Iterable[int]) -> list[str]:
    """Return numbers of lines as stretches, such as 3-5."""
    result = []
    for _, stretch in groupby(enumerate(sorted(lines)), lambda pair: pair[1] - pair[0]):
        numbers = [number for _, number in stretch]
        result.append(f"{numbers[0]}-{numbers[-1]}" if len(numbers) > 1 else str(numbers[0]))
    return result


def asks_surroundings(conditions: tuple[Condition, ...], gate: str) -> Failure:
    """Return the failure of a change that may be green because it knows where it runs."""
    named = tuple(f"{c.path}:{c.line} `{c.text}`, which asks for {', '.join(sorted(c.asks))}" for c in conditions)
    message = (
        f"what it does depends on its surroundings, and the tests saw one side only: {some(named, _SHOWN_MAX)}. Nothing"
        " that a caller gives decides there. Do without it, have the caller give what decides, or test both sides"
    )
    return Failure(
        FailureKind.GATE_TAMPERING,
        message,
        rule=SURROUNDINGS,
        location=f"{conditions[0].path}:{conditions[0].line}",
        signature=f"{SURROUNDINGS}:{','.join(sorted({f'{c.path} {c.text}' for c in conditions})[:_SHOWN_MAX])}",
        evidence=named[:_SHOWN_MAX],
        gate=gate,
    )
