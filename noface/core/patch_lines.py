"""Reads the changed lines out of a patch as git prints it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_ESCAPE = re.compile(rb'\\([0-7]{3}|[abfnrtv"\\])')
_PLAIN = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


@dataclass(frozen=True, slots=True)
class Line:
    """A changed line; lines with the same `stretch` follow each other directly and have the same sign.

    An added stretch that directly replaces a removed one has the number after it.
    """

    path: str
    removed: bool
    text: str
    stretch: int


def shown(path: str) -> str:
    """Return a path as `Line.path` has it: bytes that are not UTF-8 are replaced."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def changed_lines(patch: str) -> Iterator[Line]:
    """Yield the removed and added lines of a git patch, in order. Lines end with a newline and nothing else."""
    old = new = sign = ""
    in_hunk = False
    stretch = 0
    for line in patch.split("\n"):
        if line.startswith("diff --git "):
            old = new = sign = ""
            in_hunk = False
            stretch += 1
        elif not in_hunk and line.startswith("--- "):
            old = _named(line[4:])
        elif not in_hunk and line.startswith("+++ "):
            new = _named(line[4:])
        elif line.startswith("@@ "):
            in_hunk, sign = True, ""
            stretch += 1
        elif in_hunk and line[:1] in ("+", "-"):
            stretch += line[0] != sign
            sign = line[0]
            yield Line(new or old, sign == "-", line[1:], stretch)
        elif not line.startswith("\\"):
            stretch += 1
            sign = ""


def _named(field: str) -> str:
    """Return the path behind `---` or `+++`; empty for /dev/null. Git quotes names with special characters."""
    name = field.removesuffix("\r").rstrip("\t")
    if name.startswith('"') and name.endswith('"'):
        raw = name[1:-1].encode("utf-8", "surrogateescape")
        name = _ESCAPE.sub(_unescaped, raw).decode("utf-8", "replace")
    return "" if name == "/dev/null" else shown(name[2:])


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 0xFF]) if code.isdigit() else _PLAIN.get(code, code)
