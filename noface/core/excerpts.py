"""Bounds what agents, logs and files said before a person is shown it: one line, cut with a mark.

Terminal codes are taken out where it is printed (`views/text`); documents keep what was said.
"""

from collections.abc import Iterable

_READ_FACTOR = 20
_CUT = "…"


def short(text: str, chars_max: int) -> str:
    """Return text on one line of at most `chars_max` characters, with a mark where it was cut."""
    flat = " ".join(text[: chars_max * _READ_FACTOR].split())
    if len(flat) <= chars_max and len(text) <= chars_max * _READ_FACTOR:
        return flat
    return flat[: chars_max - 1].rstrip() + _CUT


def quoted(text: str, chars_max: int = 300) -> str:
    """Return text as a quotation that only its last character ends: what others said is never noface's own word."""
    return f'"{short(text.replace(chr(34), chr(39)), chars_max)}"'


def distinct(texts: Iterable[str], most: int, chars_max: int) -> list[str]:
    """Return the first `most` different texts in their order, each bounded; empty ones are left out."""
    found: dict[str, None] = {}
    for text in texts:
        bounded = short(text, chars_max)
        if bounded:
            found[bounded] = None
        if len(found) >= most:
            break
    return list(found)
