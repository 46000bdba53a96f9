"""Finds keys by their shape, whatever variable or file they come from, in text that goes to prompts and reports (I12).

Only shapes that providers gave their keys on purpose count; mere randomness (a commit id, a checksum) does not. Every
pattern is linear: no text, however hostile, makes one slow.
"""

import re
from functools import cache

from noface.data import table

_PRIVATE_KEY = "***private key***"
_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(r"(?:[\s+>|\"',-]|\\[nr])*(?:[A-Za-z0-9+/=]{16,200}(?:[\s+>|\"',-]|\\[nr])*)+")
_KEY_CHARS_MAX = 20_000


@cache
def _shapes() -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    """Return for each shape its mark, what every such key holds, and its pattern (secrets.toml)."""
    shapes = table("secrets")["shapes"]
    return tuple((f"***{shape['name']}***", shape["hint"], re.compile(shape["pattern"])) for shape in shapes)


def without_keys(text: str) -> str:
    """Return text without what has the shape of a key, each replaced by what it was."""
    for mark, hint, pattern in _shapes():
        if hint in text:
            text = pattern.sub(mark, text)
    return _without_private_keys(text) if "PRIVATE KEY" in text else text


def _without_private_keys(text: str) -> str:
    """Replace each private key from its first to its last line; of one that is cut off, what is there of it."""
    pieces = []
    done = 0
    ends = [match.end() for match in _END.finditer(text)]
    ends.reverse()
    for begin in _BEGIN.finditer(text):
        if begin.start() < done:
            continue
        while ends and ends[-1] <= begin.end():
            ends.pop()
        whole = bool(ends) and ends[-1] - begin.start() <= _KEY_CHARS_MAX
        pieces += [text[done : begin.start()], _PRIVATE_KEY]
        done = ends[-1] if whole else _after_body(text, begin.end())
    pieces.append(text[done:])
    return "".join(pieces)


def _after_body(text: str, position: int) -> int:
    body = _BODY.match(text, position, position + _KEY_CHARS_MAX)
    return body.end() if body is not None else position
