"""Chooses the files that a worker is given from the start whose agent knows no others: aider has no tools to look.

These are named by the issue's `paths`, by the last failure or the issue's text, or an earlier attempt has changed them.
"""

from collections.abc import Callable
from typing import NamedTuple

from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.patterns import matches_any
from noface.prompts.context_files import named_exactly

FILES_MAX = 20
PATTERN_FILES_MAX = 12
"""A pattern that means more files than this is not expanded."""


class GivenFiles(NamedTuple):
    """Paths of the project, the most important first: files that the worker may change, and files to read alone."""

    change: tuple[str, ...] = ()
    read: tuple[str, ...] = ()


def given_files(
    issue: Issue,
    failure: Failure | None,
    changed: tuple[str, ...],
    tracked: tuple[str, ...],
    to_read: Callable[[str], bool],
    is_test: Callable[[str], bool],
) -> GivenFiles:
    """Return up to `FILES_MAX` of the `tracked` paths that the work is about."""
    known = set(tracked)
    failed = ""
    if failure is not None:
        failed = "\n".join((failure.location or "", failure.message, *failure.evidence, failure.excerpt))
    own = tuple(path for path in issue.paths if path in known)
    by_issue = named_exactly((issue.title, issue.body), tracked)
    by_failure = named_exactly((failed,), tracked)
    chosen = dict.fromkeys((*own, *by_failure, *by_issue, *(path for path in changed if path in known)))
    for pattern in issue.paths:
        meant = [path for path in tracked if matches_any(path, (pattern,))] if pattern not in known else []
        if len(meant) <= PATTERN_FILES_MAX:
            chosen |= dict.fromkeys(meant)
    of_work = {*own, *by_issue, *changed}
    met = {path for path in by_failure if path not in of_work and is_test(path) and not matches_any(path, issue.paths)}
    first = tuple(chosen)[:FILES_MAX]
    read = tuple(path for path in first if to_read(path) or path in met)
    return GivenFiles(tuple(path for path in first if path not in read), read)
