"""Where the next attempt starts: what it holds, and why."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noface.data import table
from noface.model.attempt import PastAttempt
from noface.model.failure import TAKEN_BACK, UNCHANGED, Failure
from noface.model.start import EarlierWork, Origin, StartPoint, StartReason
from noface.model.taxonomy import INTERRUPTED, PASSED, FailureKind
from noface.recovery.start import best_attempt, best_left, from_main, start_of

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


def test_work_in_which_two_in_a_row_find_nothing_to_change_is_begun_anew():
    idle = Failure(FailureKind.NO_DIFF, "nothing", rule=UNCHANGED)
    idles = [attempt(n, gates=0, failing=None, outcome="NO_DIFF", patch_hash="", failure=idle) for n in (2, 3)]
    assert start(attempt(1), idles[0], anew=True) == (StartReason.BEST_SO_FAR, 1, "c1")
    assert start(attempt(1), *idles, anew=True) == (StartReason.LEFT_ALONE, 1, None)
    assert start(attempt(1), *idles) == (StartReason.BEST_SO_FAR, 1, "c1")  # a part keeps what it has of the whole
    assert start(attempt(1), idles[0], attempt(3, gates=0), anew=True) == (StartReason.BEST_SO_FAR, 1, "c1")
    elsewhere = replace(idles[1], failure=replace(idle, rule="worked-elsewhere"))
    assert start(attempt(1), idles[0], elsewhere, anew=True) == (StartReason.BEST_SO_FAR, 1, "c1")
    assert start(attempt(1), *idles, attempt(4), anew=True) == (StartReason.BEST_SO_FAR, 4, "c4")


def test_what_a_person_took_back_from_main_is_done_anew_from_main():
    failure = Failure(FailureKind.REVIEW_REJECTED, "taken back by you", rule=TAKEN_BACK)
    back = attempt(2, outcome="REVIEW_REJECTED", failure=failure)
    assert start(attempt(1), back, by_person=(1, "p")) == (StartReason.NOTHING_YET, 0, None)
    assert start(attempt(1), back, chosen=back) == (StartReason.CHOSEN, 2, "c2")
    assert start(attempt(1), back, attempt(3), by_person=(2, "p")) == (StartReason.BEST_SO_FAR, 3, "c3")
    assert start(attempt(1), back, by_person=(2, "p")) == (StartReason.BY_PERSON, 2, "p")


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
    assert start(timed_out, accept_failing=3) == (StartReason.BEST_SO_FAR, 2, "c2")


def test_work_that_was_written_on_top_of_the_best_before_a_limit_is_gone_on_with():
    part = attempt(1, failing=0, changed=("a",))
    more = attempt(2, gates=0, failing=None, outcome="TIMEOUT", changed=("a", "b"))
    assert start(part, more) == (StartReason.BEST_SO_FAR, 2, "c2")
    assert start(part, more, broken={2: 1}) == (StartReason.BEST_SO_FAR, 2, "c2")  # it is told which file
    again = replace(more, number=3, candidate="c3")
    assert start(part, more, again, broken={2: 1, 3: 1}) == (StartReason.BEST_SO_FAR, 1, "c1")
    for other in ({"changed": ("b",)}, {"changed": ()}, {"failing": 1}):
        judged = attempt(2, **{"gates": 0, "failing": None, "outcome": "TIMEOUT", "changed": ("a", "b")} | other)
        assert start(attempt(1, gates=9, failing=0, changed=("a",)), judged)[1] == 1


def test_where_accept_says_how_main_does_work_with_which_more_tests_fail_is_mended_once_and_then_left():
    worse = attempt(1, failing=3)
    assert start(attempt(1, failing=2), accept_failing=2) == (StartReason.BEST_SO_FAR, 1, "c1")
    assert start(worse, accept_failing=2) == (StartReason.WORSE_THAN_MAIN, 1, "c1")
    assert start(worse, attempt(2, failing=4), accept_failing=2) == (StartReason.WORSE_THAN_MAIN, 2, None)
    assert start(attempt(1), attempt(2, failing=3), accept_failing=2) == (StartReason.BEST_SO_FAR, 1, "c1")


UNPARSED = attempt(2, gates=0, failing=None, outcome="SYNTAX_ERROR")
TIMED_OUT = attempt(3, gates=0, failing=None, outcome="TIMEOUT")


@pytest.mark.parametrize(
    ("attempts", "broken", "expected"),
    [
        ([UNPARSED], {2: 1}, (StartReason.UNPARSED, "c2")),
        ([attempt(1), UNPARSED], {2: 1}, (StartReason.UNPARSED, "c2")),
        ([attempt(1), UNPARSED, replace(UNPARSED, number=3)], {2: 1, 3: 1}, (StartReason.BEST_SO_FAR, "c1")),
        ([UNPARSED, replace(UNPARSED, number=3)], {2: 1, 3: 2}, (StartReason.UNPARSED, "c2")),
        ([attempt(1, outcome="SYNTAX_ERROR")], {}, (StartReason.BEST_SO_FAR, "c1")),  # a compiler said so
        ([attempt(1), TIMED_OUT], {3: 1}, (StartReason.BEST_SO_FAR, "c1")),
        ([UNPARSED, TIMED_OUT], {2: 1}, (StartReason.BEST_SO_FAR, "c3")),
        ([UNPARSED, TIMED_OUT], {2: 1, 3: 4}, (StartReason.UNPARSED, "c2")),
    ],
)
def test_a_file_that_does_not_parse_is_mended_and_never_beats_work_that_a_gate_has_seen_twice(
    attempts, broken, expected
):
    found = start_of(tuple(attempts), broken=broken)
    assert (found.reason, found.commit) == expected


@pytest.mark.parametrize(
    ("attempts", "broken", "best"),
    [
        ([attempt(1), UNPARSED], {2: 1}, 1),
        ([attempt(1, failing=2), attempt(2, failing=9)], {}, 1),
        ([attempt(1, failing=9), attempt(2, failing=2)], {}, 2),
        ([attempt(1), attempt(2, gates=9, failing=0, outcome="GATE_TAMPERING")], {}, 1),
        ([attempt(1, outcome=PASSED), attempt(2, gates=9)], {}, 1),
        ([UNPARSED, TIMED_OUT], {2: 1, 3: 4}, 2),
        ([UNPARSED, TIMED_OUT], {2: 1}, 3),
        ([attempt(1, outcome="GATE_TAMPERING")], {}, 1),  # half-done work stays where a person finds it
        ([attempt(1), attempt(2, outcome=INTERRUPTED, failing=None)], {}, 1),
        ([attempt(1, patch_hash="")], {}, None),
    ],
)
def test_a_person_is_shown_the_work_for_which_most_speaks(attempts, broken, best):
    shown = best_left(tuple(attempts), broken)
    assert (shown.number if shown is not None else None) == best


# --- main, and what becomes of the change that is not there


def wrong(rule, evidence, outcome="GATE_TAMPERING", changed=("src/a.py", "tests/t.py", "vendor/x/config"), **more):
    kind = FailureKind[outcome]
    failure = Failure(kind, "it failed", rule=rule, evidence=evidence, **more)
    return attempt(1, outcome=outcome, failing=None, failure=failure, changed=changed)


@pytest.mark.parametrize(
    ("failed", "without"),
    [
        (wrong("tests-weakened", ("tests/t.py: 3 asserts fewer",)), ("tests/t.py",)),
        (wrong("judge-altered", ("altered: tests/t.py", "fails: tests/t.py::a")), ("tests/t.py",)),
        (wrong("secret-added", ("src/a.py: key",), "BOUNDARY_VIOLATION"), ("src/a.py",)),
        (wrong("outside-paths", ("tests/t.py",), "BOUNDARY_VIOLATION"), ("tests/t.py",)),
        (wrong("embedded-repository", ("vendor/x",), "BOUNDARY_VIOLATION"), ("vendor/x/config",)),
        (wrong("outside-paths", (), "BOUNDARY_VIOLATION", signature="outside-paths:src/a.py"), ("src/a.py",)),
        (wrong("gates-weakened", ("xsrc/a.py: x", "src/a.pyc", "a.py")), None),  # none of them is a file of it
        (wrong("tests-missing", ("2 tests did not run",)), None),
        (wrong("tests-weakened", ("tests/t.py: x",), changed=("tests/t.py",)), None),  # nothing else is left
    ],
)
def test_of_work_that_may_not_land_the_files_that_its_failure_names_are_taken_out(failed, without):
    found = start_of((failed,))
    assert (found.commit, found.without) == (("c1", without) if without else (None, ()))
    assert (found.holds, found.origin) == ((1, Origin.BEST) if without else (0, Origin.MAIN))
    assert all(path in found.message for path in without or ())


def test_what_a_person_has_allowed_since_and_what_a_worker_only_speaks_of_stays():
    outside = wrong("outside-paths", ("tests/t.py", "src/a.py"), "BOUNDARY_VIOLATION")
    assert start_of((outside,), allowed=("tests",)).without == ("src/a.py",)
    assert start(outside, allowed=("tests", "src")) == (StartReason.BEST_SO_FAR, 1, "c1")
    asked = wrong("report-boundary-violation", ("the worker asks for tests/t.py",), "BOUNDARY_VIOLATION")
    assert start(asked) == (StartReason.BEST_SO_FAR, 1, "c1")


def test_a_change_that_conflicts_with_main_is_kept_but_for_the_files_in_conflict():
    lost = attempt(2, outcome="MERGE_CONFLICT")
    lost = replace(lost, failure=replace(lost.failure, evidence=("x.py",)))
    found = start_of((attempt(1), lost))
    assert (found.reason, found.commit, found.without) == (StartReason.CONFLICT, "c2", ("x.py",))
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
        told = StartPoint(reason, 7).message
        assert told.endswith(".")
        of_none = (StartReason.NOTHING_YET, StartReason.BY_PERSON, StartReason.OF_WHOLE)
        assert ("attempt 7" in told.lower()) == (reason not in of_none)
        assert StartPoint(reason).earlier is EarlierWork.NONE or StartPoint(reason).origin is Origin.MAIN


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
    if chosen is None or found.reason is StartReason.UNPARSED:
        assert found.reason is not StartReason.BEST_SO_FAR
        return
    assert chosen.outcome not in NO_BASE
    for other in attempts:
        worse = accept is not None and (other.failing_tests or 0) > accept
        if other.outcome not in NO_BASE and other.failing_tests is not None and not worse:
            assert chosen.failing_tests is not None
            assert (other.gates_passed, -other.failing_tests) <= (chosen.gates_passed, -chosen.failing_tests)
