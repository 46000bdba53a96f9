"""Finds the JSON objects in a model's text, in linear time, whatever the text is.

An object begins at a `{` that a key in double quotes or a `}` follows, and it counts if Python's decoder reads it up to
its own `}`; objects inside others are no objects of their own. If the decoder stops, the search goes on behind that
place, so that no part of the text is read more than a few times.
"""

import json
import re
from collections import deque
from dataclasses import dataclass

DEPTH_MAX = 64
_KEYS_MAX = 50
_SHOWN_MAX = 20
_ENDING_MAX = 6
_DIGITS_MAX = 1_000
_WINDOW, _HEAD = 4_000, 300
_TOO_DEEP = f"brackets are nested more than {DEPTH_MAX} deep"
_RECURSION = 900
"""So many brackets at least stood in what Python's decoder found too deep."""

_OPENING = re.compile(r'\{[ \t\r\n]*+["}]')
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}\[\]:]', re.DOTALL)
_END = re.compile(r"[ \t\r\n]*+\Z")
_CUT_OFF = re.compile(r"[-+.\w\\]*+")
_FENCE = re.compile(r"^[ \t]*+(`{3,}+|~{3,}+)[ \t]*+(\w*+)", re.MULTILINE)


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS_MAX:
        raise ValueError("a number has too many digits")
    return int(digits)


def _constant(name: str) -> None:
    raise ValueError(f"{name} is no value of JSON")


_DECODER = json.JSONDecoder(parse_int=_integer, parse_constant=_constant)


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
    """Name a position as people do."""
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"


def _read(text: str, start: int) -> BrokenObject | int:
    """Return where an object ends, or what is wrong with it."""
    head = text[start : start + _HEAD]
    try:
        end = _end(text, start)
    except RecursionError:
        return BrokenObject(start, start + _RECURSION, _TOO_DEEP, keys=_own(head)[0])
    except json.JSONDecodeError as error:
        return _stopped(text, start, start + error.pos, error.msg)
    except ValueError as error:  # a number that JSON or Python does not have: where the object ends is not known
        return BrokenObject(start, start + 1, str(error), keys=_own(head)[0])
    keys, depth = _own(text[start : start + end])
    return start + end if depth <= DEPTH_MAX else BrokenObject(start, start + end, _TOO_DEEP, keys=keys)


def _end(text: str, start: int) -> int:
    """Return where the decoder ends, in a window of the text if that holds all that it reads.

    An error of the decoder's counts all lines before it, and most objects that are none end soon.
    """
    window = text[start : start + _WINDOW]
    try:
        return _DECODER.raw_decode(window)[1]
    except json.JSONDecodeError as error:
        if len(window) < _WINDOW or (
            error.pos < len(window) - _ENDING_MAX and not error.msg.startswith("Unterminated")
        ):
            raise
    return _DECODER.raw_decode(text[start:])[1]


def _stopped(text: str, start: int, at: int, message: str) -> BrokenObject:
    keys, _ = _own(text[start:at])
    rest = text[at : at + _ENDING_MAX + 1]
    # A number, a word or an escape that the text cuts short ("tru", "-", "\u00") is no wrong one.
    cut = len(rest) <= _ENDING_MAX and _CUT_OFF.fullmatch(rest) is not None
    if cut or _END.match(text, at) or message.startswith("Unterminated"):
        ends = "the text ends before the closing brackets of the object"
        return BrokenObject(start, at, ends, truncated=True, keys=keys)
    return BrokenObject(start, at, f"{message.removesuffix(' at')}, found {text[at : at + _SHOWN_MAX]!r}", keys=keys)


def _own(text: str) -> tuple[tuple[str, ...], int]:
    """Return the keys of the outermost object of a text, and how deep brackets are nested in it."""
    depth, deepest, last = 0, 0, ""
    keys: list[str] = []
    for part in _TOKEN.findall(text):
        if part == ":" and depth == 1 and last.startswith('"') and len(keys) < _KEYS_MAX:
            keys.append(last[1:-1])
        depth += (part in "{[") - (part in "}]")
        deepest, last = max(deepest, depth), part
    return tuple(keys), deepest


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
