"""What a run says of main's gates: how far one is, and how many tests each ran."""

import re

import pytest

from noface.engine.preflight import count_of_tests as told
from noface.integrity.inventory import Outcome, inventory
from noface.model.gate import GateResult, GateSpec


@pytest.mark.parametrize(
    ("summary", "runner", "said"),
    [(None, "vitest", "unit (3 tests)"), (2, "pytest", "unit (2 tests)"), (2, "cargo test", "unit (3 tests)")],
)
def test_tests_are_counted_by_name_where_the_summary_does_not_count_them_all(summary, runner, said):
    named = inventory([(f"t{number}", Outcome.PASSED) for number in range(3)], runner)
    assert told(GateResult(GateSpec("unit", "x"), "tree", 0, 1.0, tests_run=summary), named) == said


@pytest.mark.thorough
def test_a_long_gate_of_main_says_how_far_it_is(project):
    project.config(gate="echo half; test -e b.txt || sleep 6; echo whole")
    project.issue(1)
    project.commit()
    assert re.search(r"gate check of main goes on after \d+\.\ds: half", project.run())
