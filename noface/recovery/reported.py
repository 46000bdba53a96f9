"""Failures as others read them: of a worker's own report, as a JSON document, and of an issue that was given up (K6).

A report never makes an attempt better than its evidence (law 10). The documents follow the error handling pattern (P1,
P2, P8): RESOURCE_EXHAUSTION names the resource; everything else is a TASK_FAILURE with one of ten reasons.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from noface.diagnosis.agent import invents
from noface.model.attempt import PastAttempt, failure_of
from noface.model.failure import MADE_UP, TOO_LARGE, WORKER, Failure
from noface.model.failure_document import Details, Steps, TaskFailure
from noface.model.issue import Issue
from noface.model.json_record import total
from noface.model.quoting import quoted, some
from noface.model.request import GivenUp
from noface.model.taxonomy import INTERRUPTED, PASSED, FailureKind, Reason
from noface.model.worker_run import Asked, BlockedReason, ReportStatus, WorkerReport

if TYPE_CHECKING:  # `noface show` must be quick, and reads no answers of models
    from noface.model.history import Advice, PartFailure
    from noface.prompts.structured import Invalid

_KINDS = {
    BlockedReason.BOUNDARY_VIOLATION: FailureKind.BOUNDARY_VIOLATION,
    BlockedReason.CONTRACT_CHANGE: FailureKind.BOUNDARY_VIOLATION,
    BlockedReason.DEPENDENCY_ISSUE: FailureKind.AGENT_BLOCKED,
    BlockedReason.UNCLEAR: FailureKind.AGENT_BLOCKED,
}


def of_report(report: WorkerReport | None) -> Failure | None:
    """Return the failure that a report tells of, None if it calls the work done; to wait for others is free (K5)."""
    if report is None or report.status in (ReportStatus.DONE, ReportStatus.ALREADY_DONE):
        return None
    said = report.summary or (report.asks or report.gaps or ("it gives no reason",))[0]
    person = report.asked_of(Asked.PERSON)
    if report.status is ReportStatus.TOO_LARGE:
        message = f"the worker reports that it is too large for one issue: {said}"
        return _limit(message, TOO_LARGE, report)
    if report.status is ReportStatus.PARTIAL and not person:
        return _limit(f"the worker reports that it is only partly done: {said}", REPORT_PARTIAL, report)
    reason = report.blocked_reason or BlockedReason.UNCLEAR
    kind = FailureKind.AGENT_BLOCKED if person else _KINDS[reason]
    stopped = f"reports that it is blocked ({reason.value.replace('_', ' ')})"
    asks = "asks what only a person can answer" if report.status is ReportStatus.PARTIAL else stopped
    message = f"the worker {asks}: {said}"
    return Failure(
        kind,
        message,
        rule=_UNCLEAR if reason is BlockedReason.UNCLEAR else f"report-{reason.value.replace('_', '-')}",
        signature=f"report-{reason.value}",
        evidence=(message, *report.gaps),
        questions=report.asks,
        charged=reason is not BlockedReason.DEPENDENCY_ISSUE,
    )


def left_so(word: Failure, red: Failure | None = None) -> Failure:
    """Return a worker's own word with what the gates said of the work that it left: `red`, or that all passed."""
    said = "every gate passes with what it left" if red is None else f"with what it left {red.message}"
    return replace(word, message=f"{word.message}; {said}", excerpt=red.excerpt if red is not None else "")


def made_up(report: WorkerReport | None) -> tuple[str, ...]:
    """Return what a worker says that it made up, or did not find, of work that it calls done."""
    if report is None:
        return ()
    missing = report.gaps if report.status is ReportStatus.DONE else ()
    said = filter(invents, (report.summary, *report.risks, *report.gaps, *report.unverified))
    return tuple(dict.fromkeys((*report.made_up, *missing, *said)))


def of_made_up(report: WorkerReport) -> Failure:
    """Return what a worker is told once of work that passed, and of which it says that something is made up."""
    said = quoted("; ".join(made_up(report)), _SAID_CHARS_MAX)
    return Failure(
        FailureKind.AGENT_BLOCKED,
        f"the work passes, and its worker says that something was not given to it: {said}",
        rule=MADE_UP,
        signature=MADE_UP,
        evidence=made_up(report),
        charged=False,
    )


def _limit(message: str, rule: str, report: WorkerReport) -> Failure:
    kind, evidence = FailureKind.RESOURCE_EXHAUSTED, (message, *report.parts)
    failure = Failure(kind, message, rule, signature=rule, evidence=evidence, questions=report.asks)
    listed = "\n".join(f"- {part}" for part in report.parts)
    return replace(failure, excerpt=listed, by=WORKER) if rule == TOO_LARGE else replace(failure, resource="turns")


_UNCLEAR = "report-unclear"
REPORT_PARTIAL = "report-partial"
"""The rule of a worker's report that calls its work part of the issue, where that is no progress."""
_SAID_CHARS_MAX = 600


def of_invalid(invalid: "Invalid") -> Failure:
    """Return the failure of an answer that breaks its form, with the types and its original (P6)."""
    return Failure(
        FailureKind.OUTPUT_FORMAT,
        invalid.violation,
        rule="answer-format",
        location=invalid.path or None,
        evidence=(invalid.violation,),
        excerpt=invalid.original,
        expected_type=invalid.expected_type,
        actual_type=invalid.actual_type,
    )


_TEXT_CHARS_MAX = 6_000
_FAILURE = "TASK_FAILURE"
_EXHAUSTION = "RESOURCE_EXHAUSTION"


def task_failure(
    failure: Failure, *, partial: Steps | None = None, metrics: Mapping[str, float] | None = None
) -> TaskFailure:
    """Return a failure as a JSON document (P2, P10), with the steps kept (P4) and measures."""
    details = _details(failure, metrics or {})
    if partial is not None:
        details = {**details, **partial}
    if failure.kind is FailureKind.RESOURCE_EXHAUSTED:
        return {
            "type": _EXHAUSTION,
            "resource": failure.resource or "output",  # files and logs are output
            "usage": failure.usage,
            "limit": failure.limit,
            "message": failure.message,
            "details": details,
        }
    return {"type": _FAILURE, "reason": _reason(failure).value, "message": failure.message, "details": details}


def _details(failure: Failure, metrics: Mapping[str, float]) -> Details:
    details: Details = {
        "kind": failure.kind.value,
        "category": failure.category.value,
        "rule": failure.rule,
        "location": failure.location,
        "gate": failure.gate,
        "violations": list(failure.evidence),
        "failing_tests": list(failure.failing_tests),
        "questions": list(failure.questions),
        "gaps": list(_gaps(failure)),
        "partial_context": failure.excerpt[:_TEXT_CHARS_MAX],
        "metrics": dict(metrics),
    }
    if failure.expected_type:
        details["expected_type"], details["actual_type"] = failure.expected_type, failure.actual_type
        details["original_output"] = failure.excerpt[:_TEXT_CHARS_MAX]
    return details


def _reason(failure: Failure) -> Reason:
    """Return why a task failed: by its kind, but for what a worker says of its context, and for XML."""
    gaps = _gaps(failure)
    if gaps:
        return Reason.CONTEXT_PARSING if any(map(_NOT_READ.search, gaps)) else Reason.CONTEXT_RETRIEVAL
    broken = failure.kind in (FailureKind.SYNTAX_ERROR, FailureKind.LINT_FAILURE)
    if broken and (failure.rule.startswith("xml.") or _XML.search(failure.location or "")):
        return Reason.XML_VALIDATION
    return failure.kind.info.reason


_NOT_READ = re.compile(
    r"\b(?:un(?:readable|parsable|parseable|decodable)|corrupt\w*|truncated|garbled|mojibake|malformed|encrypted|binary"
    r"|(?:cannot|can't|could not|couldn't|fails? to|failed to|unable to) (?:be )?(?:pars|decod|deseriali[sz])\w*"
    r"|(?:not|no|in)\W{0,2}valid (?:json|yaml|xml|toml|csv|utf-?8|pdf|syntax|encoding))\b",
    re.IGNORECASE,
)
"""What a worker says of data that is there, and that it could not read."""
_XML = re.compile(r"\.(?:xml|xsd|xsl|xslt|xhtml|svg|pom|wsdl|plist|resx|xaml|\w{2}proj)(?::|$)", re.IGNORECASE)


def _gaps(failure: Failure) -> tuple[str, ...]:
    return failure.evidence[1:] if failure.rule == _UNCLEAR else ()


def subtask_failure(failed: "PartFailure") -> dict[str, Any]:
    """Return the failure of a part as a JSON document (P8). The request is whole, so that it can be made again."""
    child, known = failed.part, FailureKind.__members__.get(failed.kind)
    exhausted = known is FailureKind.RESOURCE_EXHAUSTED
    error = {
        "type": _EXHAUSTION if exhausted else _FAILURE,
        "reason": (known.info.reason if known is not None else Reason.HALTED).value,
        "kind": failed.kind,
        "message": failed.message,
    }
    return {
        "type": _FAILURE,
        "reason": Reason.SUBTASK.value,
        "message": f"part {child.id} of issue {child.parent} failed: {child.title}",
        "details": {
            "subtask_request": {
                "type": "atomic",
                "id": child.id,
                "description": child.title,
                "inputs": {
                    "body": child.body[:_TEXT_CHARS_MAX],
                    "paths": list(child.paths),
                    "accept": list(child.accept),
                    "depends_on": list(child.depends_on),
                },
            },
            "subtask_error": error,
            "nesting_depth": child.depth,
            "partial_output": failed.partial[:_TEXT_CHARS_MAX],
        },
    }


_REQUEST_CHARS_MAX = 2_000


def subtask_in_words(failed: "PartFailure") -> str:
    """Return the same for people and for the worker who goes on with the parent."""
    child = failed.part
    levels = "1 level" if child.depth == 1 else f"{child.depth} levels"
    rows = (
        ("It could change", ", ".join(child.paths)),
        ("It had to pass", "; ".join(child.accept)),
        ("It waited for", ", ".join(child.depends_on)),
        ("It was asked", child.body.strip()[:_REQUEST_CHARS_MAX]),
        ("It failed", f"{failed.kind}: {failed.message}"),
        ("What it had done", failed.partial),
    )
    described = [f"{name}: {text.replace(chr(10), chr(10) + '  ')}" for name, text in rows if text]
    return "\n".join((f"Part {child.id}, {levels} below the issue as it was written: {child.title}", *described))


_PATHS_SHOWN_MAX = 20


def left_in_words(best: PastAttempt, attempts: int) -> str:
    which = f"attempt {best.number}, the best of {attempts}," if attempts > 1 else "its attempt"
    summary = f"; its worker says: {quoted(best.report.summary)}" if best.report and best.report.summary else ""
    return f"{which} changed {some(best.changed, _PATHS_SHOWN_MAX)} ({best.lines} lines){summary}"


_FIRST = "FirstAttempt"
_UNTOLD = "Retry"
"""What stands for the action that led to an attempt if none was recorded."""


def abort_report(
    issue: Issue, attempts: tuple[PastAttempt, ...], advice: "tuple[Advice, ...]", kind: FailureKind, reason: str
) -> GivenUp:
    """Return the report of an issue that is given up (K6)."""
    return GivenUp(
        id=issue.id,
        title=issue.title,
        status="failed",
        failure_kind=kind.value,
        failure_reason=reason,
        attempts_made=len(attempts),
        attempts_charged=sum(attempt.charged for attempt in attempts),
        last_error=next((failure_of(a).message for a in reversed(attempts) if a.failure is not None), None),
        recovery_attempted=recovery_attempted(attempts, advice),
        recommendation=kind.info.recommendation,
        attempts_by_model=dict(Counter(attempt.model for attempt in attempts)),
        questions_by_model=dict(Counter(answer.model for answer in advice if answer.model)),
        cost_usd=total(*(each.cost_usd for each in attempts), *(each.cost_usd for each in advice)),
        subtask_failures=tuple(subtask_failure(failed) for answer in advice for failed in answer.parts),
    )


def recovery_attempted(attempts: tuple[PastAttempt, ...], advice: "tuple[Advice, ...]") -> tuple[dict[str, str], ...]:
    """Return what was tried, in its order: each attempt by the action that led to it, each question by its topic."""
    asked: dict[tuple[int, int], list[dict[str, str]]] = {}
    for answer in advice:
        outcome = answer.outcome.value.lower()
        result = f"{outcome}: {answer.strategy}" if answer.strategy else outcome
        asked.setdefault((answer.epoch, answer.after), []).append({"strategy": answer.topic.value, "result": result})
    tried: list[dict[str, str]] = []
    before: PastAttempt | None = None
    judged: PastAttempt | None = None
    for attempt in attempts:
        first = before is None or before.epoch != attempt.epoch
        strategy = _FIRST if before is None or first else before.answer or _UNTOLD
        tried.append({"strategy": strategy, "result": _result(judged, attempt)})
        tried += asked.pop((attempt.epoch, attempt.number), [])
        before = attempt
        judged = judged if attempt.outcome == INTERRUPTED else attempt
    return (*tried, *(each for rest in asked.values() for each in rest))


def _result(judged: PastAttempt | None, attempt: PastAttempt) -> str:
    if attempt.outcome in (PASSED, INTERRUPTED):
        return attempt.outcome.lower()
    if judged is None:
        return f"failed: {attempt.outcome}"
    from noface.recovery.policy_state import same_failure  # `noface show` must be quick, and needs no policy

    same = same_failure((judged, attempt)) > 1
    return "same_failure" if same else f"different_failure: {attempt.outcome}"
