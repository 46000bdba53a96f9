"""Retry policies for properties: one that is usual, and any that a noface.toml can describe."""

from dataclasses import replace

from hypothesis import strategies as st

from noface.model.taxonomy import FailureKind
from noface.recovery.retry_policy import Policy, RoleModels, Rung

TIERS = (("haiku", 1), ("sonnet", 2), ("twin", 2), ("opus", 3))
LADDER = (Rung("sonnet", 2, 2), Rung("opus", 3, 1), Rung("opus", 3, 5, think=True))
POLICY = Policy(LADDER, TIERS)
MODELS = st.sampled_from([name for name, _ in TIERS])


@st.composite
def policies(draw):
    rungs = st.builds(
        Rung,
        model=st.just(""),
        tier=st.just(0),
        times=st.integers(1, 4),
        think=st.booleans(),
        answers=st.lists(st.sampled_from(FailureKind), max_size=2, unique=True).map(tuple),
    )
    ladder = [(draw(MODELS), rung) for rung in draw(st.lists(rungs, min_size=1, max_size=4))]
    kinds = draw(st.lists(st.sampled_from(FailureKind), max_size=5, unique=True))
    return Policy(
        ladder=tuple(replace(rung, model=model, tier=dict(TIERS)[model]) for model, rung in ladder),
        tiers=TIERS,
        attempts_max=draw(st.integers(1, 8)),
        block_after=draw(st.none() | st.integers(1, 4)),
        transient_retries=draw(st.integers(0, 4)),
        backoff_base_s=draw(st.floats(0, 100)),
        alternatives=tuple(draw(st.lists(MODELS, max_size=4, unique=True))),
        strategies=tuple((kind, draw(st.sampled_from(kind.allowed))) for kind in kinds),
        roles=RoleModels(*(draw(st.none() | MODELS) for _ in range(5))),
        reflect=draw(st.booleans()),
        strategies_max=draw(st.integers(1, 4)),
        allow_skip=draw(st.booleans()),
        breakdown=draw(st.booleans()),
    )
