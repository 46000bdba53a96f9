"""Turns prompt data into what can be cut (parts, in the order of cutting) and what templates see (values).

Cut first are the oldest attempts' lines, then related files, lessons, diffs, the excerpt, advice, notes, and the
issue's text last. The rules, the user's hints and the form of the report are never cut.
"""

from dataclasses import replace
from typing import Any

from noface.core.failure import PriorFailure
from noface.core.prompt_data import EarlierForm, FileExcerpt, PromptData, QuestionData, Situation, Told, protected_shown
from noface.core.prompt_text import Item, Kept, Long, Part, Shown, line, long_text
from noface.core.taxonomy import instruction_for, reaches_workers

_OLDER_EXCERPT_CHARS_MAX = 2_000
_OLDER_MESSAGE_CHARS_MAX = 200
_OLDER_TESTS_SHOWN = 3
_NAME_CHARS_MAX = 60
_NOTHING = Kept()

WORKER_VARIABLES: dict[str, str] = {
    "situation": "which of the situations it is",
    "issue": "with id, title, body, labels, paths, accept",
    "body_left_out": "True where the issue's text found no room at all",
    "gates": "each with name, command, kind, hard, accept (True: the issue's own)",
    "protected": "with paths (the most important ones), more (how many beside), usual (True: the built-in ones too)",
    "failure": "the newest failed attempt, or None: number, model, kind, message, location, excerpt, failing_tests",
    "older": "the failed attempts before it, oldest first",
    "older_left_out": "how many of these found no room",
    "tried": "older and, after them, failure without what it printed",
    "best": "the attempt the working directory starts from, or None where it is main",
    "patch": "the diff of best, or of failure where best is None",
    "patch_number": "the number of the attempt that made patch",
    "previous_patch": "the diff of failure where best is an older attempt",
    "instruction": "what to do about this kind of failure",
    "strategy": "what to do differently this time",
    "think": "True where extended thinking is on",
    "hints": "the hints of noface.toml that match",
    "lessons": "what worked before, as lines",
    "lessons_left_out": "how many of these found no room",
    "advice": "what other models said: each with title, by, text",
    "files": "related files: each with path, text",
    "note": "what a person said when unblocking",
    "rejected_note": "what a person said when rejecting the work",
    "report_example": "the report asked for, as JSON",
}
"""The variables of a worker's templates, and what they hold."""

QUESTION_VARIABLES: dict[str, str] = {
    **{
        name: WORKER_VARIABLES[name]
        for name in (
            "situation",
            "issue",
            "body_left_out",
            "gates",
            "failure",
            "older",
            "older_left_out",
            "tried",
            "patch_number",
        )
    },
    "patch": "the diff of failure",
    "advice": WORKER_VARIABLES["advice"],
    "lessons": WORKER_VARIABLES["lessons"],
    "lessons_left_out": WORKER_VARIABLES["lessons_left_out"],
    "files": WORKER_VARIABLES["files"],
    "note": WORKER_VARIABLES["note"],
    "questions": "what the worker asked",
    "paths": "the files the question is about",
    "parts": "the issue's children: each with id, status, reason",
    "others": "the other issues, as lines",
    "others_left_out": "how many of these found no room",
    "results": "what the gates said, as lines",
    "limits": "what the answer must keep to, as sentences",
    "answer_example": "the answer asked for, as JSON",
    "answer_schema": "its JSON Schema",
    "violation": "why the last answer could not be used",
    "previous_answer": "that answer",
}
"""The variables of a question's templates, and what they hold."""


def parts_of(data: PromptData | QuestionData, chars_max: int) -> tuple[Part, ...]:
    """Return what can be cut, in the order of cutting; of each text no more than `chars_max` characters are read."""
    failure, older = _told(data.earlier)
    number = _patch_number(data)
    found = [_older_part(data, older), _files_part(data, chars_max), _rows("lessons", "lessons", 5, data.lessons)]
    if isinstance(data, PromptData):
        newest = failure.number if failure is not None else number
        found.append(_one("previous_patch", f"the diff of attempt {newest}", 6, data.previous_patch, chars_max))
    else:
        found.append(_rows("others", "other issues", 6, data.others))
    found.append(_one("patch", f"the diff of attempt {number}", 9, data.patch, chars_max))
    if failure is not None:
        found.append(_one("excerpt", f"what attempt {failure.number} printed", 11, failure.excerpt, chars_max))
    found.append(_advice_part(data, chars_max))
    if isinstance(data, PromptData):
        found.append(_one("rejected_note", "the note on the rejected work", 12, data.rejected_note, chars_max))
    else:
        found.append(_one("previous_answer", "the answer that could not be used", 12, data.previous_answer, chars_max))
    found.append(_one("note", "the note", 13, data.note, chars_max))
    found.append(_one("body", "the issue's text", 24, data.issue.body, chars_max))
    return tuple(part for part in found if part.items)


def values_of(situation: Situation, data: PromptData | QuestionData, shown: Shown) -> dict[str, Any]:
    """Return the variables of a template, with the cut texts in place of the whole ones."""
    failure, older = _told(data.earlier)
    kept = shown.get("older", _NOTHING)
    before = [_condensed(one, data.earlier_form) for one in older[len(older) - len(kept.texts) :]]
    common: dict[str, Any] = {
        "situation": situation.value,
        "issue": replace(data.issue, body=_text(shown, "body")),
        "body_left_out": "body" in shown and not _text(shown, "body"),
        "gates": data.gates,
        "failure": replace(failure, excerpt=_text(shown, "excerpt")) if failure is not None else None,
        "older": before,
        "tried": [*before, *([_condensed(failure, EarlierForm.NOTES_ONLY)] if failure is not None else [])],
        "older_left_out": kept.left_out,
        "patch": _text(shown, "patch"),
        "patch_number": _patch_number(data),
        "lessons": shown.get("lessons", _NOTHING).texts,
        "lessons_left_out": shown.get("lessons", _NOTHING).left_out,
        "advice": [Told(told.title, text, told.by) for told, text in _pairs(data.advice, shown, "advice")],
        "files": [FileExcerpt(file.path, text) for file, text in _pairs(data.files, shown, "files")],
        "note": _text(shown, "note"),
    }
    return common | (_worker_values(data, shown) if isinstance(data, PromptData) else _question_values(data, shown))


def _worker_values(data: PromptData, shown: Shown) -> dict[str, Any]:
    failure, _ = _told(data.earlier)
    return {
        "protected": protected_shown(data.protected, data.issue.accept),
        "best": data.best,
        "previous_patch": _text(shown, "previous_patch"),
        "instruction": data.instruction or (instruction_for(failure.kind) if failure is not None else ""),
        "strategy": data.strategy,
        "think": data.think,
        "hints": data.hints,
        "rejected_note": _text(shown, "rejected_note"),
        "report_example": data.report_example,
    }


def _question_values(data: QuestionData, shown: Shown) -> dict[str, Any]:
    return {
        "questions": data.questions,
        "paths": data.paths,
        "parts": data.parts,
        "others": shown.get("others", _NOTHING).texts,
        "others_left_out": shown.get("others", _NOTHING).left_out,
        "results": data.results,
        "limits": data.limits,
        "answer_example": data.answer_example,
        "answer_schema": data.answer_schema,
        "violation": data.violation,
        "previous_answer": _text(shown, "previous_answer"),
    }


def _told(earlier: tuple[PriorFailure, ...]) -> tuple[PriorFailure | None, tuple[PriorFailure, ...]]:
    """Return the newest failure a worker is told of, and the older ones (L7)."""
    told = tuple(failure for failure in earlier if reaches_workers(failure.kind))
    return (told[-1], told[:-1]) if told else (None, ())


def _patch_number(data: PromptData | QuestionData) -> int:
    best = data.best if isinstance(data, PromptData) else None
    failure, _ = _told(data.earlier)
    shown = best or failure or (data.earlier[-1] if data.earlier else None)
    return shown.number if shown is not None else 0


def _condensed(failure: PriorFailure, form: EarlierForm) -> PriorFailure:
    if form is EarlierForm.MINIMAL:
        return replace(failure, message="", location=None, excerpt="", failing_tests=())
    printed = failure.excerpt if form is EarlierForm.FULL_OUTPUT else ""
    lines = long_text(printed, _OLDER_EXCERPT_CHARS_MAX)
    left_out = f"\n[… {lines.gone} characters left out …]\n" if lines.gone else ""
    message = line(failure.message, _OLDER_MESSAGE_CHARS_MAX)
    return replace(failure, message=message, excerpt=lines.head + left_out + lines.tail)


def _older_part(data: PromptData | QuestionData, older: tuple[PriorFailure, ...]) -> Part:
    items = tuple(Item(f"attempt {one.number}", Long(_row(one, data.earlier_form))) for one in reversed(older))
    return Part("older", "the older attempts", 4, items, rows=True, bytes_max=data.earlier_bytes_max)


def _row(failure: PriorFailure, form: EarlierForm) -> str:
    short = _condensed(failure, form)
    tests = [line(test) for test in short.failing_tests[:_OLDER_TESTS_SHOWN]]
    return " ".join((short.model, short.kind, short.message, line(short.location or ""), *tests, short.excerpt))


def _files_part(data: PromptData | QuestionData, chars_max: int) -> Part:
    items = tuple(
        Item(f"the file {line(file.path, _NAME_CHARS_MAX)}", long_text(file.text, chars_max)) for file in data.files
    )
    return Part("files", "the related files", 5, items)


def _advice_part(data: PromptData | QuestionData, chars_max: int) -> Part:
    items = tuple(
        Item(f"the advice “{line(told.title, _NAME_CHARS_MAX)}”", long_text(told.text, chars_max))
        for told in data.advice
    )
    return Part("advice", "the advice", 11, items)


def _one(key: str, name: str, share: int, text: str, chars_max: int) -> Part:
    long = long_text(text, chars_max)
    return Part(key, name, share, (Item(name, long),) if long.head.strip() or long.gone else ())


def _rows(key: str, name: str, share: int, rows: tuple[str, ...]) -> Part:
    return Part(key, name, share, tuple(Item(name, Long(line(row))) for row in rows if row.strip()), rows=True)


def _text(shown: Shown, key: str) -> str:
    texts = shown.get(key, _NOTHING).texts
    return texts[0] if texts else ""


def _pairs(records: tuple[Any, ...], shown: Shown, key: str) -> list[tuple[Any, str]]:
    texts = shown.get(key, _NOTHING).texts
    return list(zip(records, texts, strict=True)) if texts else []
