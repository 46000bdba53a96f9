"""A worker's own report: what it did, what it is unsure of, what stops it (L2, K5). Evidence outranks it (law 10).

Agents may give none: text without such an object is no failure. A word of prose is never read as a report, nor is an
object that only happens to have a `status`, such as a web service's answer that the worker quotes.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from noface.model.worker_run import BlockedReason, ReportStatus, WorkerReport
from noface.prompts.answers.forms import schema_of, strings
from noface.prompts.json_scan import Broken, JsonObject, scan
from noface.prompts.structured import READ_CHARS_MAX, Invalid, Valid, broken_answer, check, finished, last_object, load

_STATUS = "status"


def find_report(answer: str) -> tuple[WorkerReport | None, Invalid | None]:
    """Return the report in a worker's last message; or what is wrong with it; or neither, where it gave none."""
    text_read = answer[-READ_CHARS_MAX:]
    found = scan(text_read)
    reports = tuple(item for item in found.objects if _is_report(text_read, item))
    begun = [broken for broken in found.broken if _means_report(text_read, broken)]
    picked = last_object(reports)
    if picked is None or (begun and begun[-1].truncated and begun[-1].start >= picked.end):
        return None, finished(broken_answer(text_read, begun[-1]), answer, "report") if begun else None
    match check(text_read, picked, schema_of("report")):
        case Valid(value):
            return _report(value), None
        case Invalid() as invalid:
            return None, finished(invalid, answer, "report")


@cache
def _other_keys() -> frozenset[str]:
    return frozenset(schema_of("report")["properties"]) - {_STATUS}


def _report(value: Mapping[str, Any]) -> WorkerReport:
    """Return the report that a value which satisfies the schema gives."""
    confidence, reason = value.get("confidence"), value.get("blocked_reason")
    status = ReportStatus(value[_STATUS])
    return WorkerReport(
        status=status,
        summary=value.get("summary", "").strip(),
        confidence=float(confidence) if confidence is not None else None,
        risks=strings(value, "risks"),
        gaps=strings(value, "gaps"),
        questions=strings(value, "questions"),
        blocked_reason=BlockedReason(reason) if reason and status is ReportStatus.BLOCKED else None,
        needs=strings(value, "needs"),
    )


def _is_report(text_read: str, found: JsonObject) -> bool:
    """Tell whether an object was meant as a report: one of our words for `status`, or another of our keys beside it."""
    if '"status"' not in text_read[found.start : found.end]:
        return False
    value = load(text_read, found)
    if isinstance(value, str):
        return True  # it cannot be read, which is worth saying
    status = value.get(_STATUS)
    return _STATUS in value and (_is_word(status) or not _other_keys().isdisjoint(value))


def _means_report(text_read: str, broken: Broken) -> bool:
    if _STATUS not in broken.keys:
        return False
    words = text_read[broken.start : broken.at]
    return not _other_keys().isdisjoint(broken.keys) or any(f'"{word.value}"' in words for word in ReportStatus)


def _is_word(status: object) -> bool:
    return isinstance(status, str) and status.strip().lower() in [word.value for word in ReportStatus]
