"""Tells whether a change is nothing but white space, as far as white space means nothing.

Blank lines, line ends and trailing blanks mean nothing; indentation does where the language says so, and a blank
between two words or inside quotes always may.
"""

import re
from collections.abc import Iterable

from noface.core.attempt import FileChange
from noface.core.patch_lines import Line, shown

_INDENTED = re.compile(
    r"\.(py|pyi|pyx|ya?ml|mk|am|in|pug|jade|haml|slim|sass|styl|coffee|hs|lhs|elm|nim|fsx?|fsi|purs|idr|lean|feature|robot|cfg|ini|gd|cr)$|(^|/)(GNU)?[Mm]akefile[^/]*$|(^|/)(Justfile|justfile|Dockerfile[^/]*)$"
)
# A blank line or two blanks at a line's end say something in these.
_MARKUP = re.compile(r"\.(md|mdx|markdown|rst|adoc|asciidoc|org|patch|diff|snap)$", re.IGNORECASE)
_INSIDE = re.compile(r"(?<![^\s])\s+|\s+(?=\W)|(?<=\W)\s+")
_QUOTES = ('"', "'", "`", "<<", "//", "#")


def only_space(changes: tuple[FileChange, ...], lines: Iterable[Line]) -> bool:
    """Tell whether the files were modified, and nothing but their white space. False where the patch says too little.

    `lines` are the patch's changed lines; every one must be there that `changes` count.
    """
    if not changes or not all(_comparable(change) for change in changes):
        return False
    counted = {shown(change.path): [0, 0] for change in changes}
    stretches: dict[int, tuple[str, list[str], list[str]]] = {}
    before = -1
    for line in lines:
        if line.path not in counted:
            return False
        counted[line.path][line.removed] += 1
        # What replaces a stretch stands with it; what was only taken away, or only added, stands alone.
        replaces = not line.removed and line.stretch - 1 == before
        before = line.stretch if line.removed else before
        place = line.stretch - 1 if replaces else line.stretch
        _, removed, added = stretches.setdefault(place, (line.path, [], []))
        (removed if line.removed else added).append(line.text)
    if any(counted[shown(change.path)] != [change.added, change.deleted] for change in changes):
        return False
    return all(_same(path, removed, added) for path, removed, added in stretches.values())


def _same(path: str, removed: list[str], added: list[str]) -> bool:
    indented = _INDENTED.search(path) is not None
    return _meant(removed, indented=indented) == _meant(added, indented=indented)


def _comparable(change: FileChange) -> bool:
    text = change.status == "M" and change.old_mode == change.new_mode and change.added is not None
    return text and _MARKUP.search(change.path) is None


def _meant(lines: list[str], *, indented: bool) -> list[str]:
    """Return what the lines say: without blank ones, and without blanks that mean nothing."""
    return [_squeezed(line, indented=indented) for line in lines if line.strip()]


def _squeezed(line: str, *, indented: bool) -> str:
    text = line.rstrip()
    body = text.lstrip()
    indent = text[: len(text) - len(body)] if indented else ""
    if any(mark in body for mark in _QUOTES):
        return indent + body
    return indent + _INSIDE.sub("", " ".join(body.split()))
