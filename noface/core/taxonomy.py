"""The failure taxonomy (N12, K1, P1): every way an attempt can end, and the category that picks a strategy."""

from enum import StrEnum


class Category(StrEnum):
    """What kind of trouble a failure is; the policy's defaults hang on this."""

    CORRECTABLE = "correctable"
    CONTEXT_GAP = "context_gap"
    COMPLEXITY = "complexity"
    BOUNDARY = "boundary"
    TRANSIENT = "transient"
    ENVIRONMENT = "environment"
    NO_PROGRESS = "no_progress"
    UNKNOWN = "unknown"


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
    def category(self) -> Category:
        """The category whose default strategy answers this kind."""
        return _CATEGORY[self]


_BY_CATEGORY: dict[Category, tuple[FailureKind, ...]] = {
    Category.CORRECTABLE: (
        FailureKind.SYNTAX_ERROR,
        FailureKind.RUNTIME_ERROR,
        FailureKind.TEST_FAILURE,
        FailureKind.LINT_FAILURE,
        FailureKind.NO_TESTS,
        FailureKind.NO_DIFF,
        FailureKind.REVIEW_REJECTED,
        FailureKind.OUTPUT_FORMAT,
        FailureKind.AGENT_CRASH,
        FailureKind.MERGE_CONFLICT,
    ),
    Category.CONTEXT_GAP: (FailureKind.AGENT_CONFUSION, FailureKind.AGENT_REFUSED),
    Category.COMPLEXITY: (FailureKind.TIMEOUT, FailureKind.RESOURCE_EXHAUSTED),
    Category.BOUNDARY: (FailureKind.BOUNDARY_VIOLATION, FailureKind.GATE_TAMPERING),
    Category.TRANSIENT: (FailureKind.RATE_LIMITED, FailureKind.OVERLOADED, FailureKind.NETWORK),
    Category.ENVIRONMENT: (
        FailureKind.AUTH,
        FailureKind.MISCONFIGURED,
        FailureKind.ENVIRONMENT,
        FailureKind.BASELINE_RED,
    ),
    Category.NO_PROGRESS: (FailureKind.NO_PROGRESS,),
    Category.UNKNOWN: (FailureKind.UNKNOWN,),
}
_CATEGORY = {kind: category for category, kinds in _BY_CATEGORY.items() for kind in kinds}


class IssueStatus(StrEnum):
    """Where an issue stands."""

    READY = "ready"
    RUNNING = "running"
    LANDING = "landing"
    MERGED = "merged"
    WAITING = "waiting"
    APPROVAL = "approval"
    BLOCKED = "blocked"
    EPIC = "epic"
    SKIPPED = "skipped"


PASSED = "PASSED"
"""The outcome of an attempt whose hard gates all passed."""

INTERRUPTED = "INTERRUPTED"
"""The outcome of an attempt that ended because noface did; it is charged to nobody."""
