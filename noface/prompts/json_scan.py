"""Finds the JSON objects in a model's text: linear time, no recursion, whatever the text is.

An object begins at a `{` that a key in double quotes or a `}` follows, and it counts if its grammar holds up to
its own `}`; objects inside others are no objects of their own. Where the grammar breaks, the search goes on behind
the break, so that no part of the text is read more than a few times. Braces inside JSON strings are text.
"""

import re
from collections import deque
from dataclasses import dataclass
from enum import Enum, auto

DEPTH_MAX = 64
_KEYS_MAX = 50
_SHOWN_MAX = 20
_ENDING_MAX = 8

_SPACE = re.compile(r"[ \t\r\n]*+")
_OPENING = re.compile(r'\{[ \t\r\n]*+["}]')
_STRING = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"')
_STRING_BODY = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+')
_SCALAR = re.compile(r"(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+|true|false|null)(?![\w.+-])")
_CUT_OFF = re.compile(r"[-+.\w\\]*+")
_UNQUOTED = re.compile(r"\{[ \t\r\n]*+(?:'[^'\n]{0,60}'|[A-Za-z_]\w{0,60}+)[ \t\r\n]*+:")
_FENCE = re.compile(r"^[ \t]*+(`{3,}+|~{3,}+)[ \t]*+(\w*+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class JsonObject:
    """A complete object: `text[start:end]`. `fenced` if it stands in a fence that is marked as json."""

    start: int
    end: int
    fenced: bool = False


@dataclass(frozen=True, slots=True)
class BrokenObject:
    """An object that was begun and is not JSON: `problem` says what was found at `at` instead of what.

    `truncated` if the text ended first. `keys` are its own keys as far as it was read.
    """

    start: int
    at: int
    problem: str
    truncated: bool = False
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scan:
    """All complete objects and all broken ones, each in their order."""

    objects: tuple[JsonObject, ...] = ()
    broken: tuple[BrokenObject, ...] = ()


class _Want(Enum):
    """What the grammar allows next; each value is in words for a person."""

    FIRST_KEY = 'a key in double quotes, or "}"'
    KEY = "a key in double quotes (a comma must not stand before a closing bracket)"
    COLON = '":"'
    VALUE = "a value"
    FIRST_VALUE = 'a value, or "]"'
    MORE = '"," or the closing bracket'


class _End(Enum):
    """How the reading of one object ended."""

    COMPLETE = auto()
    WRONG = auto()
    TRUNCATED = auto()


def scan(text: str) -> Scan:
    """Return the objects of a text; total."""
    fences = deque(_json_fences(text))
    objects: list[JsonObject] = []
    broken: list[BrokenObject] = []
    at = 0
    while (opening := _OPENING.search(text, at)) is not None:
        reader = _ObjectReader(text, opening.start())
        end = reader.read()
        if end is _End.COMPLETE:
            while fences and fences[0][1] <= opening.start():
                fences.popleft()
            objects.append(JsonObject(opening.start(), reader.at, bool(fences) and fences[0][0] <= opening.start()))
            at = reader.at
            continue
        if reader.begun or end is _End.TRUNCATED:
            broken.append(reader.broken(end))
        if end is _End.TRUNCATED:
            break
        # No colon yet: it may be prose, and what looked like its first key may hold an object of its own.
        at = max(reader.at if reader.begun else reader.string_at + 1, opening.start() + 1)
    return Scan(tuple(objects), tuple(broken) or _unquoted(text))


def place(text: str, at: int) -> str:
    """Name a position as people do."""
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"


class _ObjectReader:
    """Reads one object. `at` is where it stopped, `begun` whether a first key and its colon were seen."""

    def __init__(self, text: str, start: int) -> None:
        self.text, self.start = text, start
        self.at = start + 1
        self.string_at = start
        self.begun = False
        self.too_deep = False
        self.in_string = False
        self.keys: list[str] = []
        self._open = ["{"]
        self._want = _Want.FIRST_KEY

    def read(self) -> _End:
        """Read to the object's own end, or to what cannot stand there."""
        text, size = self.text, len(self.text)
        while self._open:
            space = _SPACE.match(text, self.at)
            self.at = space.end() if space else self.at
            if self.at >= size:
                return _End.TRUNCATED
            mark = text[self.at]
            taken = self._string() if mark == '"' else self._mark(mark) or self._scalar()
            if not taken:
                return self._why()
        return _End.COMPLETE

    def broken(self, end: _End) -> BrokenObject:
        """Return what to say of an object that did not end well."""
        if end is _End.TRUNCATED:
            problem = "the text ends before the closing brackets of the object"
        elif self.too_deep:
            problem = f"brackets are nested more than {DEPTH_MAX} deep"
        else:
            here = repr(self.text[self.at : self.at + _SHOWN_MAX])
            problem = f"expected {self._want.value}, found {here}"
            if self.in_string:
                problem = f"a string must not hold a line break or an unknown escape, found {here} (write \\n, \\\\)"
        return BrokenObject(self.start, self.at, problem, truncated=end is _End.TRUNCATED, keys=tuple(self.keys))

    def _why(self) -> _End:
        """Tell a text that ends too early from one that is wrong."""
        rest = self.text[self.at :] if len(self.text) - self.at <= _ENDING_MAX else None
        # A number or word that the text cuts short ("tru", "-") is no wrong one.
        if rest is not None and rest[0] not in '"{}[]:,' and _CUT_OFF.fullmatch(rest):
            return _End.TRUNCATED
        if self.text[self.at] != '"' or self._want in (_Want.COLON, _Want.MORE):
            return _End.WRONG
        body = _STRING_BODY.match(self.text, self.at)
        self.string_at = self.at
        self.in_string = True
        self.at = body.end() if body else self.at
        rest = self.text[self.at : self.at + _ENDING_MAX]
        cut = not rest or (len(rest) < _ENDING_MAX - 2 and rest[0] == "\\" and _CUT_OFF.fullmatch(rest) is not None)
        return _End.TRUNCATED if cut else _End.WRONG

    def _string(self) -> bool:
        is_key = self._want in (_Want.FIRST_KEY, _Want.KEY)
        if not is_key and self._want not in (_Want.VALUE, _Want.FIRST_VALUE):
            return False
        string = _STRING.match(self.text, self.at)
        if string is None:
            return False
        self.string_at = self.at
        if is_key and len(self._open) == 1 and len(self.keys) < _KEYS_MAX:
            self.keys.append(string[0][1:-1])
        self._want = _Want.COLON if is_key else _Want.MORE
        self.at = string.end()
        return True

    def _scalar(self) -> bool:
        scalar = _SCALAR.match(self.text, self.at)
        if scalar is None or self._want not in (_Want.VALUE, _Want.FIRST_VALUE):
            return False
        self._want = _Want.MORE
        self.at = scalar.end()
        return True

    def _mark(self, mark: str) -> bool:
        want, in_object = self._want, self._open[-1] == "{"
        if mark == ":" and want is _Want.COLON:
            self._want = _Want.VALUE
            self.begun = True
        elif mark == "," and want is _Want.MORE:
            self._want = _Want.KEY if in_object else _Want.VALUE
        elif mark in "{[" and want in (_Want.VALUE, _Want.FIRST_VALUE):
            if len(self._open) >= DEPTH_MAX:
                self.too_deep = True
                return False
            self._open.append(mark)
            self._want = _Want.FIRST_KEY if mark == "{" else _Want.FIRST_VALUE
        elif mark == ("}" if in_object else "]") and want in (_Want.MORE, _Want.FIRST_KEY, _Want.FIRST_VALUE):
            self._open.pop()
            self._want = _Want.MORE
        else:
            return False
        self.at += 1
        return True


def _json_fences(text: str) -> list[tuple[int, int]]:
    """Return where the contents of ```json fences begin and end; one that is never closed goes to the end."""
    spans: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        if opened is None:
            opened = line
        elif line[1].startswith(opened[1]) and not line[2]:
            if opened[2].lower() == "json":
                spans.append((opened.end(), line.start()))
            opened = None
    if opened is not None and opened[2].lower() == "json":
        spans.append((opened.end(), len(text)))
    return spans


def _unquoted(text: str) -> tuple[BrokenObject, ...]:
    """Return what looks like an object in the notation of Python or JavaScript."""
    last = next(iter(deque(_UNQUOTED.finditer(text), maxlen=1)), None)
    return (BrokenObject(last.start(), last.start(), "keys and strings must stand in double quotes"),) if last else ()
