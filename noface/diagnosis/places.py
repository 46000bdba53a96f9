"""Where a line points: `file:line` in the notations of the tools, and the frame of a trace that matters.

A place counts only where the file is the project's own.
"""

from noface.data import Patterns
from noface.diagnosis.context import Repo
from noface.diagnosis.text import Log

_PLACE = Patterns("place")
_NOTATION = Patterns("notation")

_LINE_MAX = 600


def is_own(path: str, repo: Repo) -> bool:
    """Tell whether a file named in a log belongs to the project rather than to a library or the runtime."""
    if not path or _PLACE["foreign"].search(path):
        return False
    return not repo.known or resolve(path, repo) is not None


def resolve(path: str, repo: Repo) -> str | None:
    """Return the project's path for a file as a log names it, or None where the project has no such file."""
    clean = path.removeprefix("file://").replace("\\", "/").removeprefix("./")
    if not repo.known:
        return clean
    if clean in repo.files:
        return clean
    same = repo.by_name.get(clean.rsplit("/", 1)[-1], ())
    for candidate in same:
        if clean.endswith("/" + candidate) or candidate.endswith("/" + clean):
            return candidate
    if same and ("/" not in clean or ".." in clean or len(same) == 1):
        return same[0]
    return None


def places(line: str, repo: Repo) -> list[str]:
    """Return every `file:line` of the project's own that a line of output names, in the order of the line."""
    if not any(digit in line for digit in "0123456789"):
        return []
    matches: list[tuple[int, str]] = []
    short = line[:_LINE_MAX]
    for notation in _NOTATION.all():
        matches += [
            (match.start(), f"{resolve(match['file'], repo)}:{int(match['line'])}")
            for match in notation.finditer(short)
            if is_own(match["file"], repo)
        ]
    matches.sort(key=lambda pair: pair[0])
    return [place for _, place in matches]


def place_of(file: str, line: str | None, repo: Repo) -> str | None:
    """`file:line` for what a rule's own groups captured; None where the file is not the project's."""
    if not line or not is_own(file, repo):
        return None
    return f"{resolve(file, repo)}:{int(line)}"


UP_MAX = 80
DOWN_MAX = 60


def place_above(log: Log, number: int, repo: Repo, limit: int = UP_MAX) -> str | None:
    """Return the nearest own `file:line` above a line: Python prints the innermost frame last."""
    for at in range(number - 1, max(log.stream_start(number), number - limit) - 1, -1):
        own = places(log.get(at), repo)
        if own:
            return own[-1]
    return None


def place_below(log: Log, number: int, repo: Repo, limit: int = DOWN_MAX, blanks: int = 2) -> str | None:
    """Return the nearest own `file:line` below a line: most runtimes print the innermost frame first."""
    empty = 0
    for at in range(number + 1, min(log.stream_end(number), number + limit)):
        line = log.get(at)
        empty = empty + 1 if not line.strip() else 0
        if empty > blanks:
            return None
        own = places(line, repo)
        if own:
            return own[0]
    return None


def place_on(log: Log, number: int, repo: Repo) -> str | None:
    """Return the first own `file:line` that a line itself names."""
    own = places(log.get(number), repo)
    return own[0] if own else None


def place_near(log: Log, number: int, repo: Repo) -> str | None:
    """On the line, else below it, else shortly above it."""
    return (
        place_on(log, number, repo)
        or place_below(log, number, repo, limit=30, blanks=1)
        or place_above(log, number, repo, limit=6)
    )
