"""Whatever stands in the database, of whatever origin: the policy gives exactly one action, within the limits."""

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st
from support.policy_story import TIER_OF, TIERS, K, blocked_by, failed
from support.policy_worlds import ISSUES, POLICIES

from noface.model.actions import Action
from noface.model.attempt import PastAttempt
from noface.model.history import Advice, AdviceOutcome, Decided, History, Topic, Verdict
from noface.model.taxonomy import INTERRUPTED, PASSED
from noface.model.worker_run import BlockedReason
from noface.recovery.policy import next_action

ANY_ATTEMPT = st.builds(
    lambda kind, model, outcome, number, has_failure, **more: PastAttempt(
        number,
        model,
        TIER_OF[model],
        outcome or kind.value,
        failure=failed(kind, said="a").failure if has_failure else None,
        **more,
    ),
    st.sampled_from(K),
    st.sampled_from([name for name, _ in TIERS]),
    st.none() | st.sampled_from([PASSED, INTERRUPTED, "NEWER"]),
    st.integers(1, 4),
    st.booleans(),
    charged=st.booleans(),
    epoch=st.integers(0, 1),
    signature=st.sampled_from(["", "a", "b"]),
    patch_hash=st.sampled_from(["", "x", "y"]),
    report=st.none() | st.sampled_from([blocked_by(reason) for reason in BlockedReason]),
    think=st.booleans(),
    answer=st.sampled_from(["", "AddContext", "ReduceScope", "Nonsense"]),
    cost_usd=st.none() | st.floats(0, 2),
)
ANY_ADVICE = st.builds(
    Advice,
    st.sampled_from(Topic),
    st.integers(0, 4),
    st.sampled_from(AdviceOutcome),
    st.integers(0, 1),
    strategy=st.sampled_from(["", "escalate", "retry_same", "skip_and_continue", "expand", "person", "needs_human"]),
    delay_s=st.none() | st.floats(0, 1e9),
    needs=st.sampled_from([(), ("5",)]),
)
ANY_HISTORY = st.builds(
    History,
    ISSUES,
    st.lists(ANY_ATTEMPT, max_size=8).map(tuple),
    st.integers(0, 1),
    st.lists(ANY_ADVICE, max_size=5).map(tuple),
    st.lists(st.builds(Decided, st.integers(0, 4), st.sampled_from(Verdict)), max_size=3).map(tuple),
    st.none() | st.sampled_from([name for name, _ in TIERS]),
    st.none() | st.integers(1, 6),
)


@given(POLICIES, ANY_HISTORY, st.dictionaries(st.sampled_from([name for name, _ in TIERS]), st.floats(-10, 10)))
def test_every_history_whatever_its_origin_gets_one_action_within_its_limits(policy, history, away):
    action = next_action(history, policy, 0.0, 0.5, away)
    assert isinstance(action, get_args(Action))
    assert action.reason
    let = {each.attempt for each in history.decisions if each.verdict is Verdict.APPROVED}
    charged = sum(attempt.charged and attempt.number not in let for attempt in history.current)
    if charged >= policy.cap(history.issue, history.attempts_max):
        assert action.name in ("Block", "Land", "RequestApproval", "Review", "WaitUntil")
