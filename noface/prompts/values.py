"""Turns prompt data into what can be cut (parts, in the order of cutting) and what templates see (values).

Cut first are the oldest attempts' lines, then related files, lessons, diffs, the excerpt, advice, notes, and the
issue's text last. The rules, the user's hints and the form of the report are never cut.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from noface.model.failure import Failure, PriorFailure
from noface.model.taxonomy import reaches_workers
from noface.prompts.data import EarlierForm, FileExcerpt, PromptData, QuestionData, Quote, Situation, protected_excerpt
from noface.prompts.text import Item, Kept, Pieces, PromptPart, clean, ends_of, excerpt, line

_OLDER_EXCERPT_BYTES_MAX = 2_000
_OLDER_MESSAGE_CHARS_MAX = 200
_OLDER_TESTS_SHOWN = 3
_OLDER_PATHS_SHOWN = 8
_OLDER_SUMMARY_CHARS_MAX = 300
_LESSON_CHARS_MAX = 4_000
_NAME_CHARS_MAX = 60
_PATCH_BYTES_MAX = 24_000
"""Of a diff whose work lies in the workspace, or that a worker gets beside such work: the files tell the rest."""
_NOTHING = Kept()


def parts_of(data: PromptData | QuestionData, chars_max: int) -> tuple[PromptPart, ...]:
    """Return what can be cut, in the order of cutting; of each text no more than `chars_max` characters are read."""
    failure, older = _newest(data.earlier)
    number = _patch_number(data)
    quotes = (*_diagnosis(data), *data.advice)
    files = [(f"the file {line(file.path, _NAME_CHARS_MAX)}", file.text) for file in data.files]
    advice = [(f"the advice “{line(quote.title, _NAME_CHARS_MAX)}”", quote.text) for quote in quotes]
    parts = [
        PromptPart(
            *("older", "the older attempts", 4),
            tuple(_item(f"attempt {one.number}", _row(one, data.earlier_form)) for one in reversed(older)),
            rows=True,
            bytes_max=data.earlier_bytes_max,
        ),
        _whole("files", "the related files", 5, files, chars_max),
        # The lines of a lesson stay as they are: most are those of a diff, and it stands between fences.
        PromptPart(
            *("lessons", "lessons", 5),
            tuple(_item("lessons", clean(text[:_LESSON_CHARS_MAX])) for text in data.lessons),
            rows=True,
        ),
    ]
    if isinstance(data, PromptData):
        newest = failure.number if failure is not None else number
        previous = _one("previous_patch", f"the diff of attempt {newest}", 6, data.previous_patch, chars_max)
        parts.append(replace(previous, bytes_max=_PATCH_BYTES_MAX) if _held(data) else previous)
    else:
        parts.append(_rows("others", "other issues", 6, data.others))
    patch = _one("patch", f"the diff of attempt {number}", 9, data.patch, chars_max)
    parts.append(replace(patch, bytes_max=_PATCH_BYTES_MAX) if _held(data) else patch)
    if failure is not None:
        parts.append(_one("excerpt", f"what attempt {failure.number} printed", 11, failure.excerpt, chars_max))
    parts.append(_whole("advice", "the advice", 11, advice, chars_max))
    points = [(f"point {number} of the reviews", point) for number, point in enumerate(data.points, 1)]
    parts.append(_whole("points", "the points of reviews", 6, points, chars_max))
    if isinstance(data, PromptData):
        parts.append(_one("main_patch", "what main has changed", 4, data.main_patch, chars_max))
        failing = data.on_main.excerpt if data.on_main is not None else ""
        parts.append(_one("on_main", "what the issue's own commands print on main", 4, failing, chars_max))
        parts.append(_one("rejected_note", "the note on the rejected work", 6, data.rejected_note, chars_max))
    parts.append(_one("note", "the note", 13, data.note, chars_max))
    parts.append(_one("body", "the issue's text", 16, data.issue.body, chars_max))
    return tuple(part for part in parts if part.items)


def values_of(situation: Situation, data: PromptData | QuestionData, pieces: Pieces) -> dict[str, Any]:
    """Return the variables of a template, with the cut texts in place of the whole ones."""
    failure, older = _newest(data.earlier)
    kept = pieces.get("older", _NOTHING)
    before = [_condensed(one, data.earlier_form) for one in older[len(older) - len(kept.texts) :]]
    quotes = _as_cut((*_diagnosis(data), *data.advice), pieces, "advice")
    explained = len(_diagnosis(data)) if quotes else 0
    common: dict[str, Any] = {
        "situation": situation.value,
        "issue": replace(data.issue, body=_text(pieces, "body")),
        "body_left_out": "body" in pieces and not _text(pieces, "body"),
        "gates": data.gates,
        "failure": replace(failure, excerpt=_text(pieces, "excerpt")) if failure is not None else None,
        "older": before,
        "tried": _grouped((*before, *([_condensed(failure, EarlierForm.NOTES_ONLY)] if failure is not None else []))),
        "older_left_out": kept.left_out,
        "patch": _text(pieces, "patch"),
        "patch_number": _patch_number(data),
        "lessons": pieces.get("lessons", _NOTHING).texts,
        "lessons_left_out": pieces.get("lessons", _NOTHING).left_out,
        "advice": quotes[explained:],
        "files": _as_cut(data.files, pieces, "files"),
        "note": _text(pieces, "note"),
        "points": pieces.get("points", _NOTHING).texts,
    }
    if isinstance(data, PromptData):
        return common | {"diagnosis": quotes[:explained]} | _worker_values(data, pieces)
    return common | _question_values(data, pieces)


def _held(data: PromptData | QuestionData) -> bool:
    return isinstance(data, PromptData) and bool(data.start.holds)


def _diagnosis(data: PromptData | QuestionData) -> tuple[Quote, ...]:
    return data.diagnosis if isinstance(data, PromptData) else ()


def _worker_values(data: PromptData, pieces: Pieces) -> dict[str, Any]:
    failure, older = _newest(data.earlier)
    return {
        "protected": protected_excerpt(data.protected, data.issue.accept),
        "start": data.start,
        "cut_off": data.cut_off,
        "best": next((one for one in data.earlier if data.start.holds and one.number == data.start.holds), None),
        "previous_patch": _text(pieces, "previous_patch"),
        "main_patch": _text(pieces, "main_patch"),
        "base_failure": _base_failure(data, failure, older),
        "on_main": _on_main(data, failure, older, _text(pieces, "on_main")),
        "read_first": data.read_first,
        "instruction": data.instruction,
        "strategy": data.strategy,
        "another_way": data.another_way,
        "think": data.think,
        "hints": data.hints,
        "rejected_note": _text(pieces, "rejected_note"),
        "report_example": data.report_example,
    }


def _base_failure(
    data: PromptData, failure: PriorFailure | None, older: tuple[PriorFailure, ...]
) -> PriorFailure | None:
    if failure is None or failure.command:
        return None
    return next((one for one in older if one.number == data.start.holds and one.command), None)


def _on_main(
    data: PromptData, failure: PriorFailure | None, older: tuple[PriorFailure, ...], excerpt: str
) -> Failure | None:
    own = failure is not None and (failure.command or _base_failure(data, failure, older) is not None)
    return None if data.on_main is None or own else replace(data.on_main, excerpt=excerpt)


def _question_values(data: QuestionData, pieces: Pieces) -> dict[str, Any]:
    return {
        "questions": data.questions,
        "paths": data.paths,
        "others": pieces.get("others", _NOTHING).texts,
        "others_left_out": pieces.get("others", _NOTHING).left_out,
        "results": data.results,
        "limits": data.limits,
        "answer_example": data.answer_example,
        "answer_schema": data.answer_schema,
    }


def _newest(earlier: tuple[PriorFailure, ...]) -> tuple[PriorFailure | None, tuple[PriorFailure, ...]]:
    known = tuple(failure for failure in earlier if reaches_workers(failure.kind, charged=failure.charged))
    return (known[-1], _grouped(known[:-1])) if known else (None, ())


def _grouped(failures: tuple[PriorFailure, ...]) -> tuple[PriorFailure, ...]:
    """Return the newest of those that failed in the same way and changed the same files, with the others' numbers."""
    groups: dict[tuple[object, ...], PriorFailure] = {}
    for one in failures:
        same = (one.model, one.kind, one.signature or (one.message, one.location, one.failing_tests), one.changed)
        before = groups.pop(same, None)
        groups[same] = replace(one, also=(*before.also, before.number, *one.also)) if before is not None else one
    return tuple(groups.values())


def _patch_number(data: PromptData | QuestionData) -> int:
    if isinstance(data, PromptData) and data.start.number:
        return data.start.number
    failure, _ = _newest(data.earlier)
    newest = failure or (data.earlier[-1] if data.earlier else None)
    return newest.number if newest is not None else 0


def _condensed(failure: PriorFailure, form: EarlierForm) -> PriorFailure:
    if form is EarlierForm.MINIMAL:
        return replace(failure, message="", location=None, excerpt="", failing_tests=(), changed=(), summary="")
    printed = failure.excerpt if form is EarlierForm.FULL_OUTPUT else ""
    message = line(failure.message, _OLDER_MESSAGE_CHARS_MAX)
    summary = line(failure.summary, _OLDER_SUMMARY_CHARS_MAX)
    return replace(failure, message=message, summary=summary, excerpt=excerpt(printed, _OLDER_EXCERPT_BYTES_MAX))


def _row(failure: PriorFailure, form: EarlierForm) -> str:
    short = _condensed(failure, form)
    tests = [line(test) for test in short.failing_tests[:_OLDER_TESTS_SHOWN]]
    work = (*short.changed[:_OLDER_PATHS_SHOWN], short.summary, short.command, *map(str, short.also))
    return " ".join((short.model, short.kind, short.message, line(short.location or ""), *tests, *work, short.excerpt))


def _item(name: str, text: str) -> Item:
    return Item(name, text, len(text))


def _whole(key: str, name: str, share: int, texts: list[tuple[str, str]], chars_max: int) -> PromptPart:
    return PromptPart(key, name, share, tuple(Item(item, *ends_of(text, chars_max)) for item, text in texts))


def _one(key: str, name: str, share: int, text: str, chars_max: int) -> PromptPart:
    item = Item(name, *ends_of(text, chars_max))
    return PromptPart(key, name, share, (item,) if item.text.strip() else ())


def _rows(key: str, name: str, share: int, rows: tuple[str, ...]) -> PromptPart:
    return PromptPart(key, name, share, tuple(_item(name, line(row)) for row in rows if row.strip()), rows=True)


def _text(pieces: Pieces, key: str) -> str:
    texts = pieces.get(key, _NOTHING).texts
    return texts[0] if texts else ""


def _as_cut(records: Sequence[Quote | FileExcerpt], pieces: Pieces, key: str) -> list[Quote | FileExcerpt]:
    """Return records with what is left of their texts; none if the whole part is left out."""
    texts = pieces.get(key, _NOTHING).texts
    return [replace(record, text=text) for record, text in zip(records, texts, strict=True)] if texts else []
