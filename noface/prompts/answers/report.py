"""A worker's own report: what it did, what it is unsure of, what stops it (L2, K5). Evidence outranks it (law 10).

Text without such an object is no failure, and a word of prose is never read as a report. Of one that breaks its form
only the status is read.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from noface.model.failure import WORKER, Failure
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import Asked, BlockedReason, ChangedTest, Question, ReportStatus, WorkerReport
from noface.prompts.answers.forms import schema_of, strings
from noface.prompts.json_scan import BrokenObject, JsonObject, scan
from noface.prompts.structured import READ_CHARS_MAX, Invalid, broken_answer, check, finished, last_object, load

_STATUS = "status"


def find_report(answer: str) -> tuple[WorkerReport | None, Invalid | None]:
    """Return the report in a worker's last message; or what is wrong with it; or neither, if it gave none."""
    text_read = answer.rstrip()[-READ_CHARS_MAX:]
    objects, broken_ones = scan(text_read)
    reports = tuple(item for item in objects if _is_report(text_read, item))
    begun = [broken for broken in broken_ones if _means_report(text_read, broken)]
    picked = last_object(reports)
    if picked is None or (begun and begun[-1].truncated and begun[-1].start >= picked.end):
        return None, finished(broken_answer(text_read, begun[-1]), answer, "report") if begun else None
    value = check(text_read, picked, schema_of("report"))
    return (None, finished(value, answer, "report")) if isinstance(value, Invalid) else (_report(value), None)


UNREADABLE = "report-unreadable"
"""The rule of failures of workers whose report breaks its form."""
_SPELLED = re.compile(r'\{[^{}]{0,2000}?"status"\s*:\s*"(\w+)"')


def unreadable(answer: str, wrong: Invalid) -> tuple[Failure, ReportStatus | None]:
    """Return the failure of a report that breaks its form, with the status that its text spells out. Total.

    `wrong` is what `find_report` says of it.
    """
    word = next(reversed(_SPELLED.findall(answer.rstrip()[-READ_CHARS_MAX:])), "").lower()
    status = ReportStatus(word) if word in list(ReportStatus) else None
    words = f"; it begins as {status.value}" if status is not None else ""
    failure = Failure(
        FailureKind.OUTPUT_FORMAT,
        f"the worker's report cannot be read: {wrong.violation}{words}",
        rule=UNREADABLE,
        signature=UNREADABLE,
        evidence=(wrong.violation,),
        excerpt=wrong.original,
        by=WORKER,
        expected_type=wrong.expected_type,
        actual_type=wrong.actual_type,
    )
    return failure, status


@cache
def _other_keys() -> frozenset[str]:
    return frozenset(schema_of("report")["properties"]) - {_STATUS}


def _report(value: Mapping[str, Any]) -> WorkerReport:
    """Return the report that a value which satisfies the schema gives; what is done has nothing left."""
    reason, left = value.get("blocked_reason"), strings(value, "left")
    status = ReportStatus(value[_STATUS])
    status = ReportStatus.PARTIAL if status is ReportStatus.DONE and left else status
    return WorkerReport(
        status=status,
        summary=value.get("summary", "").strip(),
        unverified=strings(value, "unverified"),
        risks=strings(value, "risks"),
        gaps=strings(value, "gaps"),
        made_up=strings(value, "made_up"),
        questions=tuple(filter(str, map(_question, value.get("questions", ())))),
        evidence=value.get("evidence", "").strip(),
        parts=strings(value, "parts"),
        changed_tests=tuple(
            ChangedTest(each["test"].strip(), each["sentence"].strip()) for each in value.get("changed_tests", ())
        ),
        blocked_reason=BlockedReason(reason) if reason and status is ReportStatus.BLOCKED else None,
        needs=strings(value, "needs"),
        left=left,
    )


def _question(value: str | Mapping[str, Any]) -> Question:
    if isinstance(value, str):
        return Question(value.strip())
    return Question(value["text"].strip(), Asked(value.get("who", "")), value.get("place", "").strip())


def _is_report(text_read: str, candidate: JsonObject) -> bool:
    """True if an object was meant as a report: one of our words for `status`, or another of our keys beside it."""
    if '"status"' not in text_read[candidate.start : candidate.end]:
        return False
    value = load(text_read, candidate)
    if isinstance(value, str):
        return True  # it cannot be read, which is worth saying
    status = value.get(_STATUS)
    return _STATUS in value and (str(status).lower() in list(ReportStatus) or not _other_keys().isdisjoint(value))


def _means_report(text_read: str, broken: BrokenObject) -> bool:
    if _STATUS not in broken.keys:
        return False
    words = text_read[broken.start : broken.at]
    return not _other_keys().isdisjoint(broken.keys) or any(f'"{word.value}"' in words for word in ReportStatus)
