"""Tests that ask for something else: the values that assertions name are turned into others, in any language. Pure.

A test that passes with them looks at nothing: whoever judges must be able to turn red. What main's tests would see, a
change must let them see: a runner that the product patches, a value that equals everything, or an equality that does
not look, passes whatever is asked for.
"""

import re
from collections.abc import Iterator

from noface.data import pattern
from noface.integrity.tampering import is_code

_CHARS_MAX = 1_000_000
_LINE_CHARS_MAX = 2_000
_LINES_OF_ASSERTION_MAX = 30
_TURNED = {"True": "False", "False": "True", "true": "false", "false": "true"}
_OTHER_ERROR = (
    ((".py",), "FloatingPointError"),
    ((".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx"), "EvalError"),
    ((".java", ".kt", ".kts", ".scala", ".groovy"), "ArrayStoreException"),
    ((".rb",), "FloatDomainError"),
    ((".php",), "UnderflowException"),
)
"""An error that hardly any code raises, in the languages whose assertions name one."""
_ERROR = re.compile(r"[A-Z]\w*(?:Error|Exception)")
_LAST = re.compile(r"(?<!\\)[A-Za-z0-9](?=[^A-Za-z0-9]*$)")
_QUOTES = "\"'`"
_LETTERS, _DIGITS = "qzkwjvxy", "7382"


def turned(path: str, text: str) -> str | None:
    """Return a file of tests whose assertions and tables ask for other values; None if there is nothing to turn.

    Each value becomes one of its own, so that what is equal in a test is not so any more. The names of tests stay.
    """
    if len(text) > _CHARS_MAX:
        return None
    if not is_code(path):
        return _turned_data(text)
    asked, name = _asked(text), pattern("integrity", "tests", "case_name")
    names = tuple(_spans(name, text))
    parts: list[str] = []
    number, at, turn, before = 1, 0, 0, ("", "")
    for kind, value in _tokens(path, text):
        is_name = any(start < at + len(value) and at < end for start, end in names) if kind else False
        key = before[1] == "[" and (before[0][-1:].isalnum() or before[0] in ("]", ")"))
        other = _other(path, kind, value, turn) if kind and number in asked and not is_name and not key else value
        parts.append(other)
        turn += other != value
        number += value.count("\n")
        at += len(value)
        before = (before[1], value) if value.strip().strip(_QUOTES) else before
    now = "".join(parts)
    return now if now != text else None


def _turned_data(text: str) -> str | None:
    """Return data with another last letter or digit in each line, which leaves most forms of it readable."""
    lines = text.split("\n")
    now = [_other("", "text", line, number) for number, line in enumerate(lines)]
    return "\n".join(now) if now != lines else None


def _spans(name: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Yield where the names of tests stand, as places in the text."""
    at = 0
    for line in text.split("\n"):
        if len(line) <= _LINE_CHARS_MAX and (match := name.search(line)) is not None:
            groups = (match.span(number) for number in range(1, match.re.groups + 1) if match[number])
            yield from ((at + start, at + end) for start, end in groups)
        at += len(line) + 1


def _tokens(path: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield what a language's lexer sees, with what it is as far as it can be turned; without a lexer all as one."""
    from pygments.lexers import get_lexer_for_filename
    from pygments.token import Keyword, Name, Number, String, is_token_subtype
    from pygments.util import ClassNotFound

    kinds = ((Number, "number"), (String.Doc, ""), (String.Escape, ""), (String.Affix, ""), (String, "string"))
    try:
        lexer = get_lexer_for_filename(path)
    except ClassNotFound:
        yield "", text
        return
    for _, token, value in lexer.get_tokens_unprocessed(text):
        kind = next((name for of, name in kinds if is_token_subtype(token, of)), "")
        if is_token_subtype(token, Keyword) or is_token_subtype(token, Name):
            kind = "constant" if value in _TURNED else "error" if _ERROR.fullmatch(value) else ""
        yield "number" if value.isdigit() else kind, value


def _other(path: str, kind: str, value: str, turn: int) -> str:
    if kind == "constant":
        return _TURNED[value]
    if kind == "error":
        return next((name for endings, name in _OTHER_ERROR if path.endswith(endings) and name != value), value)
    return _LAST.sub(lambda match: _another(match[0], turn), value, count=1)


def _another(letter: str, turn: int) -> str:
    """Return another letter or digit, a different one for each `turn` of a few."""
    others = _DIGITS if letter.isdigit() else _LETTERS
    return next(each for each in (others[turn % len(others)], others[(turn + 1) % len(others)]) if each != letter)


def _asked(text: str) -> frozenset[int]:
    """Return the numbers of the lines that assert or hold rows of a table, counted from 1."""
    asserts, no, row = (pattern("integrity", "tests", key) for key in ("assertion", "no_assertion", "row"))
    compares = pattern("integrity", "tests", "exact")
    found: set[int] = set()
    until = depth = 0
    for number, line in enumerate(text.split("\n"), 1):
        short = line[:_LINE_CHARS_MAX]
        begins = asserts.search(short) and not no.search(short)
        if begins or number <= until or row.search(short) or compares.search(short):
            found.add(number)
        if begins:
            until = number + _LINES_OF_ASSERTION_MAX
            depth = 0
        if number <= until:
            depth += sum(line.count(c) for c in "([{") - sum(line.count(c) for c in ")]}")
            until = until if depth > 0 else 0
    return frozenset(found)
