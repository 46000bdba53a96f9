"""The requests that noface makes, as a list: nothing else is sent, whatever a path was made of. Pure.

Names that others chose (labels, logins, branches) become parts of paths, and the library that sends a request resolves
"..", also if it is quoted as %2E%2E. So each part is quoted whole, a part of dots alone is refused, and a path must
be one of these, with the verb that stands before it. `#` is a number, `*` one part of any other name.
"""

import re
from collections.abc import Iterable
from urllib.parse import quote, unquote

REPOSITORY = re.compile(r"(/repos/[^/]++/[^/]++|/repositories/\d++)(?:/|\Z)", re.IGNORECASE)
_DOTS = ("", ".", "..")
_OF_REPOSITORY = """
    GET
    GET POST issues
    GET PATCH issues/#
    GET POST issues/#/comments
    GET issues/#/events
    GET issues/#/sub_issues
    GET issues/#/dependencies/blocked_by
    POST issues/#/labels
    DELETE issues/#/labels/*
    GET PATCH issues/comments/#
    POST issues/comments/#/reactions
    POST labels
    GET labels/*
    GET milestones
    GET rules/branches/*
    GET rulesets/#
    GET collaborators/*/permission
    GET POST pulls
    GET PATCH pulls/#
    GET pulls/#/reviews
    GET pulls/#/comments
    POST pulls/#/comments/#/replies
    POST pulls/comments/#/reactions
    POST pulls/#/requested_reviewers
    GET commits/*/check-runs
    GET commits/*/status
    GET check-runs/#
    GET check-runs/#/annotations
    GET actions/runs
    GET actions/runs/#/jobs
    GET actions/jobs/#/logs
"""
_ELSEWHERE = """
    GET user
    POST graphql
"""


def _routes(table: str) -> frozenset[tuple[str, tuple[str, ...]]]:
    lines = [line.split() for line in table.strip("\n").split("\n")]
    rows = [
        ([word for word in words if word.isupper()], [word for word in words if not word.isupper()]) for words in lines
    ]
    return frozenset((verb, tuple("".join(path).split("/"))) for verbs, path in rows for verb in verbs)


_REPOSITORY_ROUTES, _OTHER_ROUTES = _routes(_OF_REPOSITORY), _routes(_ELSEWHERE)


def quoted(parts: Iterable[object]) -> str:
    """Return parts as a path, each quoted whole. Raises ValueError for one that a path cannot name."""
    names = [str(part) for part in parts]
    if wrong := next((name for name in names if name in _DOTS), None) or ("" in names and "an empty name"):
        raise ValueError(wrong)
    return "/".join(quote(name, safe="", errors="replace") for name in names)


def allowed(verb: str, path: str) -> bool:
    """True if noface makes such a request; `path` is below the API's root, without its query."""
    repository = REPOSITORY.match(path)
    rest = path[repository.end(1) :] if repository is not None else path
    parts = tuple(rest.removeprefix("/").split("/"))
    if parts != ("",) and any(unquote(part) in _DOTS for part in parts):
        return False
    if repository is not None and any(unquote(part) in _DOTS for part in repository[1].split("/")[1:]):
        return False
    routes = _REPOSITORY_ROUTES if repository is not None else _OTHER_ROUTES
    return any(each == verb and _fits(route, parts) for each, route in routes)


def _fits(route: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    if len(route) != len(parts):
        return False
    return all(
        (part.isascii() and part.isdecimal() if name == "#" else name in ("*", part))
        for name, part in zip(route, parts, strict=True)
    )
