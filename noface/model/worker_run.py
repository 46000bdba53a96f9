"""A run of a model through its agent: who works, what it used, how it ended, what it reports of its work.

Durations are seconds, money US dollars.
"""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated

from noface.model.access import Network, Permissions, Settings, Tool
from noface.model.description import Minimum, OneOf
from noface.model.failure import Failure

PLAIN_AGENTS = ("command", "scripted")
"""Agents that print any program's output: their words mean nothing."""


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A named model of the configuration: which agent runs it, how, and within which limits.

    `own_prices`: a person has set the prices of a million tokens. `env_pass` are patterns of noface's own variables.
    `boxed`: it runs in the sandbox, if any. `tools` None: all that the agent has. In an order of a role they are the
    role's.
    """

    name: Annotated[str, "Its name."]
    agent: Annotated[str, "The agent that runs it."]
    model: Annotated[str, "The model's name as the agent knows it; may be empty."] = ""
    tier: Annotated[int, "Its tier; higher is stronger."] = 1
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    timeout_s: float = 1800.0
    idle_timeout_s: float = 300.0
    max_cost_usd: float | None = None
    usd_per_mtok_in: float | None = None
    usd_per_mtok_out: float | None = None
    own_prices: bool = False
    env_pass: tuple[str, ...] = ()
    boxed: bool = True
    network: Network = Network.ON
    settings: Settings = Settings.PROJECT
    tools: tuple[Tool, ...] | None = None
    permissions: Permissions = Permissions.FULL

    def may(self, tool: Tool) -> bool:
        return self.tools is None or tool in self.tools


def as_role(model: ModelSpec) -> ModelSpec:
    """Return a model that is asked rather than put to work: it may only read."""
    return replace(model, tools=(Tool.READ,), permissions=Permissions.READ_ONLY)


THINKING_FACTOR = 2
"""How many times the time and money a run gets that thinks longer."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a worker run consumed; None: unknown. `tokens_cached` are part of `tokens_in`. `priced`: an estimate."""

    cost_usd: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    session_id: str | None = None
    tokens_cached: int | None = None
    priced: bool = False

    @property
    def tokens(self) -> int | None:
        counts = [count for count in (self.tokens_in, self.tokens_out) if count is not None]
        return sum(counts) if counts else None


class EndedBy(StrEnum):
    """Who ended a process. ALLOWANCE: the program itself, at the money that its issue or the run had left for it.

    LAST_EVENT: noface, as its stream had said that the work is over, and the program stayed.
    """

    ITSELF = "itself"
    TIMEOUT = "timeout"
    IDLE = "idle"
    CANCELLED = "cancelled"
    LOST = "lost"
    BUDGET = "budget"
    ALLOWANCE = "allowance"
    LAST_EVENT = "last-event"


@dataclass(frozen=True, slots=True)
class Session:
    """What an agent keeps of a conversation: `id` is its own name for it, `attempt` the one that had it last.

    `directory` is that attempt's folder. `prompt` is all that is told when it goes on. `used` is what it has counted.
    """

    id: str
    attempt: int
    directory: str
    prompt: str
    used: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Resumed:
    """An earlier session that a run was to go on with."""

    session: Annotated[str, "What the agent calls it."]
    attempt: Annotated[int, Minimum(1), "The attempt that had it before."]
    refused: Annotated[str, "Why the agent could not go on with it, so that it began afresh; empty where it did."] = ""


@dataclass(frozen=True, slots=True)
class AgentRun:
    """How a worker run ended. An interrupted run is judged by `ended_by`, never by its exit code.

    `answer` is its last message, where a report is looked for. `out_of_reach` says what its sandbox kept from it; that
    is to blame if the run has changed nothing. `refused` is what the agent program itself kept its model from doing.
    """

    exit_code: int | None
    signal: int | None
    ended_by: EndedBy
    seconds: float
    usage: Usage = field(default_factory=Usage)
    last_words: str = ""
    error: Failure | None = None
    started: bool = True
    survivors_killed: int = 0
    answer: str = ""
    resumed: Resumed | None = None
    out_of_reach: Failure | None = None
    refused: tuple[str, ...] = ()


class ReportStatus(StrEnum):
    """How a worker sees its own work."""

    DONE = "done"
    PARTIAL = "partial"
    BLOCKED = "blocked"
    ALREADY_DONE = "already_done"
    TOO_LARGE = "too_large"


class Asked(StrEnum):
    """Who can answer a question: the project's files, whoever may choose, a person alone."""

    PROJECT = "project"
    CHOICE = "choice"
    PERSON = "person"
    ANYBODY = ""


class BlockedReason(StrEnum):
    """Why a worker says that it cannot go on (K5)."""

    BOUNDARY_VIOLATION = "boundary_violation"
    CONTRACT_CHANGE = "contract_change"
    DEPENDENCY_ISSUE = "dependency_issue"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a worker's, and who can answer it; `str` gives its text and place."""

    text: Annotated[str, "What is asked."]
    who: Annotated[Asked, OneOf(Asked), "Who can answer: its files, who may choose, a person; empty: unsaid."] = (
        Asked.ANYBODY
    )
    place: Annotated[str, "Where in the project the answer is looked for; may be empty."] = ""

    def __str__(self) -> str:
        return f"{self.text} (to be looked for in {self.place})" if self.place else self.text


@dataclass(frozen=True, slots=True)
class ChangedTest:
    """An expectation of main's tests that a worker changed, as the issue asks in its words."""

    test: Annotated[str, "The test."]
    sentence: Annotated[str, "The sentence of the issue that asks for it."]


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """What a worker says of its work; evidence outranks it (law 10)."""

    status: Annotated[ReportStatus, OneOf(ReportStatus), "How it sees it."]
    summary: Annotated[str, "What was done, or what stops it."] = ""
    unverified: Annotated[tuple[str, ...], "What it did not verify."] = ()
    blocked_reason: Annotated[BlockedReason | None, OneOf(BlockedReason), "Why it cannot go on."] = None
    risks: Annotated[tuple[str, ...], "What could be wrong with the work."] = ()
    gaps: Annotated[tuple[str, ...], "What was missing."] = ()
    made_up: Annotated[tuple[str, ...], "What it assumed or invented, because it was not given."] = ()
    questions: Annotated[tuple[Question, ...], "What it asks."] = ()
    evidence: Annotated[str, "The command that shows that it is done already."] = ""
    parts: Annotated[tuple[str, ...], "What it would divide the issue into."] = ()
    changed_tests: Annotated[tuple[ChangedTest, ...], "Expectations of main's tests that it changed."] = ()
    needs: Annotated[tuple[str, ...], "Ids of issues that must be merged first."] = ()
    left: Annotated[tuple[str, ...], "What of the issue it has not done."] = ()

    @property
    def asks(self) -> tuple[str, ...]:
        return tuple(map(str, self.questions))

    def asked_of(self, *who: Asked) -> tuple[str, ...]:
        return tuple(str(question) for question in self.questions if question.who in who)
