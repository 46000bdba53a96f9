"""The words of the failure taxonomy that noface.toml may use: kinds, categories, strategies (N12, L14).

The configuration lies below the core and cannot import it; a test says that both speak the same language.
"""

from typing import Literal, TypeGuard, get_args

KindName = Literal[
    "SYNTAX_ERROR",
    "RUNTIME_ERROR",
    "TEST_FAILURE",
    "LINT_FAILURE",
    "NO_TESTS",
    "NO_DIFF",
    "REVIEW_REJECTED",
    "OUTPUT_FORMAT",
    "AGENT_CRASH",
    "MERGE_CONFLICT",
    "AGENT_CONFUSION",
    "AGENT_REFUSED",
    "TIMEOUT",
    "RESOURCE_EXHAUSTED",
    "BOUNDARY_VIOLATION",
    "GATE_TAMPERING",
    "RATE_LIMITED",
    "OVERLOADED",
    "NETWORK",
    "AUTH",
    "MISCONFIGURED",
    "ENVIRONMENT",
    "BASELINE_RED",
    "NO_PROGRESS",
    "UNKNOWN",
]
"""Why an attempt failed."""

CategoryName = Literal[
    "correctable",
    "context_gap",
    "complexity",
    "boundary",
    "transient",
    "environment",
    "no_progress",
    "unknown",
]
"""What kind of trouble a failure is."""

StrategyName = Literal[
    "feedback",
    "escalate",
    "think",
    "context",
    "reduce",
    "breakdown",
    "resolver",
    "diagnose",
    "wait",
    "switch",
    "skip",
    "approval",
    "block",
]
"""How a failure is answered."""

AnswerName = Literal[KindName, CategoryName]
"""What a rung of the ladder may answer: one kind, or all of a category."""

KINDS: tuple[KindName, ...] = get_args(KindName)
STRATEGIES: tuple[StrategyName, ...] = get_args(StrategyName)

_PROVIDER_AWAY: frozenset[KindName] = frozenset({"RATE_LIMITED", "OVERLOADED", "NETWORK"})
_SURROUNDINGS: frozenset[KindName] = frozenset({"AUTH", "MISCONFIGURED", "ENVIRONMENT", "BASELINE_RED"})
_WAITING: tuple[StrategyName, ...] = ("wait", "switch", "block")
_STOPPING: tuple[StrategyName, ...] = ("block",)
_NOT_AGAIN: tuple[StrategyName, ...] = ("escalate", "block")
_WORKING: tuple[StrategyName, ...] = tuple(name for name in STRATEGIES if name not in ("wait", "switch"))


def allowed_strategies(kind: KindName) -> tuple[StrategyName, ...]:
    """Return the strategies that make sense for a kind: no prompt mends a rate limit, no wait a failing test."""
    if kind in _PROVIDER_AWAY:
        return _WAITING
    if kind == "NO_PROGRESS":
        return _NOT_AGAIN
    return _STOPPING if kind in _SURROUNDINGS else _WORKING


def is_kind(word: object) -> TypeGuard[KindName]:
    """Tell whether `word` names a failure kind."""
    return word in KINDS


def is_strategy(word: object) -> TypeGuard[StrategyName]:
    """Tell whether `word` names a strategy."""
    return word in STRATEGIES
