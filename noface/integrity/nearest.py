"""Which tests a change concerns most: those that name what it changes, rare names first. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Iterable

from noface.integrity.strength import Body
from noface.integrity.tampering import changed_lines
from noface.integrity.uses import word_of

_NAME = re.compile(r"[A-Za-z_]\w*+")
_HEADER = re.compile(r"^@@ [^@\n]*+@@ ([^\n]*+)$", re.MULTILINE)
_LINE_CHARS_MAX = 2_000


def changed_names(patch: str, paths: Collection[str]) -> frozenset[str]:
    """Return the names in what a patch changes of these files: its lines, the functions they are in, the files."""
    found = {word_of(path) for path in paths}
    for line in changed_lines(patch):
        if line.path in paths:
            found.update(_NAME.findall(line.text[:_LINE_CHARS_MAX]))
    for inside in _HEADER.findall(patch):
        found.update(_NAME.findall(inside[:_LINE_CHARS_MAX]))
    return frozenset(found)


def nearest(tests: Iterable[Body], names: frozenset[str], most: int) -> tuple[Body, ...]:
    """Return the tests that name most of what is changed, at most so many; a name that many tests hold says little."""
    words = {id(body): (body, names & body.words.keys()) for body in tests}
    spread = Counter(word for _, held in words.values() for word in held)
    scores = ((sum(1 / spread[word] for word in held), body) for body, held in words.values() if held)
    return tuple(body for _, body in sorted(scores, key=lambda each: -each[0])[:most])
