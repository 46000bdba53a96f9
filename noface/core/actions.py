"""What noface can do next with an issue. An action is a value; `loop/perform` carries it out.

Every action has a `reason` that a person will read in `noface show`.
"""

from dataclasses import dataclass

from noface.core.history import Topic
from noface.core.taxonomy import FailureKind
from noface.data import table


@dataclass(frozen=True, slots=True)
class FirstAttempt:
    """Give the issue to a worker for the first time (or for the first time since it was unblocked)."""

    model: str
    reason: str
    think: bool = False


@dataclass(frozen=True, slots=True)
class RetrySame:
    """Run again because something other than the worker was to blame; nothing is charged (law 8)."""

    model: str
    reason: str
    delay_s: float = 0.0
    think: bool = False


@dataclass(frozen=True, slots=True)
class RetryWithFeedback:
    """Run the same model again; the prompt says what went wrong (N6, L6)."""

    model: str
    reason: str
    think: bool = False


@dataclass(frozen=True, slots=True)
class AddContext:
    """Run again after the worker was unsure: the prompt answers with what noface knows (K3)."""

    model: str
    reason: str
    think: bool = False


@dataclass(frozen=True, slots=True)
class Escalate:
    """Run a stronger model with fresh context and all earlier feedback (N11, L5)."""

    model: str
    reason: str
    think: bool = False


@dataclass(frozen=True, slots=True)
class ThinkLonger:
    """Run with extended thinking and a larger budget, with all that was learnt so far (L5)."""

    model: str
    reason: str
    think: bool = True


@dataclass(frozen=True, slots=True)
class ReduceScope:
    """Run again with the order to do less and finish it (N3, K4)."""

    model: str
    reason: str
    think: bool = False


@dataclass(frozen=True, slots=True)
class SwitchModel:
    """Run another model of the same tier while `away` waits for its provider until `until` (N1). Nothing is charged."""

    model: str
    away: str
    until: float
    reason: str
    think: bool = False


@dataclass(frozen=True, slots=True)
class BreakDown:
    """Make smaller issues of it: the planner `model` proposes them; "" splits by the files of the diff (N8, N9)."""

    model: str
    reason: str


@dataclass(frozen=True, slots=True)
class CallResolver:
    """Ask a specialist before the next attempt (K5). `model` "" where noface answers itself (dependencies)."""

    topic: Topic
    model: str
    reason: str


@dataclass(frozen=True, slots=True)
class Diagnose:
    """Ask a model why it failed and what would help (S1, S2)."""

    model: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reflect:
    """Ask the worker's own model why its last attempt failed and how it will mend it (N7)."""

    model: str
    reason: str


@dataclass(frozen=True, slots=True)
class Review:
    """Show work that passed to a reviewer before it lands (N2)."""

    model: str
    reason: str


@dataclass(frozen=True, slots=True)
class WaitUntil:
    """Wait, then run `model` again (N1). `until` is epoch seconds.

    With `provider` the wait is the model's, shared by every issue that would run it; else it is the issue's own.
    """

    model: str
    until: float
    reason: str
    think: bool = False
    provider: bool = True


@dataclass(frozen=True, slots=True)
class AwaitIssues:
    """Wait until other issues, which the work turned out to need, are merged (K5, dependency_issue)."""

    needs: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Skip:
    """Leave the issue undone, as a diagnosis or the configuration says; what depends on it waits for a person."""

    reason: str


@dataclass(frozen=True, slots=True)
class RequestApproval:
    """Ask a person before going on (L10). `kind` None: the work passed and may not land by itself.

    `paths` are those a resolver would let the issue change as well.
    """

    kind: FailureKind | None
    reason: str
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """Stop and tell a person (N13). `kind` is what it ended with, `limit` the key of [retry] whose money is spent."""

    kind: FailureKind
    reason: str
    limit: str = ""


@dataclass(frozen=True, slots=True)
class Land:
    """Merge the attempt to main."""

    reason: str


Attempting = (
    FirstAttempt | RetrySame | RetryWithFeedback | AddContext | Escalate | ThinkLonger | ReduceScope | SwitchModel
)
"""The actions that run a worker."""

Asking = BreakDown | CallResolver | Diagnose | Reflect | Review
"""The actions that ask before the next worker runs; the answer is recorded, and the policy decides again."""

Action = Attempting | Asking | WaitUntil | AwaitIssues | Skip | RequestApproval | Block | Land


def kind_of(action: Action) -> str:
    """Return the action's name as it is shown and stored."""
    return type(action).__name__


def topic_of(action: Asking) -> Topic:
    """Return what an asking action is about."""
    match action:
        case CallResolver(topic=topic):
            return topic
        case Diagnose():
            return Topic.DIAGNOSIS
        case Reflect():
            return Topic.REFLECTION
        case BreakDown():
            return Topic.BREAKDOWN
        case Review():
            return Topic.REVIEW


def action_instruction(name: str) -> str:
    """Return what a worker is told with the action of that name that starts its attempt; "" where nothing is."""
    return str(table("actions").get(name, {}).get("instruction", ""))


def followed_by(name: str) -> str:
    """Return in a person's words that the action of that name followed; "" where questions tell of themselves."""
    return str(table("actions").get(name, {}).get("followed", ""))
