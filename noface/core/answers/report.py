"""A worker's own report: what it did, what it is unsure of, what stops it (L2, K5). Evidence outranks it (law 10).

Agents may give none: text without such an object is no failure. A word of prose is never read as a report, nor is an
object that only happens to have a `status`, such as a web service's answer that the worker quotes.
"""

from collections.abc import Mapping
from typing import Any

from noface.core.answers.form import answer_schema, issue_ids, needs_also, strings, text, texts
from noface.core.json_scan import Broken, Found, scan
from noface.core.structured import READ_CHARS_MAX, Invalid, Valid, broken_answer, check, finished, last_object, load
from noface.core.worker_run import BlockedReason, ReportStatus, WorkerReport

_ITEMS_MAX = 20
_ITEM_CHARS_MAX = 1_000
_STATUS = "status"
_REASONS = [reason.value for reason in BlockedReason]

EXAMPLE = {
    "status": "done",
    "summary": "Added the missing bounds check to read_page and a test for it.",
    "confidence": 0.9,
    "risks": ["The old behaviour may be relied on by scripts."],
    "gaps": ["No sample of a damaged page was given, so none is tested."],
    "questions": [],
}
SCHEMA = answer_schema(
    "report",
    {
        _STATUS: {"type": "string", "enum": [status.value for status in ReportStatus]},
        "summary": text(),
        "confidence": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
        "risks": texts(_ITEMS_MAX, _ITEM_CHARS_MAX),
        "gaps": texts(_ITEMS_MAX, _ITEM_CHARS_MAX),
        "questions": texts(_ITEMS_MAX, _ITEM_CHARS_MAX),
        "blocked_reason": {"type": ["string", "null"], "enum": [*_REASONS, None]},
        "needs": issue_ids(),
    },
    (_STATUS,),
    EXAMPLE,
    additionalProperties=True,  # agents like to add to their reports; what is not known is not read
    allOf=[needs_also(_STATUS, ReportStatus.BLOCKED, "blocked_reason", {"enum": _REASONS})],
)
_OTHER_KEYS = frozenset(SCHEMA["properties"]) - {_STATUS}


def read(value: Mapping[str, Any]) -> WorkerReport:
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


def find_report(answer: str) -> tuple[WorkerReport | None, Invalid | None]:
    """Return the report in a worker's last message; or what is wrong with it; or neither, where it gave none."""
    text_read = answer[-READ_CHARS_MAX:]
    found = scan(text_read)
    reports = tuple(item for item in found.objects if _is_report(text_read, item))
    begun = [broken for broken in found.broken if _means_report(text_read, broken)]
    picked = last_object(reports)
    if picked is None or (begun and begun[-1].truncated and begun[-1].start >= picked.end):
        return None, finished(broken_answer(text_read, begun[-1]), answer, "report") if begun else None
    match check(text_read, picked, SCHEMA):
        case Valid(value):
            return read(value), None
        case Invalid() as invalid:
            return None, finished(invalid, answer, "report")


def _is_report(text_read: str, found: Found) -> bool:
    """Tell whether an object was meant as a report: one of our words for `status`, or another of our keys beside it."""
    if '"status"' not in text_read[found.start : found.end]:
        return False
    value = load(text_read, found)
    if isinstance(value, str):
        return True  # it cannot be read, which is worth saying
    status = value.get(_STATUS)
    return _STATUS in value and (_is_word(status) or not _OTHER_KEYS.isdisjoint(value))


def _means_report(text_read: str, broken: Broken) -> bool:
    if _STATUS not in broken.keys:
        return False
    said = text_read[broken.start : broken.at]
    return not _OTHER_KEYS.isdisjoint(broken.keys) or any(f'"{word.value}"' in said for word in ReportStatus)


def _is_word(status: object) -> bool:
    return isinstance(status, str) and status.strip().lower() in [word.value for word in ReportStatus]
