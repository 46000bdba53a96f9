"""What follows where a worker did part of an issue and says so, and every gate passes: the next does the rest (N3).

Such a part is charged to nobody and kept, but does not land: only an issue's own `accept` can tell part of the work
from all of it. It ends, since each must change something that none before left, and so many in a row are free.
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
GO_ON = (
    "Your working directory holds that part. Do what is left, all of it if you can, and keep the commands passing."
    ' Report status "done" only if nothing of the issue is left; if you stop at another part, say again what is left.'
)
"""What the next worker is told."""
LEFT_UNDONE = (
    "The previous attempt called the work unfinished and left nothing new that passes. Do what is left; report status"
    ' "done" once nothing of the issue is.'
)
"""What the next worker is told where a part was no progress."""


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
        signature=PARTLY_DONE,
        evidence=(f"{len(gates)} gate(s) passed; the worker's report says partial",),
        questions=report.asks,
        charged=False,
    )


def free_parts(past: Iterable[PastAttempt]) -> tuple[PastAttempt, ...]:
    parts: list[PastAttempt] = []
    for attempt in past:
        parts = [] if attempt.charged else [*parts, *([attempt] if failure_of(attempt).rule == PARTLY_DONE else [])]
    return tuple(parts)


def is_free(patch_hash: str, past: Iterable[PastAttempt]) -> bool:
    """True if another part is progress: few came before it in a row, and none of them left the same."""
    parts = free_parts(past)
    return len(parts) < PARTS_MAX and all(part.patch_hash != patch_hash for part in parts)
