"""Finds conflict markers that were left in: the three of a conflict, in order, among the added lines of a file.

Not counted: documents, patches and test data, which may show them; as many as the same change took away in the file.
What a parser accepts all the same (markers inside a string) the caller takes out.
"""

import re
from dataclasses import dataclass

from noface.core.patch_lines import changed_lines

_OURS, _SPLIT, _THEIRS = re.compile(r"<{7}(\s.*)?$"), re.compile(r"={7}\s*$"), re.compile(r">{7}(\s.*)?$")
_STEPS = (_OURS, _SPLIT, _THEIRS)
_MAY_SHOW = re.compile(
    r"\.(md|mdx|markdown|rst|adoc|asciidoc|org|tex|patch|diff|orig|rej|snap|ipynb)$"
    r"|(^|/)(fixtures?|__fixtures__|test[-_]?data|snapshots|__snapshots__|docs?|corpus|recordings|cassettes)/"
    r"|(^|/)(tests?|specs?|__tests__)/(.*/)?(data|files|resources|samples|cases)/",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Marked:
    """A file with conflict markers: how many conflicts, and the first one's opening line."""

    path: str
    conflicts: int
    line: str


def left_markers(patch: str) -> tuple[Marked, ...]:
    """Return the files that hold conflicts they did not hold before."""
    if "\n+<<<<<<<" not in patch:
        return ()
    added: dict[str, list[str]] = {}
    removed: dict[str, list[str]] = {}
    for line in changed_lines(patch):
        if line.text[:7] in ("<<<<<<<", "=======", ">>>>>>>") and not _MAY_SHOW.search(line.path):
            (removed if line.removed else added).setdefault(line.path, []).append(line.text)
    found = []
    for path, texts in added.items():
        conflicts = _triples(texts) - _triples(removed.get(path, []))
        if conflicts > 0:
            first = next(text for text in texts if _OURS.match(text))
            found.append(Marked(path, conflicts, first.rstrip()))
    return tuple(found)


def _triples(texts: list[str]) -> int:
    count = step = 0
    for text in texts:
        if _STEPS[step].match(text):
            step += 1
        elif _OURS.match(text):
            step = 1
        if step == len(_STEPS):
            count, step = count + 1, 0
    return count
