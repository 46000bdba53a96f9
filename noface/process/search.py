"""Searches texts for what a hint's regular expression says, within a limit of time."""

from noface.knowledge.hints import SEARCHED_CHARS_MAX, Found

_SECONDS_MAX = 0.5


def search(expression: str, text: str) -> Found:
    """True if `expression` occurs in the first part of `text`, or takes too long."""
    import regex

    try:
        match = regex.search(expression, text[:SEARCHED_CHARS_MAX], timeout=_SECONDS_MAX)
    except TimeoutError:
        return Found.TOO_SLOW
    return Found.NO if match is None else Found.YES
