"""The ladder of recovery as stories: which model works next, and when it is a stronger one (N11, L5, L14, law 9)."""

from dataclasses import replace

import pytest
from support.policy_story import ALONE, K, conflict, decide, failed, fails, interrupted, policy, rungs, same, typed

from noface.model.actions import Block, Mode, RunWorker
from noface.model.attempt import failure_of
from noface.model.taxonomy import Strategy
from noface.recovery.retry_policy import Rung

PATIENT = policy(ladder=(Rung("small", 1, 4), Rung("big", 2, 5)), attempts_max=9)
USUAL = policy(ladder=(Rung("small", 1, 2), Rung("big", 2, 1), Rung("big", 2, 5, think=True)))


# Up the ladder


def test_the_first_failure_is_retried_with_feedback_by_the_same_model():
    assert typed(decide(*fails(1))) == RunWorker(Mode.FEEDBACK, "small", "")


def test_after_escalate_after_attempts_failures_the_next_rung_takes_over():
    assert typed(decide(*fails(2))) == RunWorker(Mode.ESCALATE, "big", "")


def test_the_usual_ladder_is_climbed_to_its_end_and_then_a_person_is_asked():
    small, big, thinking = failed(K.TEST_FAILURE), failed(K.TEST_FAILURE, "big"), fails(2, "big", think=True)
    assert decide(small, policy=USUAL).name == "RetryWithFeedback"
    assert decide(small, *fails(1), policy=USUAL).name == "Escalate"
    thinks = decide(small, *fails(1), big, policy=USUAL)
    assert typed(thinks) == RunWorker(Mode.THINK, "big", "", think=True)
    again = decide(small, *fails(1), big, thinking[0], policy=USUAL)
    assert typed(again) == RunWorker(Mode.FEEDBACK, "big", "", think=True)
    assert isinstance(decide(small, *fails(1), big, *thinking, policy=USUAL), Block)


def test_a_stronger_model_that_is_to_think_thinks_from_the_start():
    straight = rungs(("small", 1), ("big", 3, "think"))
    assert decide(*fails(1), policy=straight) == RunWorker(
        Mode.THINK, "big", "TEST_FAILURE: big thinks longer, with everything learned so far", think=True
    )


def test_two_thinking_rungs_of_different_models_escalate_and_think():
    thinking = rungs(("small", 1, "think"), ("big", 3, "think"))
    assert decide(*fails(1, think=True), policy=thinking) == RunWorker(
        Mode.ESCALATE, "big", "TEST_FAILURE: next step, big", think=True
    )


def test_a_weaker_rung_is_never_used():
    falling = rungs(("huge", 2), ("big", 5))
    assert decide(*fails(2, "huge"), policy=falling).model == "huge"
    dented = rungs(("small", 1), ("huge", 1), ("big", 5))
    assert decide(*fails(1), *fails(1, "huge"), policy=dented).model == "huge"


def test_a_ladder_cut_short_meanwhile_goes_on_with_its_strongest_model_as_a_plain_retry():
    for times in (1, 2):
        again = decide(*fails(times, "huge"))
        assert typed(again) == RunWorker(Mode.FEEDBACK, "big", "")


def test_an_attempt_stands_on_the_rung_of_its_model_that_thought_as_it_did():
    both = rungs(("small", 9), ("big", 9), ("big", 9, "think"))
    plain = decide(*fails(1), *fails(1, "big"), policy=both)
    assert (plain.model, plain.think) == ("big", False)
    thought = decide(*fails(1), *fails(1, "big", think=True), policy=both)
    assert (thought.model, thought.think) == ("big", True)
    later = rungs(("small", 9), ("twin", 9, "think"))
    assert decide(*fails(1), *fails(1, "twin"), policy=later).model == "twin"


# Rungs for some kinds only


def test_a_rung_for_other_kinds_is_passed_over():
    three = rungs(("small", 1), ("big", 2, K.TIMEOUT), ("huge", 2))
    assert decide(*fails(1), policy=three).model == "huge"
    assert decide(*fails(1, kind=K.TIMEOUT), policy=three).model == "big"


def test_a_failure_that_the_first_rung_does_not_answer_goes_straight_to_one_that_does():
    picky = rungs(("small", 3, K.LINT_FAILURE), ("big", 3))
    assert decide(policy=picky).model == "small"
    assert decide(*fails(1, kind=K.LINT_FAILURE), policy=picky).model == "small"
    assert decide(*fails(1), policy=picky).model == "big"


def test_a_failure_that_no_rung_answers_is_blocked():
    picky = rungs(("small", 3, K.LINT_FAILURE), ("big", 3, K.TIMEOUT))
    assert typed(decide(*fails(1), policy=picky)) == Block(K.TEST_FAILURE, "")


def test_the_last_rung_that_answers_a_kind_repeats_until_the_cap():
    specialist = rungs(("small", 2), ("big", 2, K.TIMEOUT), attempts_max=5)
    for times in (2, 3, 4):
        again = decide(*fails(times), policy=specialist)
        assert again.name == "RetryWithFeedback", again.reason
        assert again.model == "small"
    assert typed(decide(*fails(5), policy=specialist)) == Block(K.TEST_FAILURE, "")


# No progress (rule 9)


def test_second_identical_failure_escalates():
    assert decide(*fails(2), policy=PATIENT).name == "RetryWithFeedback"
    skipped = decide(*same(2), policy=PATIENT)
    assert typed(skipped) == RunWorker(Mode.ESCALATE, "big", "")
    assert decide(*same(2), policy=rungs(("small", 4), ("big", 4), ("huge", 4))).model == "big"


def test_the_same_from_a_stronger_model_is_no_repetition():
    four = rungs(("small", 1), ("big", 3), ("huge", 3))
    assert decide(*same(1), *same(1, "big"), policy=four).model == "big"


def test_what_was_not_charged_does_not_break_a_row_of_identical_attempts():
    skipped = decide(*same(1), failed(K.RATE_LIMITED), conflict(), *same(1), policy=PATIENT)
    assert skipped.name == "Escalate"
    assert skipped.reason.startswith("no progress")


def test_three_identical_attempts_on_the_last_rung_end_in_no_progress():
    alone = policy(ladder=ALONE, attempts_max=9)
    assert decide(*same(2), policy=alone).name == "RetryWithFeedback"
    blocked = decide(*same(3), policy=alone)
    assert typed(blocked) == Block(K.NO_PROGRESS, "")


def in_turn(*said, model="big", **same_in_all):
    return [failed(K.TEST_FAILURE, model, said=word, **same_in_all) for word in said]


def test_two_failures_in_turn_are_no_progress_and_skip_to_the_next_rung():
    patient = rungs(("small", 9), ("big", 9), attempts_max=20)
    assert decide(*in_turn("a", "b", "a", model="small"), policy=patient).name == "RetryWithFeedback"
    told = decide(*in_turn("a", "b", "a", "b", model="small"), policy=patient)
    assert told == RunWorker(Mode.ESCALATE, "big", "no progress, the same two in turn: TEST_FAILURE: next step, big")
    for other in ("aabb", "abba", "abcb", "abca"):
        assert decide(*in_turn(*other, model="small"), policy=patient).name == "RetryWithFeedback", other


def test_two_diffs_in_turn_are_no_progress_too():
    patient = rungs(("small", 9), ("big", 9), attempts_max=20)
    back_and_forth = [failed(K.TEST_FAILURE, diff=diff) for diff in ("x", "y", "x", "y")]
    assert decide(*back_and_forth, policy=patient).name == "Escalate"
    assert decide(*[failed(K.TEST_FAILURE, diff="") for _ in range(4)], policy=patient).name == "RetryWithFeedback"


def test_what_nobody_is_charged_for_does_not_hide_a_circle():
    patient = rungs(("small", 9), ("big", 9), attempts_max=20)
    first, *rest = in_turn("a", "b", "a", "b", model="small")
    between = [failed(K.RATE_LIMITED), interrupted(), conflict()]
    assert decide(first, *between, *rest, policy=patient).name == "Escalate"


def test_on_the_last_rung_the_worker_is_told_of_the_circle_once_and_then_a_person():
    last = rungs(("small", 1), ("big", 9), attempts_max=20)
    begun = [failed(K.TEST_FAILURE), *in_turn("a", "b", "a", "b")]
    told = decide(*begun, policy=last)
    assert (told.name, "in turn" in told.reason) == ("RetryWithFeedback", True)
    blocked = decide(*begun, *in_turn("a"), policy=last)
    assert blocked == Block(K.NO_PROGRESS, "the same two failures or diffs in turn, 5 times")
    strict = rungs(("big", 9), strategies=((K.NO_PROGRESS, Strategy.BLOCK),))
    assert isinstance(decide(*in_turn("a", "b", "a", "b"), policy=strict), Block)
    assert decide(*begun, *in_turn("c"), policy=last).name == "RetryWithFeedback"


@pytest.mark.parametrize("kind", [K.NO_DIFF, K.AGENT_CRASH, K.OUTPUT_FORMAT, K.RESOURCE_EXHAUSTED])
def test_who_changes_nothing_is_told_so_thinks_and_is_asked_no_fourth_time(kind):
    """The ladder that one model has by default: law 9, and each try is paid for."""
    usual = rungs(("small", 2), ("small", 3, "think"))
    one = failed(kind, said="same", diff="")
    assert decide(one, policy=usual).model == "small"
    assert decide(one, one, policy=usual).think
    assert typed(decide(one, one, replace(one, think=True), policy=usual)) == Block(kind, "")


def test_whoever_makes_the_change_again_that_it_goes_on_from_makes_no_progress():
    """Its work is what was there when it began, so nothing has changed; and what is there fails as before."""
    (red,) = same(1)
    red = replace(red, failure=replace(failure_of(red), gate="tests"))
    unchanged = {"kind": K.NO_DIFF, "said": "NO_DIFF"}
    skipped = decide(red, failed(**unchanged, diff="x"), policy=PATIENT)
    assert (skipped.name, skipped.reason.startswith("no progress")) == ("Escalate", True)
    alone = policy(ladder=ALONE, attempts_max=9)
    assert decide(red, *[failed(**unchanged, diff="x") for _ in range(2)], policy=alone).kind is K.NO_PROGRESS
    assert decide(red, failed(**unchanged, diff=""), policy=PATIENT).name == "RetryWithFeedback"  # it took all back
    assert decide(*same(1), failed(**unchanged, diff="x"), policy=PATIENT).name == "RetryWithFeedback"  # no gate ran


def test_what_comes_back_the_same_after_thinking_longer_is_the_same():
    thinking = rungs(("small", 2), ("small", 5, "think"))
    assert typed(decide(*same(2), policy=thinking)) == RunWorker(Mode.THINK, "small", "", think=True)
    blocked = decide(*same(2), *same(1, think=True), policy=thinking)
    assert blocked == Block(K.NO_PROGRESS, "the same diff and the same failure 3 times")
    other = decide(*same(2), *fails(1, think=True), policy=thinking)
    assert typed(other) == RunWorker(Mode.FEEDBACK, "small", "", think=True)
    above = rungs(("small", 2), ("small", 3, "think"), ("big", 2), attempts_max=9)
    assert decide(*same(2), *same(1, think=True), policy=above).model == "big"


def test_three_identical_attempts_end_it_though_rungs_for_other_kinds_are_left():
    specialists = [(model, 2, K.TIMEOUT) for model in ("twin", "big", "huge")]
    blocked = decide(*same(3), policy=rungs(("small", 9), *specialists))
    assert isinstance(blocked, Block), blocked.reason
    assert blocked.kind is K.NO_PROGRESS


def test_no_progress_can_be_told_to_a_person_at_once():
    strict = policy(ladder=PATIENT.ladder, attempts_max=9, strategies=((K.NO_PROGRESS, Strategy.BLOCK),))
    assert decide(*same(1), policy=strict).name == "RetryWithFeedback"
    assert decide(*same(2), policy=strict).kind is K.NO_PROGRESS
    assert decide(*fails(2), policy=strict).name == "RetryWithFeedback"


# Skipping rungs on purpose


@pytest.mark.parametrize(("strategy", "action"), [(Strategy.CONTEXT, "AddContext"), (Strategy.REDUCE, "ReduceScope")])
def test_a_rung_that_thinks_goes_on_thinking_whatever_else_is_done(strategy, action):
    ladder = (Rung("small", 1, 5, think=True),)
    answered = policy(ladder=ladder, strategies=((K.TEST_FAILURE, strategy),))
    given = decide(*fails(1, think=True), policy=answered)
    assert given.name == action
    assert given.think
