"""Matches the user's regular expressions with a time limit (library `regex`): a catastrophic one is given up."""

from collections import Counter

from noface.core.hints import SEARCHED_CHARS_MAX, Found, Search

_SECONDS_MAX = 0.5
_SLOW_MAX = 3


def search(expression: str, text: str) -> Found:
    """Tell whether `expression` occurs in the first part of `text`, or took too long to say."""
    import regex

    try:
        found = regex.search(expression, text[:SEARCHED_CHARS_MAX], timeout=_SECONDS_MAX)
    except TimeoutError:
        return Found.TOO_SLOW
    return Found.NO if found is None else Found.YES


def patient_search() -> Search:
    """Return a search for looking through many texts: an expression that took too long thrice is not tried again."""
    slow: Counter[str] = Counter()

    def look(expression: str, text: str) -> Found:
        if slow[expression] >= _SLOW_MAX:
            return Found.TOO_SLOW
        found = search(expression, text)
        slow[expression] += found is Found.TOO_SLOW
        return found

    return look
