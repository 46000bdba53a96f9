"""Whatever the policy, the issue and the world: what holds in every story (laws 8, 9, 10 and 12, N1, N11, S5)."""

from collections import Counter
from typing import get_args

from hypothesis import given
from support.policy_story import K
from support.policy_world import Decision
from support.policy_worlds import STORIES

from noface.model.actions import Action, Ask, Block, Land, RequestApproval, RunWorker, WaitUntil
from noface.model.attempt import PastAttempt
from noface.model.history import AdviceOutcome, History, Topic, Verdict
from noface.model.taxonomy import INTERRUPTED, PASSED, Category, FailureKind
from noface.recovery.policy_state import OF_THE_MODEL, of_the_model
from noface.recovery.retry_policy import BACKOFF_MAX_S, review_due

DECISIONS_MAX = 400
"""Beyond what up to 8 attempts, 5 reviews, 2 retries and turns that come back after 7 can lead to."""
ONCE_AN_ISSUE = (Topic.ARCHITECT, Topic.BREAKDOWN)


def told(history: History) -> list[PastAttempt]:
    return [attempt for attempt in history.attempts if attempt.outcome != INTERRUPTED]


def ladder_of(decision: Decision, policy):
    return policy.ladder_for(decision.history.issue)


# One decision


@given(STORIES)
def test_every_story_ends(story):
    story.play(DECISIONS_MAX)
    assert story.ended, [decision.action.name for decision in story.decisions[-12:]]


@given(STORIES)
def test_every_decision_is_one_action_with_a_reason(story):
    for decision in story.play().decisions:
        assert isinstance(decision.action, get_args(Action))
        assert decision.action.reason.strip()
        assert len(decision.action.reason) < 1000


@given(STORIES)
def test_whoever_works_stands_on_the_ladder_or_in_for_one_who_does(story):
    for run in story.play().runs:
        rungs = {rung.model for rung in ladder_of(run, story.policy)}
        stand_ins = {other for model in rungs for other in story.policy.stand_ins(model)}
        assert run.action.model in rungs | stand_ins


# Limits


@given(STORIES)
def test_no_worker_starts_beyond_the_attempts_or_the_money_of_its_issue(story):
    for run in story.play().runs:
        history = run.history
        counted = (attempt for attempt in history.attempts if attempt.charged and not approved(history, attempt))
        assert len(tuple(counted)) < story.policy.cap(history.issue)
        spent = sum(item.cost_usd or 0.0 for item in (*history.attempts, *history.advice))
        assert story.policy.issue_cost_usd_max is None or spent < story.policy.issue_cost_usd_max


def approved(history, attempt):
    own = any(each.attempt == attempt.number and each.verdict is Verdict.APPROVED for each in history.decisions)
    return own or history.approved_work(attempt) is not None


LOOKS = {Topic.MISSING, Topic.BREAKDOWN}
"""What is asked once more after each further part, about the same attempt of the whole."""


@given(STORIES)
def test_nobody_is_asked_the_same_about_an_attempt_twice(story):
    asked = [decision for decision in story.play().decisions if isinstance(decision.action, Ask)]
    answers = Counter((advice.topic, advice.after) for advice in story.history.advice)
    for (topic, _), times in answers.items():
        if topic not in LOOKS:
            assert times <= (story.policy.transient_retries + 1 if topic is Topic.REVIEW else 1), topic
    topics = Counter(advice.topic for advice in story.history.advice)
    assert all(topics[topic] <= 1 for topic in ONCE_AN_ISSUE)
    for decision in asked:
        limit = story.policy.issue_cost_usd_max
        spent = sum(item.cost_usd or 0.0 for item in (*decision.history.attempts, *decision.history.advice))
        assert decision.action.name == "Review" or limit is None or spent < limit


@given(STORIES)
def test_a_person_is_asked_about_an_attempt_once(story):
    asked = Counter(
        decision.last.number for decision in story.play().decisions if isinstance(decision.action, RequestApproval)
    )
    assert all(times == 1 for times in asked.values())


# Models


@given(STORIES)
def test_tiers_never_fall(story):
    tiers = [attempt.tier for attempt in story.play().history.attempts]
    assert tiers == sorted(tiers)


@given(STORIES)
def test_nobody_waits_for_a_model_while_a_stand_in_is_free(story):
    for decision in story.play().decisions:
        action = decision.action
        if isinstance(action, RunWorker) and decision.away.get(action.model, decision.now) > decision.now:
            others = story.policy.stand_ins(action.model)
            free = [other for other in others if decision.away.get(other, decision.now) <= decision.now]
            assert not free or story.issue.no_escalate


# No attempt is repeated unchanged


def alike(attempts: list[PastAttempt]) -> int:
    """How many attempts at the end were the same: model, thinking, diff and failure."""
    marks = [(a.model, a.think, a.patch_hash, a.outcome, a.signature) for a in attempts]
    return next((n for n, mark in enumerate(reversed(marks)) if mark != marks[-1]), len(marks))


@given(STORIES)
def test_the_same_attempt_twice_leads_to_another_rung_or_on_the_last_one_to_a_third_and_no_more(story):
    for run in story.play().runs:
        attempts, ladder = told(run.history), ladder_of(run, story.policy)
        if not attempts or not attempts[-1].charged or attempts[-1].failure is None:
            continue
        last, times = attempts[-1], alike([attempt for attempt in attempts if attempt.charged])
        steps = [(rung.model, rung.think) for rung in ladder]
        if times < 2 or (last.model, last.think) not in steps:
            continue
        above = ladder[steps.index((last.model, last.think)) + 1 :]
        changed = (run.action.model, run.action.think) != (last.model, last.think)
        assert changed or (times < 3 and not any(rung.suits(last.failure.kind) for rung in above))


# Failures of others


@given(STORIES)
def test_a_provider_is_waited_for_no_longer_than_it_says_or_the_policy_allows(story):
    for decision in story.play().decisions:
        action, now = decision.action, decision.now
        attempts = told(decision.history)
        if not isinstance(action, WaitUntil) or not action.provider or attempts[-1].failure is None:
            continue
        reset = attempts[-1].failure.retry_at
        assert attempts[-1].failure.category is Category.TRANSIENT or of_the_model(attempts[-1].failure)
        if reset is not None and reset > now:
            assert action.until == reset
        else:
            assert now <= action.until <= now + BACKOFF_MAX_S


@given(STORIES)
def test_what_no_retry_mends_is_blocked_at_once_unless_the_change_is_to_blame(story):
    for decision in story.play().decisions:
        attempts = decision.history.attempts
        failure = attempts[-1].failure if attempts else None
        if failure is None or failure.category is not Category.ENVIRONMENT or attempts[-1].charged:
            continue
        if failure.kind is FailureKind.BASELINE_RED:
            assert isinstance(decision.action, Block) or decision.action.name == "RetrySame"  # once main is green
            continue
        instead = getattr(decision.action, "model", "")
        tried = [attempt.model for attempt in decision.history.current]
        other = failure.kind in OF_THE_MODEL and decision.action.name == "RetrySame" and instead not in tried[-1:]
        again = of_the_model(failure) and isinstance(decision.action, WaitUntil)  # three times a model
        assert other or again or isinstance(decision.action, Block)


# What passed


@given(STORIES)
def test_nothing_lands_that_did_not_pass_or_was_not_approved_where_it_had_to_be(story):
    for decision in story.play().decisions:
        if not isinstance(decision.action, Land):
            continue
        history, last = decision.history, decision.last
        verdict = history.verdict(last.number)
        assert verdict is None or verdict.verdict is Verdict.APPROVED
        if verdict is not None:
            assert last.outcome in (PASSED, K.GATE_TAMPERING)  # the gates prove either before main moves
            continue
        assert last.outcome == PASSED
        assert not set(history.issue.labels) & set(story.policy.approval_labels)
        assert not (story.policy.approval_paths and any(path.startswith("db/") for path in last.changed))
        review = history.answer(Topic.REVIEW, last.number)
        due = review_due(story.policy.review, history.issue, last) and story.policy.roles.reviewer
        assert not due or (review.outcome is AdviceOutcome.ADVISED and review.strategy == "approve")


@given(STORIES)
def test_work_that_passed_is_not_worked_on_again_unless_somebody_found_fault_with_it(story):
    for run in story.play().runs:
        assert not run.history.attempts or run.last.outcome != PASSED
