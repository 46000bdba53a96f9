"""What follows where a worker did part of an issue and says so, and every gate passes: the next does the rest (N3).

Such a part is charged to nobody and kept, but does not land: only an issue's own `accept` can tell part of the work
from all of it. It ends: what a report calls `left` has to become less, and the second attempt in a row that does none
of it is charged, and the planner asked. Without such a list each must change something that none before left, and so
many in a row are free.
"""

from collections.abc import Iterable

from noface.model.attempt import PastAttempt, failure_of
from noface.model.failure import Failure
from noface.model.gate import GateResult, worst
from noface.model.quoting import quoted
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import ReportStatus, WorkerReport

PARTLY_DONE = "partly-done"
"""The rule of work that passes every gate, and of which its worker says that something is left."""
PARTS_MAX = 4
_QUOTED_MAX = 1000


def rest_reported(report: WorkerReport | None) -> tuple[str, ...]:
    if report is None or report.status is not ReportStatus.PARTIAL:
        return ()
    return report.left or tuple(filter(None, (report.summary.strip(),))) or report.gaps


def partly_done(report: WorkerReport, gates: tuple[GateResult, ...]) -> Failure | None:
    """Return what a worker's part comes to where gates ran and all passed; None if there is no such evidence."""
    if not gates or worst(gates) is not None:
        return None
    text = "; ".join(dict.fromkeys((*filter(None, (report.summary.strip(),)), *rest_reported(report))))
    return Failure(
        FailureKind.RESOURCE_EXHAUSTED,
        f"part of the issue is done, and every gate passes with it; its worker: {quoted(text, _QUOTED_MAX)}",
        rule=PARTLY_DONE,
        signature=f"{PARTLY_DONE}:{len(report.left) or ''}",
        evidence=(f"{len(gates)} gate(s) passed; the worker's report says partial",),
        questions=report.asks,
        charged=False,
    )


def is_free(report: WorkerReport | None, patch_hash: str, past: Iterable[PastAttempt]) -> bool:
    """True if another part is progress: less is left than ever, or it is new and the one before was progress."""
    parts: list[PastAttempt] = []
    for attempt in past:
        parts = [] if attempt.charged else [*parts, *([attempt] if failure_of(attempt).rule == PARTLY_DONE else [])]
    new = all(part.patch_hash != patch_hash for part in parts)
    counts = [len(each.left) for part in parts if (each := part.report) is not None and each.left]
    if report is None or not report.left or not counts:
        return new and len(parts) < PARTS_MAX
    stopped = len(counts) > 1 and counts[-1] >= min(counts[:-1])
    return len(report.left) < min(counts) or (new and not stopped)
