"""The attempt that the next one starts from."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noface.model.attempt import PastAttempt
from noface.model.taxonomy import INTERRUPTED, FailureKind
from noface.recovery.policy_state import best_attempt


def attempt(number, gates=1, failing=1, outcome="TEST_FAILURE", **more):
    given = {"patch_hash": f"p{number}", "candidate": f"c{number}"} | more
    return PastAttempt(number, "m", 1, outcome, charged=True, gates_passed=gates, failing_tests=failing, **given)


def best(*attempts, gates=1, accept=None):
    chosen = best_attempt(attempts, project_gates=gates, accept_failing=accept)
    return chosen.number if chosen is not None else None


def test_without_attempts_the_next_one_starts_from_main():
    assert best() is None


def test_more_gates_passed_beats_fewer_failing_tests_and_the_newest_wins_a_draw():
    assert best(attempt(1, gates=2, failing=9), attempt(2, gates=1, failing=1)) == 1
    assert best(attempt(1, failing=3), attempt(2, failing=2), attempt(3, failing=4)) == 2
    assert best(attempt(1), attempt(2)) == 2


@pytest.mark.parametrize("outcome", ["NO_DIFF", "GATE_TAMPERING", "BOUNDARY_VIOLATION", INTERRUPTED])
def test_work_of_these_outcomes_is_never_built_upon(outcome):
    assert best(attempt(1, gates=9, failing=0, outcome=outcome)) is None


def test_an_attempt_that_left_nothing_is_no_start():
    assert best(attempt(1, patch_hash="")) is None
    assert best(attempt(1, candidate=None)) is None


def test_work_that_was_never_judged_is_better_than_none_and_worse_than_any_that_was():
    timed_out = attempt(2, gates=0, failing=None, outcome="TIMEOUT")
    assert best(timed_out) == 2
    assert best(attempt(1, gates=0, failing=99), timed_out) == 1


def test_where_accept_tells_main_takes_part():
    assert best(attempt(1, gates=2, failing=1), gates=2, accept=1) is None
    assert best(attempt(1, gates=2, failing=1), gates=2, accept=2) == 1
    assert best(attempt(1, gates=1, failing=0), gates=2, accept=3) is None
    assert best(attempt(1, gates=0, failing=None, outcome="TIMEOUT"), gates=2, accept=3) is None


ATTEMPTS = st.lists(
    st.builds(
        attempt,
        st.just(0),
        st.integers(0, 3),
        st.none() | st.integers(0, 5),
        st.sampled_from([*(kind.value for kind in FailureKind), INTERRUPTED]),
    ),
    max_size=6,
).map(lambda found: [replace(a, number=n, patch_hash=f"p{n}") for n, a in enumerate(found, 1)])


@given(ATTEMPTS, st.none() | st.integers(0, 5))
def test_nothing_usable_is_better_than_the_best(attempts, accept):
    chosen = best_attempt(tuple(attempts), project_gates=2, accept_failing=accept)
    if chosen is None:
        return
    for other in attempts:
        if other.outcome in (INTERRUPTED, "NO_DIFF", "GATE_TAMPERING", "BOUNDARY_VIOLATION"):
            assert chosen is not other
        elif other.failing_tests is not None:
            assert chosen.failing_tests is not None
            assert (other.gates_passed, -other.failing_tests) <= (chosen.gates_passed, -chosen.failing_tests)
