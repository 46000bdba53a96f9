"""Makes what workers, logs and file names hold fit to be quoted: data on one bounded line, never a line of its own.

Terminal codes are taken out where it is printed (`ui/text`); documents keep them.
"""

from collections.abc import Iterable

CUT = "…"
_READ_FACTOR = 20
_LITERAL_CHARS_MAX = 80


def short(text: str, chars_max: int) -> str:
    """Return text on one line of at most `chars_max` characters, with a mark where it was cut."""
    flat = " ".join(text[: chars_max * _READ_FACTOR].split())
    if len(flat) <= chars_max and len(text) <= chars_max * _READ_FACTOR:
        return flat
    return flat[: chars_max - 1].rstrip() + CUT


def one_line(text: str, chars_max: int) -> str:
    """Return text as `short` does, printable.

    Double quotes become single ones, so that a quotation around it ends where its writer ended it.
    """
    start = text[: chars_max * _READ_FACTOR + 1]
    return short("".join(char if char.isprintable() else " " for char in start).replace('"', "'"), chars_max)


def quoted(text: str, chars_max: int = 300) -> str:
    """Return text as a quotation that only its last character ends: what others write is never noface's own word."""
    return f'"{short(text.replace(chr(34), chr(39)), chars_max)}"'


def literal(value: object) -> str:
    """Write `value` as Python would: one line, no control characters, at most 80 characters."""
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= _LITERAL_CHARS_MAX else f"{text[: _LITERAL_CHARS_MAX - 1]}{CUT}"


def some(names: tuple[str, ...], most: int, chars_max: int = 100) -> str:
    """Return the first `most` names in a row, and how many more there are."""
    listed = ", ".join(one_line(name, chars_max) for name in names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"


def distinct(texts: Iterable[str], most: int, chars_max: int) -> list[str]:
    """Return the first `most` different texts in their order, each bounded; empty ones are left out."""
    kept: dict[str, None] = {}
    for text in texts:
        if bounded := short(text, chars_max):
            kept[bounded] = None
        if len(kept) >= most:
            break
    return list(kept)


_DIME = 0.1
_LEAST = 0.0001


def in_dollars(amount: float) -> str:
    """Return an amount as it is told everywhere: in cents, below a dime in hundredths of a cent where it has any."""
    if amount >= _DIME or amount == 0:
        return f"${amount:.2f}"
    if amount < _LEAST:
        return f"<${_LEAST}"
    whole, _, cents = f"{amount:.4f}".partition(".")
    return f"${whole}.{cents[:2]}{cents[2:].rstrip('0')}"
