"""Tests that fail now and then on main: they count for nobody, but for a change that adds or touches them. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from noface.integrity.inventory import Inventory, Outcome
from noface.integrity.judges import Part, part_of
from noface.integrity.tampering import is_code
from noface.model.listed import UnsteadyTest

WHOLE_GATE = ""
"""What stands for the test where a gate names none."""


REMEMBERED_S = 7 * 86_400.0
"""How long a test counts as unsteady: then main has to show it again."""

Known = Mapping[str, UnsteadyTest]
"""The unsteady tests of one gate's command, by id."""


def still_unsteady(known: Known, now: float) -> dict[str, UnsteadyTest]:
    return {name: test for name, test in known.items() if now < test.at + REMEMBERED_S}


def failed_in(ran: Inventory | None) -> tuple[str, ...]:
    return tuple(name for name, outcome in ran.tests if outcome is Outcome.FAILED) if ran else ()


def passed_in(ran: Inventory | None) -> frozenset[str]:
    return frozenset(name for name, outcome in (ran.tests if ran else ()) if outcome is Outcome.PASSED)


def excused(ran: Inventory, tests: Collection[str]) -> Inventory:
    """Return a run in which these tests count as passed: a change that skips one later is still held to it."""
    outcomes = tuple((name, Outcome.PASSED if name in tests else outcome) for name, outcome in ran.tests)
    more = sum(outcome is not before for (_, outcome), (_, before) in zip(outcomes, ran.tests, strict=True))
    return replace(ran, tests=outcomes, told=(*ran.told, more) if ran.told else ())


def of_the_change(tests: Iterable[str], main: Inventory | None, changed: Collection[str]) -> tuple[str, ...]:
    """Return those of the tests that a change adds, or whose file it touches; any file of tests if ids tell none."""
    ids = tuple(tests)
    on_main = {name for name, _ in main.tests} if main is not None else {*ids}
    any_test = any(part_of(path) is Part.TEST for path in changed)
    files = {
        test: test.partition("::")[0].rpartition(" ")[2] for test in ids if "::" in test
    }  # cargo's binary is first
    touched = (test for test in ids if (files[test] in changed if is_code(files.get(test, "")) else any_test))
    own = {*touched, *(test for test in ids if test not in on_main)}
    return tuple(test for test in ids if test in own)
