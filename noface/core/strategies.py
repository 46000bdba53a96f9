"""Which strategy answers which kind of failure, unless `[retry.strategies]` says otherwise (N12, K1, DESIGN)."""

from enum import StrEnum

from noface.core.taxonomy import Category, FailureKind


class Strategy(StrEnum):
    """How a failure is answered. The policy says what each comes to in the end."""

    FEEDBACK = "feedback"
    ESCALATE = "escalate"
    THINK = "think"
    CONTEXT = "context"
    REDUCE = "reduce"
    BREAKDOWN = "breakdown"
    RESOLVER = "resolver"
    DIAGNOSE = "diagnose"
    WAIT = "wait"
    SWITCH = "switch"
    SKIP = "skip"
    APPROVAL = "approval"
    BLOCK = "block"


DEFAULT_BY_CATEGORY: dict[Category, Strategy] = {
    Category.CORRECTABLE: Strategy.FEEDBACK,
    Category.CONTEXT_GAP: Strategy.CONTEXT,
    Category.COMPLEXITY: Strategy.REDUCE,
    Category.BOUNDARY: Strategy.RESOLVER,
    Category.TRANSIENT: Strategy.SWITCH,
    Category.ENVIRONMENT: Strategy.BLOCK,
    Category.NO_PROGRESS: Strategy.ESCALATE,
    Category.UNKNOWN: Strategy.DIAGNOSE,
}

_WAITING = (Strategy.WAIT, Strategy.SWITCH, Strategy.BLOCK)
_STOPPING = (Strategy.BLOCK,)
_NOT_AGAIN = (Strategy.ESCALATE, Strategy.BLOCK)
_WORKING = tuple(strategy for strategy in Strategy if strategy not in (Strategy.WAIT, Strategy.SWITCH))


def default_strategy(kind: FailureKind) -> Strategy:
    """Return how a kind is answered where the configuration does not say."""
    return DEFAULT_BY_CATEGORY[kind.category]


def allowed(kind: FailureKind) -> tuple[Strategy, ...]:
    """Return the strategies that make sense for a kind: no prompt mends a rate limit, no wait a failing test."""
    if kind.category is Category.TRANSIENT:
        return _WAITING
    if kind.category is Category.ENVIRONMENT:
        return _STOPPING
    if kind.category is Category.NO_PROGRESS:
        return _NOT_AGAIN
    return _WORKING
