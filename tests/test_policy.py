"""The retry policy as stories, and as properties of every history."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noface.core.actions import (
    AddContext,
    Block,
    Escalate,
    FirstAttempt,
    Land,
    ReduceScope,
    RetrySame,
    RetryWithFeedback,
    WaitUntil,
)
from noface.core.model import Failure, Issue, PastAttempt
from noface.core.policy import History, Policy, Rung, next_action
from noface.core.taxonomy import INTERRUPTED, PASSED, Category, FailureKind

NOW = 1_000_000.0
TIERS = (("small", 1), ("big", 2), ("huge", 3), ("twin", 1))
LADDER = (Rung("small", 1, 2), Rung("big", 2, 5))
POLICY = Policy(LADDER, TIERS)
ISSUE = Issue("7", "Seven")
K = FailureKind
NEVER_CHARGED = (Category.TRANSIENT, Category.ENVIRONMENT)


def failed(kind, model="small", *, said="", diff="", charged=None, retry_at=None, cost=None):
    """A finished attempt; by default each has a signature and a diff of its own."""
    charged = kind.category not in NEVER_CHARGED if charged is None else charged
    failure = Failure(kind, f"{kind} {said}", rule="r", signature=said, retry_at=retry_at, charged=charged)
    tier = dict(TIERS)[model]
    return PastAttempt(
        0, model, tier, kind.value, charged, signature=said, patch_hash=diff, failure=failure, cost_usd=cost
    )


def fails(*names, model="small"):
    return [failed(K.TEST_FAILURE, model, said=f"s{name}", diff=f"d{name}") for name in names]


INTERRUPTION = PastAttempt(0, "small", 1, INTERRUPTED, charged=False)


def decide(*attempts, policy=POLICY, issue=ISSUE, now=NOW, jitter=0.5, epoch=0):
    numbered = tuple(replace(attempt, number=index + 1) for index, attempt in enumerate(attempts))
    return next_action(History(issue, numbered, epoch), policy, now, jitter)


# Stories


def test_an_issue_without_attempts_starts_on_the_first_rung():
    assert decide() == FirstAttempt("small", "first attempt: the ladder's first rung")


def test_an_attempt_that_passed_is_landed():
    assert isinstance(decide(PastAttempt(1, "small", 1, PASSED, charged=True)), Land)


def test_the_first_failure_is_retried_with_feedback_by_the_same_model():
    action = decide(*fails(1))
    assert isinstance(action, RetryWithFeedback)
    assert action.model == "small"


def test_after_escalate_after_attempts_failures_the_next_rung_takes_over():
    action = decide(*fails(1, 2))
    assert isinstance(action, Escalate)
    assert action.model == "big"


def test_second_identical_failure_escalates():
    patient = replace(POLICY, ladder=(Rung("small", 1, 4), Rung("big", 2, 5)), attempts_max=9)
    different = decide(*fails(1, 2), policy=patient)
    assert isinstance(different, RetryWithFeedback)
    same = decide(*fails(1, 1), policy=patient)
    assert isinstance(same, Escalate)
    assert same.reason.startswith("no progress")


def test_the_same_diff_with_another_error_is_progress():
    patient = replace(POLICY, ladder=(Rung("small", 1, 4), Rung("big", 2, 5)), attempts_max=9)
    attempts = [failed(K.TEST_FAILURE, said="a", diff="d"), failed(K.TEST_FAILURE, said="b", diff="d")]
    assert isinstance(decide(*attempts, policy=patient), RetryWithFeedback)


def test_the_last_rung_repeats_until_the_cap_and_then_the_issue_is_blocked():
    attempts = [*fails(1, 2), *fails(3, 4, model="big")]
    assert decide(*attempts) == RetryWithFeedback("big", "TEST_FAILURE: once more, with feedback")
    blocked = decide(*attempts, *fails(5, model="big"))
    assert blocked == Block(K.TEST_FAILURE, "all 5 attempts are used up")


def test_three_identical_attempts_on_the_last_rung_end_in_no_progress():
    alone = replace(POLICY, ladder=(Rung("small", 1, 5),), attempts_max=9)
    assert isinstance(decide(*fails(1, 1), policy=alone), RetryWithFeedback)
    blocked = decide(*fails(1, 1, 1), policy=alone)
    assert isinstance(blocked, Block)
    assert blocked.kind is K.NO_PROGRESS


def test_attempts_of_an_earlier_epoch_count_no_more():
    assert isinstance(decide(*fails(1, 2, 3, 4, 5), epoch=1), FirstAttempt)


def test_the_issue_s_own_max_attempts_is_its_cap():
    issue = replace(ISSUE, max_attempts=1)
    assert decide(*fails(1), issue=issue) == Block(K.TEST_FAILURE, "all 1 attempts are used up")


def test_no_escalate_keeps_the_first_model_to_the_end():
    issue = replace(ISSUE, no_escalate=True)
    assert decide(*fails(1, 2, 3, 4), issue=issue).model == "small"


def test_the_issue_s_own_model_comes_first_and_only_stronger_ones_follow():
    issue = replace(ISSUE, model="big")
    assert decide(issue=issue).model == "big"
    attempts = fails(1, 2, 3, model="big")
    assert decide(*attempts, issue=issue).model == "big"
    three = replace(POLICY, ladder=(*LADDER[:1], Rung("big", 2, 2), Rung("huge", 3, 5)))
    assert decide(*attempts, issue=issue, policy=three).model == "huge"


def test_a_model_outside_the_ladder_gives_way_to_a_stronger_one():
    issue = replace(ISSUE, model="twin")
    assert decide(issue=issue).model == "twin"
    assert decide(*fails(1, 2, model="twin"), issue=issue).model == "big"


def test_two_models_of_one_tier_still_make_a_ladder():
    policy = replace(POLICY, ladder=(Rung("small", 1, 2), Rung("twin", 1, 5)))
    action = decide(*fails(1, 2), policy=policy)
    assert isinstance(action, Escalate)
    assert action.model == "twin"


def test_a_weaker_escalation_model_is_never_used():
    policy = replace(POLICY, ladder=(Rung("huge", 3, 2), Rung("big", 2, 5)))
    assert decide(*fails(1, 2, model="huge"), policy=policy).model == "huge"


def test_block_after_counts_equal_failures_in_a_row():
    policy = replace(POLICY, block_after=3)
    mixed = [
        failed(K.TEST_FAILURE, said="same", diff="1"),
        failed(K.TEST_FAILURE, said="other", diff="2"),
        failed(K.TEST_FAILURE, "big", said="same", diff="3"),
        failed(K.TEST_FAILURE, "big", said="same", diff="4"),
    ]
    assert not isinstance(decide(*mixed, policy=policy), Block)
    alike = [failed(K.TEST_FAILURE, said="same", diff=str(n)) for n in range(3)]
    assert decide(*alike, policy=policy) == Block(K.TEST_FAILURE, "the same failure 3 times in a row")


def fails_without_a_signature_are_told_apart_by_kind_and_message():
    policy = replace(POLICY, block_after=2)
    differing = [replace(failed(kind), signature="") for kind in (K.SYNTAX_ERROR, K.RUNTIME_ERROR)]
    assert not isinstance(decide(*differing, policy=policy), Block)
    alike = [replace(failed(K.SYNTAX_ERROR), signature="")] * 2
    assert isinstance(decide(*alike, policy=policy), Block)


def test_an_interrupted_attempt_is_run_again_by_the_same_model_and_charged_to_nobody():
    attempts = [*fails(1, 2), replace(INTERRUPTION, model="big", tier=2)]
    assert decide(*attempts) == RetrySame("big", "noface was interrupted; nothing is charged")


def test_interruptions_neither_count_nor_break_a_row():
    conflict = failed(K.MERGE_CONFLICT, charged=False)
    assert isinstance(decide(*[INTERRUPTION] * 9, conflict), RetrySame)
    limited = failed(K.RATE_LIMITED)
    row = [limited, INTERRUPTION, limited, INTERRUPTION, limited, INTERRUPTION, limited]
    assert isinstance(decide(*row), Block)


def test_money_spent_on_interrupted_attempts_counts():
    policy = replace(POLICY, issue_cost_usd_max=1.0)
    dear = replace(INTERRUPTION, cost_usd=0.6)
    assert isinstance(decide(dear, policy=policy), RetrySame)
    blocked = decide(dear, dear, policy=policy)
    assert isinstance(blocked, Block)
    assert "$1.20 spent of the issue's $1.00" in blocked.reason


@pytest.mark.parametrize("kind", [kind for kind in K if kind.category is Category.ENVIRONMENT])
def test_what_no_retry_mends_is_blocked_at_once(kind):
    blocked = decide(failed(kind))
    assert isinstance(blocked, Block)
    assert blocked.kind is kind


def test_an_environment_failure_that_the_change_caused_climbs_the_ladder():
    assert isinstance(decide(failed(K.ENVIRONMENT, charged=True)), RetryWithFeedback)


@pytest.mark.parametrize("kind", [kind for kind in K if kind.category is Category.TRANSIENT])
def test_a_transient_failure_waits_three_times_and_is_then_blocked(kind):
    for times in (1, 2, 3):
        action = decide(*[failed(kind)] * times)
        assert isinstance(action, WaitUntil)
        assert action.model == "small"
        assert action.until == NOW + 0.5 * 30 * 2 ** (times - 1)
    assert decide(*[failed(kind)] * 4) == Block(kind, f"still {kind} after 3 retries")


def test_the_provider_s_reset_time_is_honoured_over_the_backoff():
    assert decide(failed(K.RATE_LIMITED, retry_at=NOW + 18_000)).until == NOW + 18_000
    assert decide(failed(K.RATE_LIMITED, retry_at=NOW - 1)).until <= NOW + 30


def test_a_wait_that_was_promised_does_not_become_a_block_when_it_is_over():
    limited = failed(K.RATE_LIMITED, retry_at=NOW + 100)
    for times in range(1, 7):
        before, after = (decide(*[limited] * times, now=now) for now in (NOW, NOW + 101))
        assert type(before) is type(after)


def test_the_backoff_never_passes_its_maximum_however_many_retries_are_allowed():
    policy = replace(POLICY, transient_retries=5000)
    assert decide(*[failed(K.NETWORK)] * 4999, policy=policy, jitter=0.999).until <= NOW + 900


def test_main_moving_under_it_is_retried_three_times_and_then_told_to_a_person():
    conflict = failed(K.MERGE_CONFLICT, charged=False)
    assert isinstance(decide(*[conflict] * 3), RetrySame)
    blocked = decide(*[conflict] * 4)
    assert isinstance(blocked, Block)
    assert "4 attempts" in blocked.reason


def test_rate_limits_before_a_conflict_are_not_counted_as_conflicts():
    attempts = [failed(K.RATE_LIMITED)] * 3 + [failed(K.MERGE_CONFLICT, charged=False)]
    assert isinstance(decide(*attempts), RetrySame)


@pytest.mark.parametrize("kind", [K.BOUNDARY_VIOLATION, K.GATE_TAMPERING])
def test_crossing_a_boundary_twice_in_a_row_is_blocked(kind):
    once = failed(kind, said="1", diff="1")
    again = failed(kind, said="2", diff="2")
    between = failed(K.TEST_FAILURE, said="3", diff="3")
    assert isinstance(decide(once), RetryWithFeedback)
    assert decide(once, again) == Block(kind, "the worker was told and did it again")
    assert not isinstance(decide(once, between, again), Block)


@pytest.mark.parametrize("kind", [K.AGENT_CONFUSION, K.AGENT_REFUSED])
def test_a_worker_that_is_unsure_gets_context_once(kind):
    assert isinstance(decide(failed(kind, said="1")), AddContext)
    assert isinstance(decide(failed(kind, said="1"), failed(kind, said="2")), Block)


@pytest.mark.parametrize("kind", [K.TIMEOUT, K.RESOURCE_EXHAUSTED])
def test_work_that_was_too_big_is_tried_smaller(kind):
    assert isinstance(decide(failed(kind)), ReduceScope)


def test_a_failure_that_was_not_recorded_is_judged_by_its_outcome():
    bare = replace(failed(K.TIMEOUT), failure=None)
    assert isinstance(decide(bare), ReduceScope)
    assert isinstance(decide(replace(bare, outcome="SOMETHING_NEWER")), RetryWithFeedback)


def test_a_model_that_the_configuration_no_longer_names_is_not_run_again():
    gone = replace(failed(K.RATE_LIMITED), model="retired")
    assert decide(gone).model == "small"
    assert decide(replace(INTERRUPTION, model="retired")).model == "small"


def test_an_edited_model_holds_for_what_is_not_charged_too():
    issue = replace(ISSUE, model="huge")
    assert decide(failed(K.RATE_LIMITED), issue=issue).model == "huge"


def test_a_ladder_lengthened_meanwhile_does_not_lead_back_down():
    attempts = [*fails(1, 2), *fails(3, model="big")]
    longer = replace(POLICY, ladder=(Rung("small", 1, 4), Rung("big", 2, 5)), attempts_max=9)
    assert decide(*attempts, policy=longer).model == "big"


# Properties

POLICIES = st.builds(
    lambda models, times, cap, block_after, cost, retries, base, ceiling: Policy(
        tuple(Rung(model, dict(TIERS)[model], count) for model, count in zip(models, times, strict=False)),
        TIERS,
        cap,
        block_after,
        cost,
        retries,
        base,
        ceiling,
    ),
    st.sampled_from([("small",), ("small", "big"), ("small", "twin"), ("small", "big", "huge"), ("big", "huge")]),
    st.lists(st.integers(1, 3), min_size=3, max_size=3),
    st.integers(1, 8),
    st.none() | st.integers(1, 4),
    st.none() | st.floats(0.01, 5),
    st.integers(0, 4),
    st.floats(0, 100),
    st.floats(0, 1000),
)
ISSUES = st.builds(
    lambda model, cap, alone: replace(ISSUE, model=model, max_attempts=cap, no_escalate=alone),
    st.none() | st.sampled_from([name for name, _ in TIERS]),
    st.none() | st.integers(1, 6),
    st.booleans(),
)
EVENTS = st.tuples(
    st.sampled_from(K),
    st.sampled_from("ab"),
    st.sampled_from("xy"),
    st.booleans(),
    st.none() | st.floats(-10, 5000),
    st.none() | st.floats(0, 1),
)


def after(action, event):
    """The attempt that running `action` ends in, as the world (`event`) has it."""
    kind, said, diff, theirs, reset, cost = event
    charged = kind.category not in NEVER_CHARGED and (theirs or kind is not K.MERGE_CONFLICT)
    retry_at = None if reset is None else NOW + reset
    return failed(kind, action.model, said=said, diff=diff, charged=charged, retry_at=retry_at, cost=cost)


@given(POLICIES, ISSUES, st.lists(EVENTS, min_size=150, max_size=150), st.floats(0, 1, exclude_max=True))
def test_every_story_ends_within_its_limits_and_never_goes_down(policy, issue, world, jitter):
    attempts = []
    tier = 0
    for event in world:
        action = decide(*attempts, policy=policy, issue=issue, jitter=jitter)
        assert action == decide(*attempts, policy=policy, issue=issue, jitter=jitter)
        assert action.reason
        if isinstance(action, Block):
            break
        assert action.model in dict(TIERS)
        assert dict(TIERS)[action.model] >= tier
        tier = dict(TIERS)[action.model]
        if issue.model is not None and not attempts:
            assert action.model == issue.model
        if issue.no_escalate:
            assert action.model == (issue.model or policy.ladder[0].model)
        if isinstance(action, WaitUntil):
            last = attempts[-1].failure
            assert action.until == last.retry_at or NOW <= action.until <= NOW + policy.backoff_max_s
        attempts.append(after(action, event))
    else:
        raise AssertionError("it never ended")
    cap = issue.max_attempts or policy.attempts_max
    assert sum(attempt.charged for attempt in attempts) <= cap
    if policy.issue_cost_usd_max is not None:
        assert sum(attempt.cost_usd or 0 for attempt in attempts[:-1]) < policy.issue_cost_usd_max


ANY_ATTEMPT = st.builds(
    lambda kind, model, outcome, charged, said, has_failure: replace(
        failed(kind, model, said=said, charged=charged),
        outcome=outcome or kind.value,
        failure=failed(kind, said=said).failure if has_failure else None,
    ),
    st.sampled_from(K),
    st.sampled_from([name for name, _ in TIERS]),
    st.none() | st.sampled_from([PASSED, INTERRUPTED, "NEWER"]),
    st.booleans(),
    st.sampled_from(["", "a"]),
    st.booleans(),
)


@given(POLICIES, ISSUES, st.lists(ANY_ATTEMPT, max_size=12))
def test_every_history_whatever_its_origin_gets_one_action_within_the_cap(policy, issue, attempts):
    action = decide(*attempts, policy=policy, issue=issue)
    assert action.reason
    charged = sum(attempt.charged for attempt in attempts)
    if charged >= policy.cap(issue):
        assert isinstance(action, (Block, Land))
    if not isinstance(action, (Block, Land)):
        assert action.model in {rung.model for rung in policy.ladder_for(issue)}
