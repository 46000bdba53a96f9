"""What noface can do next with an issue. An action is a value with its reason; `engine/dispatch` carries it out.

A new way to run a worker is a `Mode`, its entry in `data/actions.toml`, and the rule of the policy that asks for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, NamedTuple

from noface.data import table
from noface.model.description import OneOf
from noface.model.history import Topic
from noface.model.taxonomy import Category, FailureKind


class Mode(StrEnum):
    """How a worker is run. The value is the action's name.

    SAME: something other than the worker was to blame, nothing is charged (law 8). FEEDBACK: N6, L6. CONTEXT: K3.
    ESCALATE: N11, L5. THINK: L5. REDUCE: N3, K4. SWITCH: another model of the tier while one waits; nothing is charged
    (N1).
    """

    FIRST = "FirstAttempt"
    SAME = "RetrySame"
    FEEDBACK = "RetryWithFeedback"
    CONTEXT = "AddContext"
    ESCALATE = "Escalate"
    THINK = "ThinkLonger"
    REDUCE = "ReduceScope"
    SWITCH = "SwitchModel"


class _Named:
    """What all actions have: the name that people see and rows keep."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return type(self).__name__


Absence = tuple[str, float]
"""A model that is away, and until when (epoch seconds)."""


@dataclass(frozen=True, slots=True)
class RunWorker(_Named):
    """Run a worker. `instead_of` is the model that a SWITCH stands in for, `beside` those of other candidates."""

    mode: Mode
    model: str
    reason: str
    think: bool = False
    instead_of: Absence | None = None
    beside: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.mode.value


ASK_NAMES: Mapping[Topic, str] = {
    Topic.DIAGNOSIS: "Diagnose",
    Topic.REFLECTION: "Reflect",
    Topic.BREAKDOWN: "BreakDown",
    Topic.REVIEW: "Review",
    Topic.CHANGED_TESTS: "Review",
    Topic.MISSING: "Review",
}
"""What asking about a topic is called; about the others, a resolver is called."""
CALL_RESOLVER = "CallResolver"


@dataclass(frozen=True, slots=True)
class Ask(_Named):
    """Ask before the next worker runs; the answer is recorded, and the policy decides again (S1, N7, N8, N2, K5).

    `model` is "" if noface answers itself: dependencies, a breakdown by the diff's files, tests that may change.
    """

    topic: Topic
    model: str
    reason: str

    @property
    def name(self) -> str:
        return ASK_NAMES.get(self.topic, CALL_RESOLVER)


@dataclass(frozen=True, slots=True)
class WaitUntil(_Named):
    """Wait, then run `model` again (N1). `until` is epoch seconds.

    With `provider` the wait is the model's, shared by every issue that would run it; else it is the issue's own.
    """

    model: str
    until: float
    reason: str
    think: bool = False
    provider: bool = True


@dataclass(frozen=True, slots=True)
class AwaitIssues(_Named):
    """Wait until other issues, which the work turned out to need, are merged (K5, dependency_issue)."""

    needs: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Skip(_Named):
    """Leave the issue undone, as a diagnosis or the configuration says; what depends on it waits for a person.

    `satisfied`: main holds already what it asks for; then what depends on it may start.
    """

    reason: str
    satisfied: bool = False


@dataclass(frozen=True, slots=True)
class RequestApproval(_Named):
    """Ask a person before going on (L10). `kind` None: the work passed and may not land by itself.

    `done`: is there nothing to do? `parts`: all parts have landed; is nothing missing?
    """

    kind: FailureKind | None
    reason: str
    paths: tuple[str, ...] = ()
    done: bool = False
    parts: bool = False


@dataclass(frozen=True, slots=True)
class Block(_Named):
    """Stop and tell a person (N13). `kind` is what it ended with, `limit` the key of [retry] whose money is spent."""

    kind: FailureKind
    reason: str
    limit: str = ""


@dataclass(frozen=True, slots=True)
class Land(_Named):
    """Merge the attempt to main. `parts`: the issue's parts have landed in its place, and it is closed."""

    reason: str
    parts: bool = False


Terminal = Block | Land | Skip | RequestApproval | AwaitIssues
"""Here noface stops, until a person or another issue has done something."""

Action = RunWorker | Ask | WaitUntil | Terminal

NAMES: tuple[str, ...] = (
    *(mode.value for mode in Mode),
    *("BreakDown", CALL_RESOLVER, "Diagnose", "Reflect", "Review"),
    *(shape.__name__ for shape in (WaitUntil, AwaitIssues, Skip, RequestApproval, Block, Land)),
)


def model_of(action: Action) -> str:
    return action.model if isinstance(action, RunWorker | Ask | WaitUntil) else ""


def thinks(action: Action) -> bool:
    return isinstance(action, RunWorker | WaitUntil) and action.think


def action_instruction(name: str, *, from_main: bool = False) -> str:
    """Return what the prompt says of the action that starts an attempt; `from_main`: without the work before."""
    entry = table("actions").get(name, {})
    return str(entry.get("from_main" if from_main and "from_main" in entry else "instruction", ""))


def action_text(name: str, key: str) -> str:
    return str(table("actions").get(name, {}).get(key, ""))


class ApprovalKind(StrEnum):
    """What a person is asked.

    LANDING: may the work land? PATHS: may it change more? CONTRACT: is a test or a contract wrong? GOING_ON: may
    it go on, or be tried again? DONE: is it done already? COMPLETE: is nothing missing, now that its parts have landed?
    UNDONE: can it be left undone?
    """

    LANDING = "landing"
    PATHS = "paths"
    CONTRACT = "contract"
    GOING_ON = "going_on"
    DONE = "done"
    COMPLETE = "complete"
    UNDONE = "undone"


def approval_kind(action: RequestApproval) -> ApprovalKind:
    """Return what a request for approval wants."""
    if action.done or action.parts:
        return ApprovalKind.DONE if action.done else ApprovalKind.COMPLETE
    if action.kind is None:
        return ApprovalKind.LANDING
    if action.paths:
        return ApprovalKind.PATHS
    return ApprovalKind.CONTRACT if action.kind.category is Category.BOUNDARY else ApprovalKind.GOING_ON


class NextAction(NamedTuple):
    """What followed it; null while that is open."""

    kind: Annotated[str, OneOf("noface.model.actions.NAMES"), "The action."]
    reason: Annotated[str, "Why."] = ""
