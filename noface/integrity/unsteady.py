"""Tests that fail now and then: what is remembered of those on main, and whose a failure is that came and went. Pure.

An unsteady test counts for nobody: it neither blocks work nor charges a worker. So that no change can make a failure of
its own look like one, only what main shows is unsteady, and never a test that the change adds or whose file it touches.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from noface.integrity.inventory import Inventory, Outcome
from noface.integrity.judges import Part, part_of
from noface.integrity.tampering import is_code
from noface.model.unsteady import UnsteadyTest

WHOLE_GATE = ""
"""What stands for the test where a gate names none."""
REMEMBERED_MAX = 500


@dataclass(frozen=True, slots=True)
class SteadinessRules:
    """`runs`: how many runs on main may show that a test is unsteady there, before the change is to blame.

    `forget_after`: how many runs on main it must pass, or fail, in a row to count as steady again.
    """

    runs: int = 10
    forget_after: int = 10


Known = Mapping[str, UnsteadyTest]
"""The unsteady tests of one gate's command, by id."""


def after_run(known: Known, failed: Collection[str], passed: Collection[str], at: float, forget_after: int) -> Known:
    """Return what is known after one more run on main, in which these tests failed and passed.

    A test that has passed often enough in a row is forgotten, and one that has failed so: that is no unsteadiness. One
    that was not run stays as it is.
    """
    now: dict[str, UnsteadyTest] = {}
    for name, record in known.items():
        seen = record
        if name in failed:
            seen = record._replace(failed=record.failed + 1, last_at=at, steady=0, red=record.red + 1)
        elif name in passed:
            seen = record._replace(steady=record.steady + 1, red=0)
        if seen is not record:
            seen = seen._replace(runs=record.runs + 1)
        if max(seen.steady, seen.red) < forget_after:
            now[name] = seen
    return now


def failed_in(ran: Inventory | None) -> tuple[str, ...]:
    """Return the ids of the tests that failed in a run."""
    return tuple(name for name, outcome in ran.tests if outcome is Outcome.FAILED) if ran is not None else ()


def passed_in(ran: Inventory | None) -> frozenset[str]:
    """Return the ids of the tests that passed in a run."""
    return (
        frozenset(name for name, outcome in ran.tests if outcome is Outcome.PASSED) if ran is not None else frozenset()
    )


def excused(ran: Inventory, tests: Collection[str]) -> Inventory:
    """Return a run in which these tests count as passed: a change that skips one later is still held to it."""
    outcomes = ((name, Outcome.PASSED if name in tests else outcome) for name, outcome in ran.tests)
    return replace(ran, tests=tuple(outcomes))


def of_the_change(tests: Iterable[str], main: Inventory | None, changed: Collection[str]) -> tuple[str, ...]:
    """Return those of the tests that a change adds, or whose file it touches.

    Where a test's id does not tell its file, every changed file of tests counts as its own.
    """
    ids = tuple(tests)
    on_main = {name for name, _ in main.tests} if main is not None else {*ids}
    any_test = any(part_of(path) is Part.TEST for path in changed)
    return tuple(test for test in ids if test not in on_main or _touches(test, changed, any_test=any_test))


def _touches(test: str, changed: Collection[str], *, any_test: bool) -> bool:
    place, separator, _ = test.partition("::")
    path = place.rpartition(" ")[2]  # cargo names the binary first
    return path in changed if separator and is_code(path) else any_test
