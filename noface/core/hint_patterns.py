"""Finds what a message has in common with the same failure elsewhere: patterns, from general to exact (N16).

Numbers, paths, ids and what stands in quotes change from one failure to the next; the words between them stay. So
the candidates for a message are, in this order:

1. its longest pieces without anything that changes, as literal text;
2. the whole message as a regular expression, in which all that changes is left open;
3. the whole message with what is the same in all the messages given: literal text if that is everything.

Candidates that say little are left out of the first two: `AssertionError:`, or `is not there`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MESSAGE_CHARS_MAX = 400
_PIECES_MAX = 3
_WORDS_MIN, _TELLING_MIN, _LETTERS_MIN = 3, 2, 10
_EXACT_LETTERS_MIN = 3

_COMMON = re.compile(
    r"an?|and|are|as|at|be|but|by|can|cannot|could|did|do|does|errors?|expected|failed|failures?|for|from|got|had|has"
    r"|have|in|into|is|it|its|line|no|not|of|on|one|or|so|such|that|the|then|there|this|to|was|were|when|which|with"
    r"|would|you|your",
    re.IGNORECASE,
)
"""Words that stand in any message, so that having them in common says nothing."""

_CHANGES = (
    ("quoted", r"""(?<!\w)(?:'[^'\n]{0,200}'|"[^"\n]{0,200}"|`[^`\n]{0,200}`|‘[^’\n]{0,200}’)(?!\w)"""),
    ("path", r"(?<![\w.])[\w.~-]{0,80}(?:/[\w.@+~-]{1,80}){1,20}/?"),
    ("id", r"\b0x[0-9a-fA-F]{1,32}\b|\b(?=[a-f]{0,64}\d)[0-9a-f]{8,64}\b"),
    ("number", r"\d{1,40}(?:[.,:]\d{1,40}){0,20}"),
    ("odd", r"[^ -~\w]{1,100}"),
)
_OPEN = {
    "path": r"[^\s:]+",
    "id": r"\w+",
    "number": r"[\d.,:]+",
    "odd": r".+?",
}
_SPECIAL = re.compile(r"([\\.^$*+?{}\[\]|()])")
_CHANGING = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _CHANGES))


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something to look for: literal text, or a regular expression."""

    text: str
    is_regex: bool = False


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of a message; `kind` is "" where it stays, else why it changes."""

    kind: str
    text: str


def candidates(messages: tuple[str, ...]) -> Iterator[Candidate]:
    """Yield the patterns for the first message, the most general first; the others tell what changes."""
    line = first_line(messages[0]) if messages else ""
    parts = _parts(line)
    staying = [part.text.strip() for part in parts if not part.kind]
    pieces = sorted((piece for piece in staying if _telling(piece)), key=len, reverse=True)
    yield from (Candidate(piece) for piece in pieces[:_PIECES_MAX])
    if len(parts) > 1 and _telling(" ".join(staying)):
        yield Candidate(_expression(parts), is_regex=True)
    exact = _what_differs(parts, [_parts(first_line(message)) for message in messages[1:]])
    if _letters(line) < _EXACT_LETTERS_MIN:
        return
    if all(not part.kind for part in exact):
        yield Candidate(line)
    elif len(parts) > 1:
        yield Candidate(_expression(exact), is_regex=True)


def is_common(word: str) -> bool:
    """Tell whether a word says nothing by itself."""
    return _COMMON.fullmatch(word) is not None


def first_line(message: str) -> str:
    """Return the first line of a message that has text, up to a limit."""
    line = next((line for line in message[: MESSAGE_CHARS_MAX * 4].splitlines() if line.strip()), "")
    return line.strip()[:MESSAGE_CHARS_MAX].strip()


def _parts(line: str) -> list[_Part]:
    parts, at = [], 0
    for found in _CHANGING.finditer(line):
        if found.start() > at:
            parts.append(_Part("", line[at : found.start()]))
        parts.append(_Part(str(found.lastgroup), found[0]))
        at = found.end()
    return parts + ([_Part("", line[at:])] if at < len(line) else [])


def _what_differs(parts: list[_Part], others: list[list[_Part]]) -> list[_Part]:
    """Return `parts` with those as staying that are the same in every other message of the same build."""
    alike = [other for other in others if [p.kind for p in other] == [p.kind for p in parts]]
    return [
        part if part.kind == "odd" or any(other[at].text != part.text for other in alike) else _Part("", part.text)
        for at, part in enumerate(parts)
    ]


def _expression(parts: list[_Part]) -> str:
    return "".join(_open(part) if part.kind else _SPECIAL.sub(r"\\\1", part.text) for part in parts)


def _open(part: _Part) -> str:
    if part.kind == "quoted":
        begin, end = part.text[0], part.text[-1]
        return f"{begin}[^{end}]*{end}"
    return _OPEN[part.kind]


def _telling(text: str) -> bool:
    words = re.findall(r"[^\W\d_]{2,}", text)
    telling = [word for word in words if not is_common(word)]
    return len(words) >= _WORDS_MIN and len(telling) >= _TELLING_MIN and sum(map(len, telling)) >= _LETTERS_MIN


def _letters(text: str) -> int:
    return sum(char.isalpha() for char in text)
