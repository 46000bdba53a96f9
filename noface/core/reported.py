"""What a worker's own report makes of its attempt: work that it calls unfinished is not landed as if it were whole.

A report never makes an attempt better than its evidence (law 10): it can only say that something is missing.
"""

from noface.core.failure import Failure
from noface.core.taxonomy import FailureKind
from noface.core.worker_run import BlockedReason, ReportStatus, WorkerReport

_KINDS = {
    BlockedReason.BOUNDARY_VIOLATION: FailureKind.BOUNDARY_VIOLATION,
    BlockedReason.CONTRACT_CHANGE: FailureKind.BOUNDARY_VIOLATION,
    BlockedReason.DEPENDENCY_ISSUE: FailureKind.AGENT_CONFUSION,
    BlockedReason.UNCLEAR: FailureKind.AGENT_CONFUSION,
}


def of_report(report: WorkerReport | None) -> Failure | None:
    """Return the failure that a report tells of, None where it calls the work done or there is no report.

    An issue that has to wait for others is not the worker's fault, and is not charged (K5).
    """
    if report is None or report.status is ReportStatus.DONE:
        return None
    said = report.summary or (report.questions or report.gaps or ("it gives no reason",))[0]
    if report.status is ReportStatus.PARTIAL:
        message = f"the worker reports that it is only partly done: {said}"
        return Failure(
            FailureKind.RESOURCE_EXHAUSTED,
            message,
            rule="report-partial",
            signature="report-partial",
            evidence=(message,),
            questions=report.questions,
        )
    reason = report.blocked_reason or BlockedReason.UNCLEAR
    message = f"the worker reports that it is blocked ({reason.value.replace('_', ' ')}): {said}"
    return Failure(
        _KINDS[reason],
        message,
        rule=f"report-{reason.value.replace('_', '-')}",
        signature=f"report-{reason.value}",
        evidence=(message, *report.gaps),
        questions=report.questions,
        charged=reason is not BlockedReason.DEPENDENCY_ISSUE,
    )
