"""Checks that a change drops by the way: of rights, and of what a function is given. Pure.

As many as before in other words, or elsewhere, are as many checks: only what is fewer is told.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from noface.data import pattern
from noface.integrity.tampering import is_code
from noface.integrity.unasked.definitions import Text, definitions, texts_of
from noface.integrity.unasked.finding import Changed, Ground, Unasked

_CHANGED_MAX = 8
"""A body that loses more lines is another one."""
_MADE_UP = {"rights": 1, "input": 1_000}
"""So many checks that go does a new one make up for."""
_SAYS = re.compile(
    r"^(?:#(?!\[)|//|/?\*|--|import\b|from\b|use\b|(?:async )?def\b|(?:export )?function\b|func\b|(?:pub )?fn\b)"
)


def checks(files: Sequence[Changed], ground: Ground) -> Iterator[Unasked]:
    """Yield the checks that a change drops."""
    texts = [each for each in texts_of(files) if each.product and is_code(each.path)]
    for row, lost in (("rights", _fewer), *([] if ground.removes else [("input", _dropped)])):
        found = {each.path: [line for line in lost(each) if _is(row, line)] for each in texts if each.both}
        gained = sum(_is(row, line) for each in texts for line in each.gained.elements())
        if sum(map(len, found.values())) > gained * _MADE_UP[row]:
            yield from (Unasked(row, path, tuple(lines)) for path, lines in found.items() if lines)


def _is(row: str, line: str) -> bool:
    return not _SAYS.match(line) and pattern("unasked", "checks", row, re.IGNORECASE).search(line[:400]) is not None


def _fewer(text: Text) -> Iterator[str]:
    yield from text.lost.elements()


def _dropped(text: Text) -> Iterator[str]:
    before, after = definitions(text.path, text.old) or {}, definitions(text.path, text.new) or {}
    for name in before.keys() & after.keys():
        lost = Counter(before[name].body) - Counter(after[name].body)
        if lost.total() <= _CHANGED_MAX:
            yield from lost
