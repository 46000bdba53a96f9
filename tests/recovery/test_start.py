"""Where the next attempt starts: what it holds, and why."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noface.data import table
from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.start import EarlierWork, Origin, StartPoint, StartReason
from noface.model.taxonomy import INTERRUPTED, PASSED, FailureKind
from noface.recovery.start import best_attempt, from_main, start_of

NO_BASE = ["NO_DIFF", "GATE_TAMPERING", "BOUNDARY_VIOLATION", "MERGE_CONFLICT", INTERRUPTED]


def attempt(number, gates=1, failing=1, outcome="TEST_FAILURE", **more):
    kind = FailureKind.__members__.get(outcome)
    charged = kind is not None and not kind.category.external
    gate = "unit" if failing is not None else None
    failure = Failure(kind, "it failed", rule="r", gate=gate, charged=charged) if kind is not None else None
    given = {"patch_hash": f"p{number}", "candidate": f"c{number}", "charged": charged, "failure": failure} | more
    return PastAttempt(number, "m", 1, outcome, gates_passed=gates, failing_tests=failing, **given)


def start(*attempts, **more):
    found = start_of(attempts, **more)
    return found.reason, found.number, found.commit


def best(*attempts, accept=None):
    chosen = best_attempt(attempts, accept_failing=accept)
    return chosen.number if chosen is not None else None


# --- the best attempt so far


def test_more_gates_passed_beats_fewer_failing_tests_and_the_newest_wins_a_draw():
    assert start() == (StartReason.NOTHING_YET, 0, None)
    assert start(attempt(1, gates=2, failing=9), attempt(2, gates=1, failing=1)) == (StartReason.BEST_SO_FAR, 1, "c1")
    assert best(attempt(1, failing=3), attempt(2, failing=2), attempt(3, failing=4)) == 2
    assert best(attempt(1), attempt(2)) == 2


@pytest.mark.parametrize("outcome", NO_BASE)
def test_work_of_these_outcomes_is_never_built_upon(outcome):
    assert best(attempt(1, gates=9, failing=0, outcome=outcome)) is None


def test_an_attempt_that_left_nothing_is_no_start():
    assert start(attempt(1, patch_hash="")) == (StartReason.NOTHING_YET, 0, None)
    assert start(attempt(1, candidate=None)) == (StartReason.NOTHING_YET, 0, None)


def test_work_that_was_never_judged_is_better_than_none_and_worse_than_any_that_was():
    timed_out = attempt(2, gates=0, failing=None, outcome="TIMEOUT")
    assert best(timed_out) == 2
    assert best(attempt(1, gates=0, failing=99), timed_out) == 1
    assert start(timed_out, accept_failing=3) == (StartReason.NOT_JUDGED, 2, None)


def test_where_accept_says_how_main_does_an_attempt_is_a_base_while_no_more_tests_fail_than_there():
    assert start(attempt(1, failing=2), accept_failing=2) == (StartReason.BEST_SO_FAR, 1, "c1")
    assert start(attempt(1, failing=3), accept_failing=2) == (StartReason.WORSE_THAN_MAIN, 1, None)


def test_files_that_do_not_parse_are_no_base_and_what_a_compiler_says_of_a_type_leaves_them_one():
    unparsed = attempt(1, failing=None, outcome="SYNTAX_ERROR")
    assert start(unparsed) == (StartReason.UNPARSED, 1, None)
    assert start(attempt(1, outcome="SYNTAX_ERROR"))[0] is StartReason.BEST_SO_FAR
    assert start(attempt(1), replace(unparsed, number=2, patch_hash="p2")) == (StartReason.BEST_SO_FAR, 1, "c1")


# --- main, and what becomes of the change that is not there


@pytest.mark.parametrize(
    ("outcome", "why", "earlier"),
    [
        ("GATE_TAMPERING", StartReason.TAMPERED, EarlierWork.AVOID),
        ("BOUNDARY_VIOLATION", StartReason.OUT_OF_BOUNDS, EarlierWork.AVOID),
        ("MERGE_CONFLICT", StartReason.CONFLICT, EarlierWork.REDO),
    ],
)
def test_it_says_whether_the_change_is_to_be_made_again_or_to_be_avoided(outcome, why, earlier):
    found = start_of((attempt(1, outcome=outcome),))
    assert (found.reason, found.number, found.holds, found.earlier) == (why, 1, 0, earlier)
    assert found.origin is Origin.MAIN


def test_a_change_that_conflicts_with_main_is_made_again_there_though_older_work_would_merge():
    assert start(attempt(1), attempt(2, outcome="MERGE_CONFLICT")) == (StartReason.CONFLICT, 2, None)
    conflicted = attempt(1, gates=9, outcome="MERGE_CONFLICT")
    assert start(conflicted, attempt(2)) == (StartReason.BEST_SO_FAR, 2, "c2")


def test_what_turns_out_to_conflict_or_to_be_gone_is_main_with_its_reason():
    found = start_of((attempt(1),))
    assert from_main(found, StartReason.GONE) == StartPoint(StartReason.GONE, 1)
    assert from_main(found, StartReason.CONFLICT).earlier is EarlierWork.REDO


# --- work that was cut off


@pytest.mark.parametrize("outcome", [INTERRUPTED, "RATE_LIMITED", "OVERLOADED", "NETWORK", "ENVIRONMENT", "AUTH"])
def test_what_was_cut_off_from_outside_is_gone_on_with(outcome):
    cut = attempt(2, gates=0, failing=None, outcome=outcome)
    assert start(attempt(1, gates=5), cut, accept_failing=1) == (StartReason.CUT_OFF, 2, "c2")
    nothing = replace(cut, number=3, patch_hash="")
    assert start(cut, nothing) == (StartReason.CUT_OFF, 2, "c2")
    assert start(attempt(1), replace(nothing, number=2)) == (StartReason.BEST_SO_FAR, 1, "c1")


def test_what_was_cut_off_before_other_work_was_judged_is_evidence_of_nothing():
    assert start(attempt(1, outcome=INTERRUPTED), attempt(2)) == (StartReason.BEST_SO_FAR, 2, "c2")
    assert start(attempt(1, outcome=INTERRUPTED), attempt(2, outcome="NO_DIFF"))[0] is StartReason.NOTHING_YET


def test_what_the_change_itself_broke_is_judged_work():
    broken = attempt(1, outcome="ENVIRONMENT")
    charged = replace(broken, charged=True, failure=replace(broken.failure, charged=True))
    assert start(charged)[0] is StartReason.BEST_SO_FAR


def test_work_that_passed_and_was_sent_back_is_gone_on_with():
    assert start(attempt(1, gates=3, failing=0, outcome=PASSED)) == (StartReason.BEST_SO_FAR, 1, "c1")


# --- parts and people


def test_attempts_before_a_breakdown_or_a_person_s_commits_do_not_count():
    assert start(attempt(1), attempt(2), divided=2) == (StartReason.DIVIDED, 2, None)
    assert start(attempt(1), attempt(3), divided=2) == (StartReason.BEST_SO_FAR, 3, "c3")
    assert start(attempt(1), by_person=(1, "theirs")) == (StartReason.BY_PERSON, 1, "theirs")
    assert start(attempt(1), attempt(2), by_person=(1, "theirs")) == (StartReason.BEST_SO_FAR, 2, "c2")
    assert start(attempt(1), divided=2, by_person=(1, "theirs"))[0] is StartReason.DIVIDED


# --- what is said of it


def test_every_reason_has_an_entry_and_says_of_which_attempt_it_speaks():
    assert list(table("starts")) == [reason.value for reason in StartReason]
    for reason in StartReason:
        told = StartPoint(reason, 7).told
        assert told.endswith(".")
        assert ("attempt 7" in told.lower()) == (reason not in (StartReason.NOTHING_YET, StartReason.BY_PERSON))
        assert (reason.info.earlier is EarlierWork.NONE) or reason.info.origin is Origin.MAIN


ATTEMPTS = st.lists(
    st.builds(
        attempt,
        st.just(0),
        st.integers(0, 3),
        st.none() | st.integers(0, 5),
        st.sampled_from([*(kind.value for kind in FailureKind), INTERRUPTED]),
    ),
    max_size=6,
).map(lambda found: tuple(replace(a, number=n, patch_hash=f"p{n}") for n, a in enumerate(found, 1)))


@given(ATTEMPTS, st.none() | st.integers(0, 5))
def test_nothing_usable_is_better_than_the_best(attempts, accept):
    chosen = best_attempt(attempts, accept_failing=accept)
    found = start_of(attempts, accept_failing=accept)
    assert (found.commit is None) == (found.origin is Origin.MAIN)
    if chosen is None:
        assert found.reason is not StartReason.BEST_SO_FAR
        return
    assert chosen.outcome not in NO_BASE
    for other in attempts:
        worse = accept is not None and (other.failing_tests is None or other.failing_tests > accept)
        if other.outcome not in NO_BASE and other.failing_tests is not None and not worse:
            assert chosen.failing_tests is not None
            assert (other.gates_passed, -other.failing_tests) <= (chosen.gates_passed, -chosen.failing_tests)
