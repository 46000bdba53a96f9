"""What data files of tests hold: cases, expected output, snapshots, in whatever format (law 11). Pure.

A file of data is a bag of values: words and numbers, without the keys that they stand at, marks of comments and form.
So a file that is laid out anew, converted, split, merged or moved has lost nothing, and rows that are taken out, cases
that become comments, and a golden file that is emptied are seen in any language. What a file loses counts unless other
files of tests gain it, as with bodies of tests (`strength`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from noface.data import pattern
from noface.integrity.judges import Part, is_hidden, part_of, steers_by_name
from noface.integrity.strength import Loss, Texts, bodies
from noface.integrity.tampering import is_code

Values = Counter[str]
_VALUE = re.compile(r"\w++(?:[.]\w++)*+")
_KEY = re.compile(r"""</?+[\w:.-]++|(?:"[^"\n]{1,200}+"|'[^'\n]{1,200}+'|(?<![\w.-])\w[\w.-]*+)[ \t]*+[:=](?![=/])""")
_ESCAPED = re.compile(r"""\\(?:u([0-9A-Fa-f]{4})|[nrtbf"'/\\])""")
_EMPTY = re.compile(r"[\[\]{}(),;-]{1,3}")
"""What stands where a file holds no values."""
_CHARS_MAX = 2_000
_FEW = 4
"""Of fewer values a file may lose some: what replaces them need not be as many."""


def is_data(path: str) -> bool:
    """True if a file by its name is data of tests: no code, and nothing that a tool looks for by its name."""
    by_name = is_code(path) or is_hidden(path) or steers_by_name(path)
    return part_of(path) is Part.TEST and not by_name


def values_of(text: str) -> Values:
    """Return the values of a data file, however they are written down; its lines where it holds no word."""
    lines = (
        line for line in text.split("\n") if not pattern("integrity", "tests", "comment").search(line[:_CHARS_MAX])
    )
    unescaped = _ESCAPED.sub(_unescaped, "\n".join(lines))
    values = (
        _VALUE.findall(_KEY.sub(" ", unescaped))
        or _VALUE.findall(unescaped)
        or [word for word in unescaped.split() if not _EMPTY.fullmatch(word)]
    )
    return Counter(values)


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else " "


def values_in_code(path: str, text: str) -> Values:
    """Return the words and numbers of the lines of a test file that may run."""
    held = bodies(path, text).values()
    words = "\n".join(line for body in held for line in (*body.head, *body.lines))
    return Counter(_VALUE.findall(_ESCAPED.sub(_unescaped, words)))


def all_values(texts: Texts) -> dict[str, Values]:
    """Return the values of all these files, data and code of tests."""
    return {path: values_in_code(path, text) if is_code(path) else values_of(text) for path, text in texts.items()}


def fewer_values(main: Mapping[str, Values], now: Mapping[str, Values], data: Iterable[str]) -> tuple[Loss, ...]:
    """Return which `data` files of main are gone or have lost most, and no file gains what they held.

    Files that are as on main may be left out of both.
    """
    none = Counter[str]()
    gained = sum((values - main.get(path, none) for path, values in now.items()), none)
    lost = []
    for path in data:
        was, still = main[path], now.get(path, none)
        how = _how(was, still, gone=path not in now)
        missing = was - still
        replaced = missing & gained
        if how and 2 * (missing - replaced).total() >= was.total():
            lost.append(Loss(path, "", how))
        elif how:
            gained -= replaced
    return tuple(lost)


def _how(was: Values, still: Values, *, gone: bool) -> str:
    """Say what a file has lost by itself, "" if it keeps most: as many values as half of main's, and as many kinds."""
    before, after = was.total(), still.total()
    had = f"{before} value{'s' if before != 1 else ''}"
    if gone and before:
        return f"is gone (it held {had})"
    if before and not after:
        return f"holds nothing any more ({had} before)"
    if before >= _FEW and 2 * after < before:
        return f"holds {after} in place of {had}"
    return f"holds {len(still)} in place of {len(was)} different values" if _alike(was, still) else ""


def _alike(was: Values, still: Values) -> bool:
    """True if what a file holds now is mostly the same again and again, and was not on main."""
    return len(was) >= _FEW and 2 * len(still) < len(was)
