"""Finds added lines that name the workspace in which the work was done: they mean nothing anywhere else."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from noface.core.patch_lines import changed_lines, shown

_TEXT_CHARS_MAX = 200


@dataclass(frozen=True, slots=True)
class Tied:
    """An added line that names a workspace, cut to what a message can hold."""

    path: str
    text: str


def tied_lines(patch: str, folders: Iterable[str]) -> tuple[Tied, ...]:
    """Return the added lines that name one of `folders` (absolute paths), or anything in one, as no line did before.

    A line that was moved, and as many in a file as were taken away there, do not count.
    """
    names = tuple(dict.fromkeys(shown(folder) for folder in folders if folder))
    if not any(name in patch for name in names):
        return ()
    named = re.compile(f"(?:{'|'.join(map(re.escape, names))})(?![\\w.-])")
    lines = [line for line in changed_lines(patch) if named.search(line.text)]
    moved = frozenset(line.text for line in lines if line.removed)
    edited = Counter(line.path for line in lines if line.removed)
    found = []
    for line in lines:
        if line.removed or line.text in moved:
            continue
        if edited[line.path]:
            edited[line.path] -= 1
        else:
            found.append(Tied(line.path, _cut(line.text, named)))
    return tuple(found)


def _cut(text: str, named: re.Pattern[str]) -> str:
    """Return a line without its indentation, of a long one the part around the name."""
    match = named.search(text)
    start = max(match.start() - _TEXT_CHARS_MAX // 2, 0) if match is not None and len(text) > _TEXT_CHARS_MAX else 0
    return text[start : start + _TEXT_CHARS_MAX].strip()
