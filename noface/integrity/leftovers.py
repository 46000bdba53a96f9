"""Finds what a worker has probably forgotten in its change, or did by the way (data/rubbish.toml)."""

import re
from collections.abc import Callable, Collection
from posixpath import dirname, splitext
from typing import Any

from noface.data import pattern, table
from noface.model.attempt import LEFT_OUT, NotTaken
from noface.model.failure import Failure
from noface.model.patch import ChangedLine, decoded
from noface.model.quoting import one_line, some
from noface.model.taxonomy import FailureKind

LEFT_IN = "left-in"
"""The rule of work that passed, and that holds what its worker may have forgotten: it is told once."""
_LINES_MAX = 20
_LINE_CHARS_MAX = 200
_SHOWN_MAX = 3
Holding = Callable[[tuple[str, ...]], Collection[str]]


def left_in(
    lines: Collection[ChangedLine], before: Callable[[str], str], main: Collection[str], words: str, holding: Holding
) -> dict[tuple[str, str], str]:
    """Return the added lines that look forgotten: what each is, by its file and its text.

    `before` gives the text of a file as it is on main, `main` are main's files, `words` is what the issue says,
    `holding` gives the files of main with one of some texts.
    """
    moved = {line.text.strip() for line in lines if line.removed}
    result: dict[tuple[str, str], str] = {}
    for kind in table("rubbish")["lines"]:
        files, wrong = re.compile(kind["files"]), re.compile(kind["pattern"])
        added = [line for line in lines if not line.removed and files.search(line.path) and wrong.search(line.text)]
        for path in dict.fromkeys(line.path for line in added if line.text.strip() not in moved):
            if not _belongs(path, kind, main, words, holding) and not any(map(wrong.search, before(path).split("\n"))):
                result = {(path, line.text.strip()): kind["what"] for line in added if line.path == path} | result
    return result


def _belongs(path: str, kind: dict[str, Any], main: Collection[str], words: str, holding: Holding) -> bool:
    if kind.get("product") and pattern("rubbish", "places", "apart").search(path):
        return True
    meant = pattern("rubbish", "places", "printing").search(path) or pattern("rubbish", "places", "said").search(words)
    if "calls" not in kind or meant:
        return "calls" in kind
    place = dirname(path), splitext(path)[1]
    beside = {decoded(one) for one in main if (dirname(one), splitext(one)[1]) == place}
    return not beside or not beside.isdisjoint(map(decoded, holding(tuple(kind["calls"]))))


def reminder(
    lines: dict[tuple[str, str], str], files: dict[str, str], left_out: Collection[NotTaken] = ()
) -> Failure | None:
    """Return what a worker is told of what was `left_out`, and of what it may have forgotten, None of nothing."""
    if not lines and not files and not left_out:
        return None
    outside = tuple(f"{one.path} ({one.why})" for one in left_out)
    quoted = [f"{path}: {one_line(text, _LINE_CHARS_MAX)}" for path, text in [*lines][:_LINES_MAX]]
    quoted += [f"{path} ({what})" for path, what in [*files.items()][:_LINES_MAX]]
    quoted += [f"{LEFT_OUT}: {line}" for line in outside[:_LINES_MAX]]
    named = dict.fromkeys((*(f"{what} in {path}" for (path, _), what in lines.items()), *files))
    held = some(tuple(named), _SHOWN_MAX)
    holds = f"; the change holds what may have been forgotten in it, or nobody asked for: {held}" if held else ""
    lacks = f"; {LEFT_OUT}: {some(outside, _SHOWN_MAX)}" if outside else ""
    return Failure(
        FailureKind.LINT_FAILURE,
        f"every gate passes{lacks}{holds}",
        rule=LEFT_IN,
        location=(*(path for path, _ in lines), *files, *(one.path for one in left_out))[0],
        signature=LEFT_IN,
        evidence=tuple(quoted),
        excerpt="\n".join(quoted),
        charged=False,
    )
