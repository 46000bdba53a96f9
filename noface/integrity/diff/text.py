"""Judges the changed lines: conflict markers that were left in any file of text, names of the workspace."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from noface.model.patch import ChangedLine, changed_lines, decoded

_STEPS = (re.compile(r"<{7}(\s.*)?$"), re.compile(r"={7}\s*$"), re.compile(r">{7}(\s.*)?$"))
_STARTS = ("<<<<<<<", "=======", ">>>>>>>")


def left_markers(patch: str) -> dict[str, list[tuple[str, ...]]]:
    """Return the marker lines of conflicts that main does not hold, there or in a file that goes, by their files."""
    if "\n+<<<<<<<" not in patch:
        return {}
    added, removed = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for line in changed_lines(patch):
        if line.text.startswith(_STARTS):
            (removed if line.removed else added)[line.path].append(line.text)
    moved = Counter(conflict for path, texts in removed.items() if path not in added for conflict in _conflicts(texts))
    files = defaultdict[str, list[tuple[str, ...]]](list)
    for path, texts in added.items():
        for conflict in _conflicts(texts)[len(_conflicts(removed[path])) :]:
            if moved[conflict]:
                moved[conflict] -= 1
            else:
                files[path].append(conflict)
    return files


def shows_conflict(text: str) -> bool:
    return bool(_conflicts([line for line in text.splitlines() if line.startswith(_STARTS)]))


def _conflicts(texts: list[str]) -> list[tuple[str, ...]]:
    conflicts: list[tuple[str, ...]] = []
    open_: list[str] = []
    for text in texts:
        if _STEPS[len(open_)].match(text):
            open_.append(text.rstrip())
        elif _STEPS[0].match(text):
            open_ = [text.rstrip()]
        if len(open_) == len(_STEPS):
            conflicts.append(tuple(open_))
            open_ = []
    return conflicts


_TEXT_CHARS_MAX = 200


def tied_lines(patch: str, folders: Iterable[str]) -> tuple[ChangedLine, ...]:
    """Return the added lines that name one of `folders` (absolute paths), or anything in one, as no line did before."""
    names = tuple(dict.fromkeys(decoded(folder) for folder in folders if folder))
    if not any(name in patch for name in names):
        return ()
    named = re.compile(f"(?:{'|'.join(map(re.escape, names))})(?![\\w.-])")
    lines = [line for line in changed_lines(patch) if named.search(line.text)]
    moved = frozenset(line.text for line in lines if line.removed)
    edited = Counter(line.path for line in lines if line.removed)
    tied = []
    for line in lines:
        if line.removed or line.text in moved:
            continue
        if edited[line.path]:
            edited[line.path] -= 1
        else:
            tied.append(line._replace(text=_cut(line.text, named)))
    return tuple(tied)


def _cut(text: str, named: re.Pattern[str]) -> str:
    match = named.search(text)
    start = max(match.start() - _TEXT_CHARS_MAX // 2, 0) if match is not None and len(text) > _TEXT_CHARS_MAX else 0
    return text[start : start + _TEXT_CHARS_MAX].strip()
