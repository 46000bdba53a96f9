"""What a text is made of in its language, as Pygments tells: comments, numbers, strings, names. Pure.

Of blank lines in a row a lexer sees one, since some lexers look at each from all before it: no text that somebody else
wrote may hold the process.
"""

import ast
import warnings
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

TEXT_CHARS_MAX = 1_000_000
_LINE_CHARS_MAX = 5_000
_TRIES = 20


def is_by_hand(text: str) -> bool:
    """True if somebody may have written a text by hand: some lexers take very long over a long line."""
    return len(text) <= TEXT_CHARS_MAX and all(len(line) <= _LINE_CHARS_MAX for line in text.split("\n"))


@dataclass(frozen=True, slots=True)
class LexedPiece:
    """A piece of a text within one line: its place there, what it is (a token type of Pygments), what it says.

    `token` is the whole token that it is a line of, `at` where it stands in that.
    """

    start: int
    line: int
    kind: Any
    text: str
    token: str
    at: int

    def is_a(self, *kinds: Any) -> bool:
        """True if it is of one of these kinds."""
        return any(self.kind in kind for kind in kinds)


def parsed(text: str, name: str = "<unknown>") -> ast.Module:
    """Return the syntax tree of Python code, as `ast.parse` does; in several threads at once.

    Up to Python 3.11.7 and 3.12.1 they share a counter (python/cpython#106905): one in another's way tries anew.
    """
    for _ in range(_TRIES):
        with suppress(SystemError):
            return ast.parse(text, name)
    return ast.parse(text, name)


def python_tree(text: str) -> ast.Module | None:
    """Return the syntax tree of Python code, None of what does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the project's escapes, say
            return parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def pieces(path: str, text: str) -> Iterator[LexedPiece]:
    """Yield the pieces of a text that is written by hand, in order; none in a language without a lexer.

    Lines are counted from 1.
    """
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_for_filename(path)
    except ClassNotFound:
        return
    lines = text.split("\n")
    kept = [at for at, line in enumerate(lines) if line.strip() or at == 0 or lines[at - 1].strip()]
    places = [0, *accumulate(len(line) + 1 for line in lines)]
    starts = [0, *accumulate(len(lines[at]) + 1 for at in kept)]
    for begin, kind, token in lexer.get_tokens_unprocessed("\n".join(lines[at] for at in kept)):
        at = 0
        for part in token.split("\n"):
            row = bisect_right(starts, begin + at) - 1
            if part:
                yield LexedPiece(places[kept[row]] + begin + at - starts[row], kept[row] + 1, kind, part, token, at)
            at += len(part) + 1


def replaced(text: str, by: dict[tuple[int, int], str]) -> str:
    """Return a text with other words in these places, each from its start to its end."""
    left = list(text)
    for (start, end), words in by.items():
        left[start:end] = [words, *([""] * (end - start - 1))] if end > start else []
    return "".join(left)
