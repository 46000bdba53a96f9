"""Finds the frame that matters: where in the project's own files an exception came from."""

from noface.core.classify.context import Repo
from noface.core.classify.places import places
from noface.core.classify.text import Log

UP_MAX = 80
DOWN_MAX = 60


def place_above(log: Log, number: int, repo: Repo, limit: int = UP_MAX) -> str | None:
    """Return the nearest own `file:line` above a line: Python prints the innermost frame last."""
    for at in range(number - 1, max(log.stream_start(number), number - limit) - 1, -1):
        found = places(log.get(at), repo)
        if found:
            return found[-1]
    return None


def place_below(log: Log, number: int, repo: Repo, limit: int = DOWN_MAX, blanks: int = 2) -> str | None:
    """Return the nearest own `file:line` below a line: most runtimes print the innermost frame first."""
    empty = 0
    for at in range(number + 1, min(log.stream_end(number), number + limit)):
        line = log.get(at)
        empty = empty + 1 if not line.strip() else 0
        if empty > blanks:
            return None
        found = places(line, repo)
        if found:
            return found[0]
    return None


def place_on(log: Log, number: int, repo: Repo) -> str | None:
    """Return the first own `file:line` that a line itself names."""
    found = places(log.get(number), repo)
    return found[0] if found else None


def place_near(log: Log, number: int, repo: Repo) -> str | None:
    """On the line, else below it, else shortly above it."""
    return (
        place_on(log, number, repo)
        or place_below(log, number, repo, limit=30, blanks=1)
        or place_above(log, number, repo, limit=6)
    )
