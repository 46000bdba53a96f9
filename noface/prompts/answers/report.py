"""A worker's own report: what it did, what it is unsure of, what stops it (L2, K5). Evidence outranks it (law 10).

Text without such an object is no failure, and a word of prose is never read as a report. Of one that breaks its form
json_repair reads what it can for whoever answers its questions; a status counts only if the text spells it out.
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
from noface.prompts.structured import (
    READ_CHARS_MAX,
    Invalid,
    Value,
    broken_answer,
    check,
    clean,
    finished,
    last_object,
    load,
    violation,
)

_STATUS, _REASON = "status", "blocked_reason"


def find_report(answer: str) -> tuple[WorkerReport | None, Invalid | None]:
    """Return the report in a worker's last message; or what is wrong with it; or neither, if it gave none."""
    text_read = answer.rstrip()[-READ_CHARS_MAX:]
    objects, broken_ones = scan(text_read)
    reports = tuple(item for item in objects if _is_report(text_read, item))
    begun = [broken for broken in broken_ones if _means_report(text_read, broken)]
    picked = last_object(reports)
    if picked is None or (begun and begun[-1].truncated and begun[-1].start >= picked.end):
        wrong = broken_answer(text_read, begun[-1]) if begun else _other_notation(text_read)
        return None, finished(wrong, answer, "report") if wrong is not None else None
    value = _as_question(load(text_read, picked)) or check(text_read, picked, schema_of("report"))
    return (None, finished(value, answer, "report")) if isinstance(value, Invalid) else (_report(value), None)


_STOPS = re.compile(
    r"(?!.*(?:done|complete|success|finish))(?:.*\b)?(?:block|need|await|wait|unclear|clarif|question|stuck)"
)
"""What a status says, in none of our words, of a worker that cannot go on."""
_ASKS_IN = ("question", "summary", "message", "reason", _REASON)
"""Where a worker asks that gives no `questions`."""


def _as_question(value: Value | str) -> Value | None:
    """Return a report that says it cannot go on and asks, in words other than ours: something is not clear to it."""
    if isinstance(value, str):
        return None
    status, known = _words(value.get(_STATUS)).lower().replace("_", " "), value.get(_REASON) in list(BlockedReason)
    if not _STOPS.match(status) or (known and value.get(_STATUS) == ReportStatus.BLOCKED):
        return None
    elsewhere = (_words(value.get(key)) for key in _ASKS_IN)
    questions = [*_list(value.get("questions"))] or [words for words in elsewhere if words.endswith("?")][:1]
    if not questions:
        return None
    reason = value[_REASON] if known else BlockedReason.UNCLEAR.value
    meant = {**value, _STATUS: ReportStatus.BLOCKED.value, _REASON: reason, "questions": questions}
    return None if violation(meant, schema_of("report")) else meant


_OTHER_NOTATION = re.compile(
    r"\{[^{}]{0,2000}?['\"]?\bstatus['\"]?\s*[:=]\s*['\"]?(?:done|partial|blocked|already_done|too_large)\b[^{}]{0,4000}"
)
_QUOTES = "keys and strings must stand in double quotes"


def _other_notation(text_read: str) -> Invalid | None:
    """Return what is wrong with a report in the notation of Python, JavaScript or YAML, None if there is none."""
    keys = "|".join(sorted(_other_keys()))
    meant = (
        match for match in _OTHER_NOTATION.finditer(text_read) if re.search(rf"\b(?:{keys})['\"]?\s*[:=]", match[0])
    )
    return Invalid(_QUOTES, actual_type="malformed") if next(meant, None) is not None else None


UNREADABLE = "report-unreadable"
"""The rule of failures of workers whose report breaks its form."""
_READ_MAX = 4_000
"""As much is repaired: on some texts the library takes quadratic time, a second for this many characters."""
_WORDS_MAX = 1_000
_LISTED_MAX = 20
_OBJECT = re.compile(r"\{[^{}]{0,2000}?['\"]?\bstatus['\"]?\s*[:=]")
_SPELLED = re.compile(r"\bstatus['\"]?\s*[:=]\s*(?:(['\"])(\w+)\1|(\w+)\s*[,}\n])")


def unreadable(answer: str, wrong: Invalid) -> tuple[Failure, ReportStatus | None]:
    """Return the failure of a report that breaks its form, with what it asks, and the status that it spells out. Total.

    `wrong` is what `find_report` says of it.
    """
    value, text = _repaired(answer)
    spelled = _SPELLED.search(text)
    word = (spelled[2] or spelled[3]).lower() if spelled is not None else ""
    status = ReportStatus(word) if word in list(ReportStatus) and _words(value.get(_STATUS)).lower() == word else None
    words = f"; it begins as {status.value}" if status is not None else ""
    told = (wrong.violation, _words(value.get("summary")), *_list(value.get("gaps")))
    failure = Failure(
        FailureKind.OUTPUT_FORMAT,
        f"the worker's report cannot be read: {wrong.violation}{words}",
        rule=UNREADABLE,
        signature=UNREADABLE,
        evidence=tuple(filter(None, told)),
        excerpt=wrong.original,
        by=WORKER,
        questions=_list(value.get("questions")),
        expected_type=wrong.expected_type,
        actual_type=wrong.actual_type,
    )
    return failure, status


def _repaired(answer: str) -> tuple[Value, str]:
    """Return what json_repair makes of the last object that is meant as a report, and its text."""
    from json_repair import loads  # most reports need no repair

    text_read = answer.rstrip()[-READ_CHARS_MAX:]
    begun = [match.start() for match in _OBJECT.finditer(text_read)]
    text = text_read[begun[-1] :][:_READ_MAX] if begun else ""
    try:
        value = clean(loads(text)) if text else None
    except (ValueError, RecursionError):
        value = None
    value = value[0] if isinstance(value, list) and value else value
    return (value, text) if isinstance(value, dict) else ({}, "")


def _words(value: object) -> str:
    value = value.get("text") if isinstance(value, dict) else value  # a question
    return value.strip()[:_WORDS_MAX] if isinstance(value, str) else ""


def _list(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(words for item in items[:_LISTED_MAX] if (words := _words(item)))


@cache
def _other_keys() -> frozenset[str]:
    return frozenset(schema_of("report")["properties"]) - {_STATUS}


def _report(value: Mapping[str, Any]) -> WorkerReport:
    """Return the report that a value which satisfies the schema gives; what is done has nothing left."""
    reason, left = value.get(_REASON), strings(value, "left")
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
    return _STATUS in value and (_words(status).lower() in list(ReportStatus) or not _other_keys().isdisjoint(value))


def _means_report(text_read: str, broken: BrokenObject) -> bool:
    if _STATUS not in broken.keys:
        return False
    words = text_read[broken.start : broken.at]
    return not _other_keys().isdisjoint(broken.keys) or any(f'"{word.value}"' in words for word in ReportStatus)
