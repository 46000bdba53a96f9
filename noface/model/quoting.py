"""Makes what workers, logs and file names hold fit to be quoted: data on one bounded line, never a line of its own."""

import re
from collections.abc import Iterable

CUT = "…"
_READ_FACTOR = 20
_LITERAL_CHARS_MAX = 80
# As text: compiled when first needed, since most of what is shown is plain ASCII.
_ESCAPES = (
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC and the other strings: titles, links, clipboard
    r"|\x1b[ -/]*[0-~]?"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
# Controls, what reorders text (trojan source), line separators, and halves of surrogate pairs.
_FORBIDDEN = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"


def printable_lines(text: str) -> str:
    """Return `text` with nothing that a terminal would act on; what a return would overwrite is a line of its own."""
    if text.isascii() and text.isprintable():
        return text
    # A run of returns is one match: an expression that tries each of them anew takes the square of its length.
    plain = re.sub(_ESCAPES, "", text)
    lines = re.sub(r"\r+\n?", lambda match: "\n" if match[0].endswith("\n") else "\n" * len(match[0]), plain)
    return re.sub(_FORBIDDEN, "\ufffd", lines.expandtabs(4))


def short(text: str, chars_max: int) -> str:
    flat = " ".join(text[: chars_max * _READ_FACTOR].split())
    if len(flat) <= chars_max and len(text) <= chars_max * _READ_FACTOR:
        return flat
    return flat[: chars_max - 1].rstrip() + CUT


# What a line says is wrong in: where it is too long, this is what a reader needs of it.
_POINT = (
    r"(?i)\b(?:\w*errors?|\w*exception|fail(?:ed|ure|s)?|fatal|panic\w*|assert\w*|expected|denied|refused|rejected|invalid"
    r"|missing|undefined|unknown|unable|no such|not (?:found|permitted|allowed)|cannot|can['’]t|could not)\b"
)


def to_the_point(line: str, chars_max: int) -> str:
    """Return a line of at most so many characters: its beginning, which says where, and what is wrong."""
    if len(line) <= chars_max:
        return line
    head = chars_max // 3
    room = chars_max - head - len(f" {CUT} ") - len(CUT)
    start = len(line) - room
    if not re.search(_POINT, line[start:]):
        words = [match.start() for match in re.finditer(_POINT, line[head:start])]
        start = head + words[-1] if words else start
    rest = line[start : start + room]
    return f"{line[:head].rstrip()} {CUT} {rest.strip()}" + (CUT if start + room < len(line) else "")


def one_line(text: str, chars_max: int) -> str:
    """Return text as `short` does, printable, with single quotes: a quotation around it ends where its writer meant."""
    start = text[: chars_max * _READ_FACTOR + 1]
    return short("".join(char if char.isprintable() else " " for char in start).replace('"', "'"), chars_max)


def quoted(text: str, chars_max: int = 300) -> str:
    """Return text as a quotation that only its last character ends: what others write is never noface's own word."""
    return f'"{short(text.replace(chr(34), chr(39)), chars_max)}"'


def literal(value: object) -> str:
    """Write `value` as Python would: one line, no control characters, at most 80 characters."""
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= _LITERAL_CHARS_MAX else f"{text[: _LITERAL_CHARS_MAX - 1]}{CUT}"


def speaks(line: str) -> bool:
    return re.search(r"[^\s`~=*_#|+-]", line) is not None and not line.lstrip().startswith(("```", "~~~"))


def some(names: tuple[str, ...], most: int, chars_max: int = 100) -> str:
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
    if amount >= _DIME or amount == 0:
        return f"${amount:.2f}"
    if amount < _LEAST:
        return f"<${_LEAST}"
    whole, _, cents = f"{amount:.4f}".partition(".")
    return f"${whole}.{cents[:2]}{cents[2:].rstrip('0')}"
