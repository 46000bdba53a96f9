"""Makes what a worker, a log or a file name says fit to be quoted within a sentence: data, never a line of its own.

Bounds what agents, logs and files said before a person is shown it: one line, cut with a mark.

Terminal codes are taken out where it is printed (`ui/text`); documents keep what was said.
"""

from collections.abc import Iterable

_READ_FACTOR = 20
CUT = "…"


def one_line(text: str, chars_max: int) -> str:
    """Return text on one printable line of at most `chars_max` characters, with a mark where it was cut.

    Double quotes become single ones, so that a quotation around it ends where its writer ended it.
    """
    start = text[: chars_max * _READ_FACTOR]
    printable = "".join(char if char.isprintable() else " " for char in start)
    flat = " ".join(printable.replace('"', "'").split())
    if len(flat) <= chars_max and len(start) == len(text):
        return flat
    return flat[: chars_max - 1].rstrip() + CUT


def some(names: tuple[str, ...], most: int, chars_max: int = 100) -> str:
    """Return the first `most` names in a row, and how many more there are."""
    said = ", ".join(one_line(name, chars_max) for name in names[:most])
    return said if len(names) <= most else f"{said} and {len(names) - most} more"


_EXCERPTS_READ_FACTOR = 20
_CUT = "…"


def short(text: str, chars_max: int) -> str:
    """Return text on one line of at most `chars_max` characters, with a mark where it was cut."""
    flat = " ".join(text[: chars_max * _EXCERPTS_READ_FACTOR].split())
    if len(flat) <= chars_max and len(text) <= chars_max * _EXCERPTS_READ_FACTOR:
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
