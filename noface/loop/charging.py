"""Whether an attempt is charged to its issue (law 8)."""

from noface.core.attempt import AttemptReport, PastAttempt
from noface.core.taxonomy import INTERRUPTED, FailureKind


def charged(report: AttemptReport, past: tuple[PastAttempt, ...]) -> bool:
    """Tell whether an attempt spends the issue's budget: only the worker's own failures, and work that passed.

    The first malformed answer in a row gets a reminder of the form for nothing (docs/decisions.md, Attempts).
    """
    if report.interrupted:
        return False
    if report.failure is None:
        return True
    if report.failure.kind is FailureKind.OUTPUT_FORMAT:
        told = (attempt for attempt in reversed(past) if attempt.outcome != INTERRUPTED)
        before = next((attempt for attempt in told if attempt.number < report.number), None)
        return before is not None and before.outcome == FailureKind.OUTPUT_FORMAT
    return report.failure.charged
