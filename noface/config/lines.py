"""The tables of noface.toml as tomllib gives them, before anything is checked, and where in the text each key stands.

tomllib reads values but keeps no places, so a small scanner walks the text again. The text must be TOML that tomllib
accepts; then it need not check anything.
"""

import bisect
import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any


def table_of(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def tables_of(value: object) -> list[Mapping[str, Any]]:
    return [table_of(item) for item in value] if isinstance(value, list) else []


KeyPath = tuple[str | int, ...]
"""What one would index the parsed data with: ("models", "fast", "tier"), ("gates", 1, "timeout")."""

_GAP = re.compile(r"[ \t]*")
_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_KEY_PART = re.compile(r"""([A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*')[ \t]*(\.[ \t]*)?""")
# A multi-line string may end in up to two quotes of its own before the closing three.
_STRING = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}(?!")|\'\'\'.*?'{3,5}(?!')|"(?:\\.|[^"\\\n])*"|'[^'\n]*\'''', re.DOTALL
)
_SCALAR = re.compile(r"[^,\]}#\r\n]+")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def dotted(path: KeyPath) -> str:
    parts = [str(part) for part in path]
    return ".".join(part if _BARE.fullmatch(part) else json.dumps(part, ensure_ascii=False) for part in parts)


def nearest_line(lines: Mapping[KeyPath, int], path: KeyPath) -> int | None:
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def split_key(key: str) -> tuple[str, ...]:
    """Split a dotted key as TOML does, quotes included; raise ValueError if it is none."""
    parts, end = _key_at(key, 0)
    if end != len(key):
        raise ValueError(key)
    return parts


def _key_at(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """Read a dotted key and the blanks after it, and return where it ends; raise ValueError if none stands."""
    parts: list[str] = []
    while True:
        match = _KEY_PART.match(text, at)
        if match is None:
            raise ValueError(f"no key at character {at + 1}")
        part, at = match[1], match.end()
        parts.append(tomllib.loads(f"key = {part}")["key"] if part[0] in "\"'" else part)
        if not match[2]:
            return tuple(parts), at


class Layout:
    """Where everything stands in a text of TOML.

    `lines` has the line (from 1) of every key, array item and table's header; a table without a header of its own has
    that of the first key or header that makes it. `values` are the offsets at which each value begins and ends. `ends`
    has for each table that is not inline the end of its last key, or header, and what stands before the dot of a
    further key. `sections` are the outermost keys, with the offsets of their headers and assignments.
    """

    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self.values: dict[KeyPath, tuple[int, int]] = {}
        self.ends: dict[KeyPath, tuple[int, KeyPath]] = {}
        self.sections: list[tuple[str, int]] = []
        self._text = text
        self._at = 0
        self._counts: dict[KeyPath, int] = {}  # the items so far of each array of tables
        self._newlines = [match.start() for match in re.finditer("\n", text)]
        self._document()

    def _document(self) -> None:
        table: KeyPath = ()
        self._take(_BLANK)
        while (begin := self._at) < len(self._text):
            if self._text[begin] == "[":
                table = self._header()
                self.ends[table] = self._at, ()
                self.sections.append((str(table[0]), begin))
            else:
                key = self._assignment(table)
                for depth in range(len(table), len(key)):
                    self.ends[key[:depth]] = self.values[key][1], key[len(table) : depth]
                self.sections += [] if table else [(str(key[0]), begin)]
            self._take(_BLANK)

    def _header(self) -> KeyPath:
        line, brackets = self._line(), 2 if self._text.startswith("[[", self._at) else 1
        self._at += brackets
        self._take(_GAP)
        parts = self._key()
        self._at += brackets
        path = (*self._descend((), parts[:-1], line), parts[-1])
        if brackets > 1:
            self.lines.setdefault(path, line)
            self._counts[path] = self._counts.get(path, 0) + 1
            path = self._newest(path)
        self.lines[path] = line
        return path

    def _descend(self, path: KeyPath, parts: tuple[str, ...], line: int) -> KeyPath:
        for part in parts:
            path = (*path, part)
            self.lines.setdefault(path, line)
            path = self._newest(path)
        return path

    def _newest(self, path: KeyPath) -> KeyPath:
        return (*path, self._counts[path] - 1) if path in self._counts else path

    def _assignment(self, table: KeyPath) -> KeyPath:
        line = self._line()
        parts = self._key()
        self._at += 1  # the equals sign
        path = (*self._descend(table, parts[:-1], line), parts[-1])
        self.lines[path] = line
        self._take(_GAP)
        self._value(path)
        return path

    def _value(self, path: KeyPath) -> None:
        begin = self._at
        match self._text[self._at]:
            case "[":
                self._at += 1
                index = 0
                while self._more("]"):
                    self.lines[(*path, index)] = self._line()
                    self._value((*path, index))
                    index += 1
            case "{":
                self._at += 1
                while self._more("}"):
                    self._assignment(path)
            case '"' | "'":
                self._take(_STRING)
            case _:
                self._take(_SCALAR)
        self.values[path] = begin, begin + len(self._text[begin : self._at].rstrip())

    def _more(self, closing: str) -> bool:
        self._take(_BLANK)
        if self._text[self._at] == ",":
            self._at += 1
            self._take(_BLANK)
        if self._text[self._at] == closing:
            self._at += 1
            return False
        return True

    def _key(self) -> tuple[str, ...]:
        parts, self._at = _key_at(self._text, self._at)
        return parts

    def _take(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match is not None else self._at

    def _line(self) -> int:
        return bisect.bisect_left(self._newlines, self._at) + 1
