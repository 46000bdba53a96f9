"""The tables of noface.toml as tomllib gives them, before anything is checked, and the line each key stands on.

tomllib reads values but keeps no lines, so a small scanner walks the text again and notes on which line each key
stands. The text must be TOML that tomllib accepts; then it need not check anything.
"""

import bisect
import re
import tomllib
from collections.abc import Mapping
from typing import Any


def table_of(value: object) -> Mapping[str, Any]:
    """Return a table as it is, and an empty one for whatever else stands there."""
    return value if isinstance(value, Mapping) else {}


def tables_of(value: object) -> list[Mapping[str, Any]]:
    """Return the tables of an array, an empty one for each item that is none; of no array, none."""
    return [table_of(item) for item in value] if isinstance(value, list) else []


KeyPath = tuple[str | int, ...]
"""What one would index the parsed data with: ("models", "fast", "tier"), ("gates", 1, "timeout")."""

_GAP = re.compile(r"[ \t]*")
_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_KEY_PART = re.compile(r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*'""")
# A multi-line string may end in up to two quotes of its own before the closing three.
_STRING = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}(?!")|\'\'\'.*?'{3,5}(?!')|"(?:\\.|[^"\\\n])*"|'[^'\n]*\'''',
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\r\n]+")


def line_numbers(text: str) -> dict[KeyPath, int]:
    """Return the line (from 1) of every key and array item of `text`, and of every table's header.

    A table without a header of its own has the line of the first key or header that makes it.
    """
    scanner = _Scanner(text)
    scanner.document()
    return scanner.lines


def nearest_line(lines: Mapping[KeyPath, int], path: KeyPath) -> int | None:
    """Return the line of `path`, or of the innermost part of it that the text has; None if it has none."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def split_key(key: str) -> tuple[str, ...]:
    """Split a dotted key as TOML does, quotes included; raise ValueError if it is none."""
    scanner = _Scanner(key)
    parts = scanner.key()
    if scanner.at != len(key):
        raise ValueError(key)
    return parts


class _Scanner:
    """Walks the text once; `at` is where it stands, `counts` the items so far of each array of tables."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self.counts: dict[KeyPath, int] = {}
        self.newlines = [match.start() for match in re.finditer("\n", text)]

    def document(self) -> None:
        table: KeyPath = ()
        self.take(_BLANK)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.assignment(table)
            self.take(_BLANK)

    def header(self) -> KeyPath:
        """Read `[a.b]` or `[[a.b]]` and return the path of the table that follows."""
        line, brackets = self.line(), 2 if self.text.startswith("[[", self.at) else 1
        self.at += brackets
        self.take(_GAP)
        parts = self.key()
        self.at += brackets
        path = self.descend((), parts[:-1], line)
        path = (*path, parts[-1])
        if brackets == 1:
            self.lines[path] = line
            return path
        self.lines.setdefault(path, line)
        self.counts[path] = self.counts.get(path, 0) + 1
        path = self.newest(path)
        self.lines[path] = line
        return path

    def descend(self, path: KeyPath, parts: tuple[str, ...], line: int) -> KeyPath:
        """Follow `parts` from `path`, noting tables that nothing has named before; return where they lead."""
        for part in parts:
            path = (*path, part)
            self.lines.setdefault(path, line)
            path = self.newest(path)
        return path

    def newest(self, path: KeyPath) -> KeyPath:
        """Return the last item of an array of tables, which is what a later header's name means; else `path`."""
        return (*path, self.counts[path] - 1) if path in self.counts else path

    def assignment(self, table: KeyPath) -> None:
        line = self.line()
        parts = self.key()
        self.at += 1  # the equals sign, where key() has stopped
        path = (*self.descend(table, parts[:-1], line), parts[-1])
        self.lines[path] = line
        self.take(_GAP)
        self.value(path)

    def value(self, path: KeyPath) -> None:
        match self.text[self.at]:
            case "[":
                self.array(path)
            case "{":
                self.inline_table(path)
            case '"' | "'":
                self.take(_STRING)
            case _:
                self.take(_SCALAR)

    def array(self, path: KeyPath) -> None:
        self.at += 1
        index = 0
        while self.more("]"):
            self.lines[(*path, index)] = self.line()
            self.value((*path, index))
            index += 1

    def inline_table(self, path: KeyPath) -> None:
        self.at += 1
        while self.more("}"):
            self.assignment(path)

    def more(self, closing: str) -> bool:
        """Go to the next item and return True, or step over the closing bracket and return False."""
        self.take(_BLANK)
        if self.text[self.at] == ",":
            self.at += 1
            self.take(_BLANK)
        if self.text[self.at] == closing:
            self.at += 1
            return False
        return True

    def key(self) -> tuple[str, ...]:
        """Read a dotted key and the blanks after it; raise ValueError if none stands."""
        parts: list[str] = []
        while True:
            part = self.take(_KEY_PART)
            if not part:
                raise ValueError(f"no key at character {self.at + 1}")
            parts.append(tomllib.loads(f"key = {part}")["key"] if part[0] in "\"'" else part)
            self.take(_GAP)
            if not self.text.startswith(".", self.at):
                return tuple(parts)
            self.at += 1
            self.take(_GAP)

    def take(self, pattern: re.Pattern[str]) -> str:
        """Step over what `pattern` matches here, perhaps nothing, and return it."""
        match = pattern.match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        return match.group()

    def line(self) -> int:
        return bisect.bisect_left(self.newlines, self.at) + 1
