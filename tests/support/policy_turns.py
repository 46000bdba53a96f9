"""What happens in the random world of `policy_world`: what worker runs come to, and what anybody answers."""

from dataclasses import dataclass

from noface.model.history import AdviceOutcome
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import BlockedReason, ReportStatus, WorkerReport

OTHER_ISSUES = ("5", "6")


@dataclass(frozen=True)
class Turn:
    """What a worker run comes to. `kind` None: it passes; `reset` in seconds from now; `lands`: main takes it."""

    kind: FailureKind | None
    said: str = "a"
    diff: str = "x"
    message: str = "it is odd"
    theirs: bool = False
    cut: bool = False
    reset: float | None = None
    cost: float | None = None
    changed: tuple[str, ...] = ()
    lines: int = 0
    reason: BlockedReason | None = None
    lands: bool = True


@dataclass(frozen=True)
class Word:
    """What anybody answers, whatever is asked."""

    outcome: AdviceOutcome = AdviceOutcome.ADVISED
    strategy: str = "retry_modified"
    verdict: str = "approve"
    resolution: str = "redesign"
    recoverable: str = "yes"
    text: str = "try b.py"
    delay: float | None = None
    cost: float | None = None
    approved: bool = True


def report_of(turn: Turn) -> WorkerReport | None:
    if turn.reason is None or turn.kind is None:
        return None
    return WorkerReport(ReportStatus.BLOCKED, "said", blocked_reason=turn.reason, needs=OTHER_ISSUES[: turn.lines % 3])
