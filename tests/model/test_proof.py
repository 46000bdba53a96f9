"""What counts as proved (law 1)."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from noface.model.failure import Failure
from noface.model.gate import GateResult, GateSpec, all_hard_passed, gate_key, worst
from noface.model.taxonomy import FailureKind

UNIT, LINT, SOFT = GateSpec("unit", "pytest"), GateSpec("lint", "ruff"), GateSpec("types", "mypy", hard=False)
RED = Failure(FailureKind.TEST_FAILURE, "red", rule="r")


def ran(gate, *, red=False, known=False):
    return GateResult(gate, "tree", 1 if red else 0, 1.0, failure=RED if red else None, only_known_failures=known)


def test_every_hard_gate_must_have_run_and_passed():
    gates = (UNIT, LINT, SOFT)
    assert all_hard_passed(gates, [ran(UNIT), ran(LINT)])
    assert all_hard_passed(gates, [ran(UNIT), ran(LINT), ran(SOFT, red=True)])
    assert not all_hard_passed(gates, [ran(UNIT)])
    assert not all_hard_passed(gates, [ran(UNIT), ran(LINT, red=True)])
    assert not all_hard_passed(gates, [])


def test_a_gate_that_was_both_red_and_green_is_no_proof():
    assert not all_hard_passed((UNIT,), [ran(UNIT, red=True), ran(UNIT)])


def test_red_as_on_main_passes_where_only_new_failures_count():
    assert all_hard_passed((UNIT,), [ran(UNIT, red=True, known=True)])


def test_a_gate_of_the_same_name_with_another_command_proves_nothing():
    assert not all_hard_passed((UNIT,), [ran(replace(UNIT, command="true"))])


def test_the_first_red_hard_gate_is_the_one_to_tell():
    results = [ran(SOFT, red=True), ran(UNIT), ran(LINT, red=True)]
    assert worst(results) is results[2]
    assert worst(results[:2]) is None


@given(st.sampled_from(["name", "command", "kind", "timeout_s", "report", "retries"]))
def test_the_memo_key_changes_with_the_tree_the_definition_and_the_environment(name):
    other = {"name": "x", "command": "x", "kind": "lint", "timeout_s": 1.0, "report": "r.xml", "retries": 1}
    key = gate_key("tree", UNIT, "env")
    assert key == gate_key("tree", replace(UNIT), "env")
    assert len({key, gate_key("tree2", UNIT, "env"), gate_key("tree", UNIT, "env2")}) == 3
    assert gate_key("tree", replace(UNIT, **{name: other[name]}), "env") != key
