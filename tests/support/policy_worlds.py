"""Random policies, issues and worlds for the properties of the retry policy."""

from hypothesis import strategies as st

from noface.model.history import AdviceOutcome
from noface.model.issue import Issue
from noface.model.taxonomy import Category, FailureKind
from noface.model.worker_run import BlockedReason
from noface.recovery.retry_policy import Policy, ReviewRules, RoleModels, Rung, When

from .policy_story import ISSUE, TIERS, K
from .policy_turns import Turn, Word
from .policy_world import Story

TIER_OF = dict(TIERS)
_STEPS = [(model, think) for model, _ in TIERS for think in (False, True)]
_FEW = [*[()] * 8, (K.TEST_FAILURE,), tuple(kind for kind in K if kind.category is Category.COMPLEXITY)]


def _rung(step: tuple[str, bool], times: int, answers: tuple[FailureKind, ...]) -> Rung:
    model, think = step
    return Rung(model, TIER_OF[model], times, think, answers)


LADDERS = st.lists(
    st.builds(_rung, st.sampled_from(_STEPS), st.integers(1, 3), st.sampled_from(_FEW)),
    min_size=1,
    max_size=5,
    unique_by=lambda rung: (rung.model, rung.think),
).map(lambda rungs: tuple(sorted(rungs, key=lambda rung: rung.tier)))
STRATEGIES = st.dictionaries(st.sampled_from(K), st.integers(0, 20), max_size=4).map(
    lambda chosen: tuple((kind, kind.allowed[place % len(kind.allowed)]) for kind, place in chosen.items())
)


def _role(name: str) -> st.SearchStrategy[str | None]:
    return st.sampled_from([None, name, "big"])


ROLES = st.builds(
    RoleModels, _role("planner"), _role("doctor"), _role("judge"), _role("architect"), st.sampled_from([None, "critic"])
)
POLICIES = st.builds(
    Policy,
    ladder=LADDERS,
    tiers=st.just(TIERS),
    attempts_max=st.sampled_from([8, 6, 5, 4, 3, 1]),
    block_after=st.sampled_from([None, None, None, 3, 1]),
    issue_cost_usd_max=st.sampled_from([None, None, None, 5.0, 1.5]),
    transient_retries=st.integers(0, 2),
    backoff_base_s=st.floats(0, 100),
    alternatives=st.sets(st.sampled_from([name for name, _ in TIERS])).map(lambda names: tuple(sorted(names))),
    strategies=STRATEGIES,
    roles=ROLES,
    reflect=st.booleans(),
    strategies_max=st.sampled_from([5, 4, 3, 3, 1]),
    allow_skip=st.booleans(),
    breakdown=st.booleans(),
    approval_paths=st.sampled_from([(), ("db/**",)]),
    approval_labels=st.sampled_from([(), ("risky",)]),
    review=st.builds(ReviewRules, st.sampled_from(When)),
)
ISSUES = st.builds(
    Issue,
    st.just(ISSUE.id),
    st.just(ISSUE.title),
    labels=st.sampled_from([(), ("risky",)]),
    model=st.sampled_from([None, None, "small", "twin", "big", "huge"]),
    max_attempts=st.sampled_from([None, None, None, 7, 1]),
    no_escalate=st.sampled_from([False, False, True]),
    tier=st.sampled_from([None, None, 1, 2, 3]),
    depth=st.sampled_from([0, 0, 1]),
)
MONEY = st.none() | st.sampled_from([0.0, 0.3, 1.0])
FREQUENT = [
    *[K.TEST_FAILURE, K.NO_DIFF, K.UNKNOWN, None, None] * 2,
    *[K.RATE_LIMITED, K.NETWORK, K.OVERLOADED, K.MERGE_CONFLICT],
    *[K.OUTPUT_FORMAT, K.AGENT_CONFUSION, K.TIMEOUT, K.GATE_TAMPERING],
    *K,
]
TURNS = st.builds(
    Turn,
    kind=st.sampled_from(FREQUENT),
    said=st.sampled_from("aaabc"),
    diff=st.sampled_from("xxxyz"),
    message=st.sampled_from(["it is odd"] * 6 + ["x: command not found", "No space left on device: 'x'"]),
    theirs=st.booleans(),
    cut=st.sampled_from([False] * 7 + [True]),
    reset=st.none() | st.floats(-10, 5000),
    cost=MONEY,
    changed=st.sampled_from([(), ("a.py",), ("a.py", "db/b.sql", "test_a.py")]),
    lines=st.sampled_from([0, 1, 2, 50]),
    reason=st.sampled_from([None] * 16 + list(BlockedReason)),
    lands=st.sampled_from([False, False, True]),
)
WORDS = st.builds(
    Word,
    outcome=st.sampled_from([AdviceOutcome.ADVISED, *AdviceOutcome]),
    strategy=st.sampled_from(
        ["alternative_approach", "retry_modified", "skip_and_continue", "escalate", "retry_same", "", "pray"]
    ),
    verdict=st.sampled_from(["approve", "request_changes", "request_changes", "needs_human"]),
    resolution=st.sampled_from(["expand", "redesign", "person"]),
    recoverable=st.sampled_from(["yes", "yes", "maybe", "no"]),
    text=st.sampled_from(["try b.py", "try c.py", ""]),
    delay=st.none() | st.floats(0, 500),
    cost=MONEY,
    approved=st.booleans(),
)
STORIES = st.builds(
    Story,
    POLICIES,
    ISSUES,
    st.lists(TURNS, min_size=2, max_size=7),
    st.lists(WORDS, min_size=1, max_size=5),
    st.floats(0, 1, exclude_max=True),
)
