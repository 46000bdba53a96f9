"""Which tests a change concerns most: those that name what it changes, rare names first. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Iterable

from noface.integrity.strength import Body
from noface.integrity.tampering import named_path
from noface.integrity.uses import word_of

_NAME = re.compile(r"[A-Za-z_]\w*+")
_LINE_CHARS_MAX = 2_000


def changed_names(patch: str, paths: Collection[str]) -> frozenset[str]:
    """Return the names in a patch of these files: its lines and those around them, the functions, the files.

    `paths` are as `tampering.shown` has them.
    """
    found, of_these = {word_of(path) for path in paths}, False
    for line in patch.split("\n"):
        if line.startswith("diff --git "):
            of_these = False
        elif line.startswith(("--- ", "+++ ")) and not of_these:
            of_these = named_path(line[4:]) in paths
        elif of_these:
            found.update(_NAME.findall(line[:_LINE_CHARS_MAX]))
    return frozenset(found)


def nearest(tests: Iterable[Body], names: frozenset[str], most: int) -> tuple[Body, ...]:
    """Return the tests that name most of what is changed, at most so many; a name that many tests hold says little."""
    words = {id(body): (body, names & body.words.keys()) for body in tests}
    spread = Counter(word for _, held in words.values() for word in held)
    scores = ((sum(1 / spread[word] for word in held), body) for body, held in words.values() if held)
    return tuple(body for _, body in sorted(scores, key=lambda each: -each[0])[:most])
