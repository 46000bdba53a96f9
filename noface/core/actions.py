"""What noface can do next with an issue. An action is a value; `loop/perform` carries it out.

Every action has a `reason` that a person will read in `noface show`.
"""

from dataclasses import dataclass

from noface.core.taxonomy import FailureKind


@dataclass(frozen=True, slots=True)
class FirstAttempt:
    """Give the issue to a worker for the first time (or for the first time since it was unblocked)."""

    model: str
    reason: str


@dataclass(frozen=True, slots=True)
class RetryWithFeedback:
    """Run the same model again; the prompt says what went wrong (N6, L6)."""

    model: str
    reason: str


@dataclass(frozen=True, slots=True)
class Escalate:
    """Run a stronger model with fresh context and all earlier feedback (N11, L5)."""

    model: str
    reason: str


@dataclass(frozen=True, slots=True)
class AddContext:
    """Run again after the worker was unsure: the prompt answers with what noface knows (K3)."""

    model: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReduceScope:
    """Run again with the order to do less and finish it (N3, K4)."""

    model: str
    reason: str


@dataclass(frozen=True, slots=True)
class RetrySame:
    """Run again because something other than the worker was to blame; nothing is charged (law 8)."""

    model: str
    reason: str


@dataclass(frozen=True, slots=True)
class WaitUntil:
    """Wait for a provider to come back, then run `model` again (N1). `until` is epoch seconds."""

    model: str
    until: float
    reason: str


@dataclass(frozen=True, slots=True)
class Block:
    """Stop and tell a person (N13). `kind` is what it ended with."""

    kind: FailureKind
    reason: str


@dataclass(frozen=True, slots=True)
class Land:
    """Merge the attempt to main."""

    reason: str


Action = FirstAttempt | RetryWithFeedback | Escalate | AddContext | ReduceScope | RetrySame | WaitUntil | Block | Land


def kind_of(action: Action) -> str:
    """Return the action's name as it is shown and stored."""
    return type(action).__name__
