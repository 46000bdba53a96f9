"""Which attempts spend an issue's budget (law 8)."""

from dataclasses import replace

from support.cases import cases
from support.policy_story import K, conflict, failed, passed

from noface.model.attempt import Interrupted, Judged
from noface.model.failure import UNANSWERED, Failure
from noface.recovery.partly_done import PARTLY_DONE
from noface.recovery.policy_state import charged


def report(kind=None, number=1, *, theirs=True, cut=False, rule="rule"):
    """An attempt's report: its failure, whether the worker is to blame, whether noface ended it."""
    failure = Failure(kind, "said", rule, charged=theirs) if kind is not None else None
    return Interrupted("t", "7", number) if cut else Judged("t", "7", number, None, None, failure=failure)


def past(*attempts):
    return tuple(replace(attempt, number=number) for number, attempt in enumerate(attempts, 1))


MALFORMED = failed(K.OUTPUT_FORMAT, charged=False)


def test_work_that_passed_spends_an_attempt():
    assert charged(report(), ())


@cases("kind", [kind for kind in K if kind not in (K.OUTPUT_FORMAT, K.AGENT_BLOCKED)])
def test_a_failure_is_charged_to_whoever_caused_it(kind):
    assert charged(report(kind, theirs=True), ())
    assert not charged(report(kind, theirs=False), ())


def test_an_interrupted_attempt_spends_nothing_whatever_it_left():
    assert not charged(report(cut=True), ())
    assert not charged(report(K.TEST_FAILURE, cut=True), ())
    assert not charged(report(K.OUTPUT_FORMAT, 2, cut=True), past(MALFORMED))


def test_the_first_malformed_answer_is_free():
    assert not charged(report(K.OUTPUT_FORMAT), ())
    assert not charged(report(K.OUTPUT_FORMAT, theirs=False), ())
    assert not charged(report(K.OUTPUT_FORMAT, 2), past(failed(K.TEST_FAILURE)))


def test_the_second_malformed_answer_in_a_row_and_all_after_it_are_charged():
    assert charged(report(K.OUTPUT_FORMAT, 2), past(MALFORMED))
    assert charged(report(K.OUTPUT_FORMAT, 3), past(MALFORMED, failed(K.OUTPUT_FORMAT)))


@cases(("kind", "rule"), [(K.AGENT_BLOCKED, "rule"), (K.TIMEOUT, UNANSWERED)])
def test_the_first_time_that_a_worker_stops_by_its_own_word_or_has_no_answer_is_free(kind, rule):
    stopped = failed(kind, charged=False)
    stopped = replace(stopped, failure=replace(stopped.failure, rule=rule))
    assert not charged(report(kind, 2, rule=rule), past(failed(K.TEST_FAILURE)))
    assert charged(report(kind, 3, rule=rule), past(stopped, failed(K.TEST_FAILURE)))


def test_another_outcome_in_between_makes_the_next_one_the_first_again():
    for other in (failed(K.TEST_FAILURE), conflict(), passed()):
        assert not charged(report(K.OUTPUT_FORMAT, 3), past(MALFORMED, other))


def part(number=1, diff="p1"):
    failure = Failure(K.RESOURCE_EXHAUSTED, "said", PARTLY_DONE, charged=False)
    return Judged("t", "7", number, None, None, failure=failure, patch_hash=diff)


def test_a_part_that_passes_is_free_as_long_as_it_is_progress():
    def free(diff):
        return replace(failed(K.RESOURCE_EXHAUSTED, charged=False, diff=diff), failure=part().failure)

    assert not charged(part(), ())
    assert not charged(part(3, "p3"), past(free("p1"), free("p2")))
    assert charged(part(3, "p1"), past(free("p1"), free("p2"))), "it has gone back"
    assert charged(part(5, "p5"), past(*map(free, ("p1", "p2", "p3", "p4")))), "it ends"
    assert not charged(part(5, "p5"), past(free("p1"), failed(K.TEST_FAILURE), free("p3"), free("p4")))
