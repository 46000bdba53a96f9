"""The failure taxonomy (N12, K1, P1): every way an attempt can end, and what noface knows of each (kinds.toml)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from noface.data import table
from noface.model.codec import decode


class Category(StrEnum):
    """What kind of trouble a failure is; the policy's rules look at this."""

    CORRECTABLE = "correctable"
    CONTEXT_GAP = "context_gap"
    COMPLEXITY = "complexity"
    BOUNDARY = "boundary"
    TRANSIENT = "transient"
    ENVIRONMENT = "environment"
    NO_PROGRESS = "no_progress"
    UNKNOWN = "unknown"

    @property
    def external(self) -> bool:
        """True if the cause lies outside the work: nobody is charged, no prompt says it, and it clears by itself."""
        return self in (Category.TRANSIENT, Category.ENVIRONMENT)


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


class DiagnosisStrategy(StrEnum):
    """What a diagnosis can propose (S3), by the names that models and the published schema use."""

    ALTERNATIVE = "alternative_approach"
    MODIFIED = "retry_modified"
    SKIP = "skip_and_continue"
    ESCALATE = "escalate"
    SAME = "retry_same"


class Reason(StrEnum):
    """Why a task failed, in the terms of the error handling pattern (P2)."""

    CONTEXT_RETRIEVAL = "context_retrieval_failure"
    CONTEXT_MATCHING = "context_matching_failure"
    CONTEXT_PARSING = "context_parsing_failure"
    XML_VALIDATION = "xml_validation_failure"
    OUTPUT_FORMAT = "output_format_failure"
    TIMEOUT = "execution_timeout"
    HALTED = "execution_halted"
    SUBTASK = "subtask_failure"
    INPUT_VALIDATION = "input_validation_failure"
    UNEXPECTED = "unexpected_error"


class FailureKind(StrEnum):
    """Why an attempt failed."""

    SYNTAX_ERROR = "SYNTAX_ERROR"
    RUNTIME_ERROR = "RUNTIME_ERROR"
    TEST_FAILURE = "TEST_FAILURE"
    LINT_FAILURE = "LINT_FAILURE"
    NO_TESTS = "NO_TESTS"
    NO_DIFF = "NO_DIFF"
    REVIEW_REJECTED = "REVIEW_REJECTED"
    OUTPUT_FORMAT = "OUTPUT_FORMAT"
    AGENT_CRASH = "AGENT_CRASH"
    MERGE_CONFLICT = "MERGE_CONFLICT"
    AGENT_CONFUSION = "AGENT_CONFUSION"
    AGENT_BLOCKED = "AGENT_BLOCKED"
    AGENT_REFUSED = "AGENT_REFUSED"
    TIMEOUT = "TIMEOUT"
    RESOURCE_EXHAUSTED = "RESOURCE_EXHAUSTED"
    BOUNDARY_VIOLATION = "BOUNDARY_VIOLATION"
    GATE_TAMPERING = "GATE_TAMPERING"
    RATE_LIMITED = "RATE_LIMITED"
    OVERLOADED = "OVERLOADED"
    NETWORK = "NETWORK"
    AUTH = "AUTH"
    MISCONFIGURED = "MISCONFIGURED"
    ENVIRONMENT = "ENVIRONMENT"
    BASELINE_RED = "BASELINE_RED"
    NO_PROGRESS = "NO_PROGRESS"
    UNKNOWN = "UNKNOWN"

    @property
    def info(self) -> "KindInfo":
        return _infos()[self]

    @property
    def category(self) -> Category:
        return self.info.category

    @property
    def precedence(self) -> tuple[bool, bool, int]:
        return self is FailureKind.UNKNOWN, self.info.gate is None, self.info.gate or 0

    @property
    def allowed(self) -> tuple[Strategy, ...]:
        """The strategies that make sense: no prompt mends a rate limit, no wait a failing test."""
        if self is FailureKind.BASELINE_RED:  # of all that is wrong outside, main alone mends itself in a run
            return (Strategy.WAIT, Strategy.BLOCK)
        return _ALLOWED.get(self.category, _WORKING)


_WORKING = tuple(strategy for strategy in Strategy if strategy not in (Strategy.WAIT, Strategy.SWITCH))
_ALLOWED: Mapping[Category, tuple[Strategy, ...]] = {
    Category.TRANSIENT: (Strategy.WAIT, Strategy.SWITCH, Strategy.BLOCK),
    Category.ENVIRONMENT: (Strategy.BLOCK,),
    Category.NO_PROGRESS: (Strategy.ESCALATE, Strategy.BLOCK),
}


@dataclass(frozen=True, slots=True)
class KindInfo:
    """An entry of kinds.toml, which says what its fields are."""

    what: str
    happened: str
    category: Category
    strategy: Strategy
    reason: Reason
    instruction: str
    task: str
    first_step: str
    question: str
    recommendation: str
    instruction_by_gate: str = ""
    names_tests: bool = False
    yes: bool = False
    gate: int | None = None
    redundant_prefixes: tuple[str, ...] = ()
    cut_off: str = ""
    talk: bool = False
    last_output: bool = False
    pointless: bool = False


@cache
def _infos() -> Mapping[FailureKind, KindInfo]:
    return {FailureKind(kind): decode(KindInfo, entry) for kind, entry in table("kinds").items()}


def gate_kinds() -> tuple[FailureKind, ...]:
    return tuple(kind for kind, info in _infos().items() if info.gate is not None)


def happened(outcome: str) -> str:
    if outcome == PASSED:
        return "passed every gate"
    kind = FailureKind.__members__.get(outcome)
    return kind.info.happened if kind is not None else "was interrupted"


def instruction_for(outcome: str, *, by_gate: bool = False) -> str:
    kind = FailureKind.__members__.get(outcome)
    if kind is None:
        return ""
    return (kind.info.instruction_by_gate if by_gate else "") or kind.info.instruction


def reaches_workers(outcome: str, *, charged: bool) -> bool:
    """True if prompts mention an outcome: no worker can mend what lies outside the work (law 8)."""
    kind = FailureKind.__members__.get(outcome)
    return charged or kind is None or not kind.category.external


class IssueStatus(StrEnum):
    """Where an issue stands."""

    READY = "ready"
    RUNNING = "running"
    LANDING = "landing"
    REVIEW = "review"
    MERGED = "merged"
    WAITING = "waiting"
    APPROVAL = "approval"
    BLOCKED = "blocked"
    EPIC = "epic"
    SKIPPED = "skipped"


class Cause(StrEnum):
    """What a program has to know of why an issue stands where it stands; the reason beside it is for people alone.

    HELD: its work passed, and something is in the way of landing. APPROVED: the next run goes on with what was
    approved. TAKEN_BACK: it has landed, and main does not hold it.
    """

    NONE = ""
    HELD = "held"
    PROVIDER = "provider"
    RED_MAIN = "red_main"
    APPROVED = "approved"
    TAKEN_BACK = "taken_back"


PASSED = "PASSED"

INTERRUPTED = "INTERRUPTED"
"""The outcome of an attempt that ended because noface did; it is charged to nobody."""
