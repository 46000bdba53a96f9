"""A patch of git's, parsed. Pure. All that read a diff read it here.

A line is known by where it stands: within a hunk "--- x" is a removed line "-- x", and no name of a file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

LINE_CHARS_MAX = 2_000
"""No rule gets a longer piece of a changed line."""
_OVERLAP = 400
_BEGINS = "diff --git "
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})", re.ASCII)
_HEADS = ("new file", "deleted file", "rename from", "Binary files", "old mode", "new mode")
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abfnrtv"\\])')
_PLAIN = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


class PatchRow(NamedTuple):
    """A row of a hunk: its number in the patch, its sign ("+", "-", " ", or "@" of a hunk's head), and its text.

    Rows with the same `stretch` follow each other with the same sign; what replaces one has the number after it. `old`
    and `new` are its line before and after, 0 for none.
    """

    at: int
    sign: str
    text: str
    stretch: int
    old: int
    new: int


class ChangedLine(NamedTuple):
    """A line that a patch removes or adds; `stretch` as of a `PatchRow`."""

    path: str
    removed: bool
    text: str
    stretch: int = 0


@dataclass(frozen=True, slots=True)
class PatchFile:
    """A file in a patch: its path before and after, "" if it is not there then, and the rows of its hunks.

    `head` are the rows before them, from number `start` on.
    """

    old: str
    new: str
    start: int
    head: tuple[str, ...]
    rows: tuple[PatchRow, ...]

    @property
    def named(self) -> str:
        """The path in the first row of its head, which a file without hunks has as well."""
        return self.head[0].rpartition(" b/")[2].rstrip('"')

    @property
    def path(self) -> str:
        return self.new or self.old or self.named

    @property
    def note(self) -> str:
        """What happened to it besides the lines of its hunks."""
        return ", ".join(row.removesuffix(" mode 100644") for row in self.head if row.startswith(_HEADS))


def patch_files(patch: str) -> Iterator[PatchFile]:
    """Yield the files of a patch, in order. Lines end with a newline and nothing else."""
    rows, stretch = patch.split("\n"), 0
    starts = [at for at, row in enumerate(rows) if at == 0 or row.startswith(_BEGINS)]
    for start, end in pairwise([*starts, len(rows)]):
        body = next((at for at in range(start, end) if rows[at].startswith("@@ ")), end)
        names = {row[:4]: _path(row[4:]) for row in rows[start:body] if row.startswith(("--- ", "+++ "))}
        lines, before, old, new = [], "", 0, 0
        stretch += 1
        for at in range(body, end):
            sign = rows[at][:1]
            if sign == "\\":  # "\ No newline at end of file" belongs to the line above it
                continue
            stretch += sign not in ("+", "-") or sign != before
            before = sign if sign in ("+", "-") else ""
            if (begins := _HUNK.match(rows[at])) is not None:
                old, new = int(begins[1]), int(begins[2])
            if sign in ("+", "-", " ", "@"):
                was, is_there = sign in ("-", " "), sign in ("+", " ")
                lines.append(PatchRow(at, sign, rows[at][1:], stretch, old * was, new * is_there))
                old, new = old + was, new + is_there
        yield PatchFile(names.get("--- ", ""), names.get("+++ ", ""), start, tuple(rows[start:body]), tuple(lines))


def changed_lines(patch: str) -> Iterator[ChangedLine]:
    """Yield the removed and added lines of a patch, in order; a long one as several that overlap."""
    for file in patch_files(patch):
        path = file.new or file.old
        for row in file.rows:
            if row.sign in "+-":
                for text in pieces_of(row.text):
                    yield ChangedLine(path, row.sign == "-", text, row.stretch)


def pieces_of(line: str) -> Iterator[str]:
    yield line[:LINE_CHARS_MAX]
    for start in range(LINE_CHARS_MAX - _OVERLAP, len(line) - _OVERLAP, LINE_CHARS_MAX - _OVERLAP):
        yield line[start : start + LINE_CHARS_MAX]


def decoded(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _path(field: str) -> str:
    """Return the path behind `---` or `+++`; empty for /dev/null. Git quotes names with special characters."""
    name = field.removesuffix("\r").rstrip("\t")
    if name.startswith('"') and name.endswith('"'):
        raw = name[1:-1].encode("utf-8", "surrogateescape")
        name = _ESCAPE.sub(_unescaped, raw).decode("utf-8", "replace")
    return "" if name == "/dev/null" else decoded(name[2:])


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 0xFF]) if code.isdigit() else _PLAIN.get(code, code)
