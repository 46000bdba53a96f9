"""Searches texts for what a hint's regular expression says, within a limit of time."""

from collections import Counter

from noface.knowledge.hints import SEARCHED_CHARS_MAX, Found, Search

_SECONDS_MAX = 0.5
_SLOW_MAX = 3


def search(expression: str, text: str) -> Found:
    """True if `expression` occurs in the first part of `text`, or takes too long."""
    import regex

    try:
        match = regex.search(expression, text[:SEARCHED_CHARS_MAX], timeout=_SECONDS_MAX)
    except TimeoutError:
        return Found.TOO_SLOW
    return Found.NO if match is None else Found.YES


def patient_search() -> Search:
    """Return a search for many texts: it does not try an expression again that took too long three times."""
    slow: Counter[str] = Counter()

    def search_patiently(expression: str, text: str) -> Found:
        if slow[expression] >= _SLOW_MAX:
            return Found.TOO_SLOW
        answer = search(expression, text)
        slow[expression] += answer is Found.TOO_SLOW
        return answer

    return search_patiently
