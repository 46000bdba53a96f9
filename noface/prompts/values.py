"""Turns prompt data into what can be cut (parts, in the order of cutting) and what templates see (values).

Cut first are the oldest attempts' lines, then lessons, diffs, the excerpt, advice, notes, and the
issue's text last. The rules, the user's hints and the form of the report are never cut.
"""

from dataclasses import replace
from typing import Any

from noface.model.failure import PriorFailure
from noface.model.history import Verdict
from noface.model.patch import patch_files
from noface.model.taxonomy import reaches_workers
from noface.prompts.data import EarlierForm, PromptData, Situation, protected_excerpt
from noface.prompts.text import Item, Kept, Pieces, PromptPart, clean, ends_of, excerpt, line, size

_OLDER_EXCERPT_BYTES_MAX = 2_000
_OLDER_MESSAGE_CHARS_MAX = 200
_OLDER_TESTS_SHOWN = 3
_OLDER_PATHS_SHOWN = 8
_OLDER_SUMMARY_CHARS_MAX = 300
_LESSON_CHARS_MAX = 4_000
_NAME_CHARS_MAX = 60
_PATCH_BYTES_MAX = 4_000
"""A longer diff is told by its files, and by the command that shows it: who reads of it stands in the checkout."""
_EXCERPT_BYTES_MAX = 4_000
_NOTHING = Kept()


def parts_of(data: PromptData, chars_max: int) -> tuple[PromptPart, ...]:
    """Return what can be cut, in the order of cutting; of each text no more than `chars_max` characters are read."""
    failure, older = _newest(data)
    number = _patch_number(data)
    quotes = (*data.diagnosis, *data.advice)
    advice = [(f"the advice “{line(quote.title, _NAME_CHARS_MAX)}”", quote.text) for quote in quotes]
    parts = [
        PromptPart(
            *("older", "the older attempts", 4),
            tuple(_item(f"attempt {one.number}", _row(one, data.earlier_form)) for one in reversed(older)),
            rows=True,
            bytes_max=data.earlier_bytes_max,
        ),
        # The lines of a lesson stay as they are: most are those of a diff, and it stands between fences.
        PromptPart(
            *("lessons", "lessons", 5),
            tuple(_item("lessons", clean(text[:_LESSON_CHARS_MAX])) for text in data.lessons),
            rows=True,
        ),
    ]
    parts.append(
        PromptPart(
            "others",
            "other issues",
            6,
            tuple(_item("other issues", line(row)) for row in data.others if row.strip()),
            rows=True,
        )
    )
    if listed := _files_in_place_of(data):
        rows = tuple(_item("files of the diff", f"{path} {added} {deleted}") for path, added, deleted in listed)
        parts.append(PromptPart("patch_files", "the files of the diff", 9, rows, rows=True))
    else:
        patch = _one("patch", f"the diff of attempt {number}", 9, data.patch, chars_max)
        parts.append(patch if data.whole_patch else replace(patch, bytes_max=_PATCH_BYTES_MAX))
    if failure is not None:
        excerpt_part = _one("excerpt", f"what attempt {failure.number} printed", 11, failure.excerpt, chars_max)
        parts.append(replace(excerpt_part, bytes_max=_EXCERPT_BYTES_MAX))
        parts.append(_one("said", f"what the worker of attempt {failure.number} said", 4, failure.said, chars_max))
    parts.append(_whole("advice", "the advice", 11, advice, chars_max))
    points = [(f"point {number} of the reviews", point) for number, point in enumerate(data.points, 1)]
    parts.append(_whole("points", "the points of reviews", 6, points, chars_max))
    parts.append(_one("main_patch", "what main has changed", 4, data.main_patch, chars_max))
    failing = data.on_main.excerpt if data.on_main is not None else ""
    parts.append(_one("on_main", "what the issue's own commands print on main", 4, failing, chars_max))
    parts.append(_one("note", "the note", 13, data.note, chars_max))
    parts.append(_one("body", "the issue's text", 16, data.issue.body, chars_max))
    return tuple(part for part in parts if part.items)


def values_of(situation: Situation, data: PromptData, pieces: Pieces) -> dict[str, Any]:
    """Return the variables of a template, with the cut texts in place of the whole ones."""
    failure, older = _newest(data)
    kept = pieces.get("older", _NOTHING)
    before = [_condensed(one, data.earlier_form) for one in older[len(older) - len(kept.texts) :]]
    texts = pieces.get("advice", _NOTHING).texts  # none if the whole part is left out
    quoted = zip((*data.diagnosis, *data.advice), texts, strict=True) if texts else ()
    quotes = [replace(quote, text=text) for quote, text in quoted]
    explained = len(data.diagnosis) if quotes else 0
    listed = pieces.get("patch_files", _NOTHING)
    common: dict[str, Any] = {
        "situation": situation.value,
        "issue": replace(data.issue, body=_text(pieces, "body")),
        "body_left_out": "body" in pieces and not _text(pieces, "body"),
        "gates": data.gates,
        "failure": replace(failure, excerpt=_text(pieces, "excerpt"), said=_text(pieces, "said")) if failure else None,
        "older": before,
        "tried": _grouped((*before, *([_condensed(failure, EarlierForm.NOTES_ONLY)] if failure is not None else []))),
        "older_left_out": kept.left_out,
        "patch": _text(pieces, "patch"),
        "patch_files": _files_in_place_of(data)[: len(listed.texts)],
        "patch_files_left_out": listed.left_out,
        "compare": data.compare,
        "main_patch": _text(pieces, "main_patch"),
        "patch_number": _patch_number(data),
        "lessons": pieces.get("lessons", _NOTHING).texts,
        "lessons_left_out": pieces.get("lessons", _NOTHING).left_out,
        "advice": quotes[explained:],
        "files": data.files,
        "note": _text(pieces, "note"),
        "decided": tuple(
            {(each.verdict, each.paths, each.tests, each.work, each.question): each for each in data.decided}.values()
        ),
        "points": pieces.get("points", _NOTHING).texts,
    }
    if situation.asks:
        return common | _question_values(data, pieces)
    return common | {"diagnosis": quotes[:explained]} | _worker_values(data, pieces)


def _files_in_place_of(data: PromptData) -> tuple[tuple[str, int, int], ...]:
    if size(data.patch) <= _PATCH_BYTES_MAX or data.whole_patch:
        return ()
    signs = ((each.path, [row.sign for row in each.rows]) for each in patch_files(data.patch))
    return tuple((path, rows.count("+"), rows.count("-")) for path, rows in signs)


_OF_WORK = (
    *("start", "cut_off", "read_first", "instruction", "strategy", "another_way"),
    *("think", "hints", "report_example"),
)
"""What templates for workers use as the data has it."""


def _worker_values(data: PromptData, pieces: Pieces) -> dict[str, Any]:
    failure, older = _newest(data)
    ungated = failure is not None and not failure.command
    based = (one for one in older if ungated and one.number == data.start.holds and one.command)
    approved = [each for each in data.decided if each.verdict is Verdict.APPROVED]
    named = (name for each in approved for name in (*each.paths, *each.tests))
    newer = data.start.holds or (failure is not None and failure.command)
    return {
        **{name: getattr(data, name) for name in _OF_WORK},
        "protected": protected_excerpt(data.protected),
        "base_failure": next(based, None),
        "on_main": None if data.on_main is None or newer else replace(data.on_main, excerpt=_text(pieces, "on_main")),
        "let": tuple(dict.fromkeys((*data.issue.may_change, *named))),
        "newer": failure is not None and any(one.number > failure.number for one in older),
    }


def _question_values(data: PromptData, pieces: Pieces) -> dict[str, Any]:
    return {
        **{name: getattr(data, name) for name in ("questions", "paths", "results", "limits", "answer_example")},
        "others": pieces.get("others", _NOTHING).texts,
        "others_left_out": pieces.get("others", _NOTHING).left_out,
    }


def _newest(data: PromptData) -> tuple[PriorFailure | None, tuple[PriorFailure, ...]]:
    known = tuple(failure for failure in data.earlier if reaches_workers(failure.kind, charged=failure.charged))
    told = next((each for each in known if each.number == data.told), known[-1] if known else None)
    return told, _grouped(tuple(each for each in known if each is not told))


def _grouped(failures: tuple[PriorFailure, ...]) -> tuple[PriorFailure, ...]:
    groups: dict[tuple[object, ...], PriorFailure] = {}
    for one in failures:
        same = (one.model, one.kind, one.signature or (one.message, one.location, one.failing_tests), one.changed)
        before = groups.pop(same, None)
        groups[same] = replace(one, also=(*before.also, before.number, *one.also)) if before is not None else one
    return tuple(groups.values())


def _patch_number(data: PromptData) -> int:
    if data.start.number:
        return data.start.number
    failure, _ = _newest(data)
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


def _text(pieces: Pieces, key: str) -> str:
    texts = pieces.get(key, _NOTHING).texts
    return texts[0] if texts else ""
