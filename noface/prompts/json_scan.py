"""Finds the JSON objects in a model's text, in linear time, whatever the text is.

An object begins at a `{` that a key in double quotes or a `}` follows, and it counts if Python's decoder reads it up to
its own `}`; objects inside others are no objects of their own. If the decoder stops, the search goes on behind that
place, so that no part of the text is read more than a few times.
"""

import json
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

_SHOWN_MAX = 20
_ENDING_MAX = 6
_HEAD = 300
_WINDOW = 4_000
"""So much is decoded first: an error counts all lines before it, and most objects that are none end soon."""
_RECURSION = 900
"""So many brackets at least stood in what Python's decoder found too deep."""

_OPENING = re.compile(r'\{[ \t\r\n]*+["}]')
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}\[\]:]', re.DOTALL)
_END = re.compile(r"[ \t\r\n]*+\Z")
_CUT_OFF = re.compile(r"[-+.\w\\]*+")
_FENCE = re.compile(r"^[ \t]*+(`{3,}+|~{3,}+)[ \t]*+(\w*+)", re.MULTILINE)


def _constant(name: str) -> None:
    raise ValueError(f"{name} is no value of JSON")


_DECODER = json.JSONDecoder(parse_constant=_constant)


@dataclass(frozen=True, slots=True)
class JsonObject:
    """A complete object: `text[start:end]`. `fenced` if it stands in a fence that is marked as json."""

    start: int
    end: int
    fenced: bool = False


@dataclass(frozen=True, slots=True)
class BrokenObject:
    """An object that is not JSON: `problem` was found at `at`, or the text ended; `keys` up to there."""

    start: int
    at: int
    problem: str
    truncated: bool = False
    keys: frozenset[str] = frozenset()


Scan = tuple[tuple[JsonObject, ...], tuple[BrokenObject, ...]]
"""All complete objects and all broken ones, each in their order."""


def scan(text: str) -> Scan:
    """Return the objects of a text; total."""
    fences = deque(_json_fences(text))
    objects: list[JsonObject] = []
    broken: list[BrokenObject] = []
    at = 0
    while (opening := _OPENING.search(text, at)) is not None:
        start = opening.start()
        found = _read(text, start)
        if isinstance(found, BrokenObject):
            if found.keys or found.truncated:
                broken.append(found)
            if found.truncated:
                break
            # No colon yet: it may be prose, and what looked like its first key may hold an object of its own.
            at = max(found.at, start + 1) if found.keys else start + 1
            continue
        while fences and fences[0][1] <= start:
            fences.popleft()
        objects.append(JsonObject(start, found, bool(fences) and fences[0][0] <= start))
        at = found
    return tuple(objects), tuple(broken)


def place(text: str, at: int) -> str:
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"


def _read(text: str, start: int) -> BrokenObject | int:
    try:
        return start + _end(text, start)
    except RecursionError:
        return BrokenObject(
            start, start + _RECURSION, "it is nested too deeply", keys=_keys(text, start, start + _HEAD)
        )
    except json.JSONDecodeError as error:
        at = start + error.pos
        keys = _keys(text, start, at)
        rest = text[at : at + _ENDING_MAX + 1]
        # A number, a word or an escape that the text cuts short ("tru", "-", "\u00") is no wrong one.
        cut = len(rest) <= _ENDING_MAX and _CUT_OFF.fullmatch(rest) is not None
        if cut or _END.match(text, at) or error.msg.startswith("Unterminated"):
            ends = "the text ends before the closing brackets of the object"
            return BrokenObject(start, at, ends, truncated=True, keys=keys)
        return BrokenObject(
            start, at, f"{error.msg.removesuffix(' at')}, found {text[at : at + _SHOWN_MAX]!r}", keys=keys
        )
    except ValueError as error:  # a number that JSON or Python does not have: where the object ends is not known
        return BrokenObject(start, start + 1, str(error).partition(" for ")[0], keys=_keys(text, start, start + _HEAD))


def _end(text: str, start: int) -> int:
    window = text[start : start + _WINDOW]
    try:
        return _DECODER.raw_decode(window)[1]
    except json.JSONDecodeError as error:
        if len(window) < _WINDOW or (error.pos < _WINDOW - _ENDING_MAX and not error.msg.startswith("Unterminated")):
            raise
    return _DECODER.raw_decode(text[start:])[1]


def _keys(text: str, start: int, end: int) -> frozenset[str]:
    keys, depth, last = set[str](), 0, ""
    for part in _TOKEN.findall(text, start, end):
        if part == ":" and depth == 1 and last.startswith('"'):
            keys.add(last[1:-1])
        depth += (part in "{[") - (part in "}]")
        last = part
    return frozenset(keys)


def _json_fences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the contents of ```json fences begin and end; one that is never closed goes to the end."""
    opened = None
    for line in (*_FENCE.finditer(text), None):
        if opened is not None and (line is None or (line[1].startswith(opened[1]) and not line[2])):
            if opened[2].lower() == "json":
                yield opened.end(), line.start() if line else len(text)
            opened = None
        elif opened is None:
            opened = line
