"""Gives an agent that finds no files by itself those that the work is about, as they are in the commit it begins with.

The project's instructions and what the agent's settings of the project name (`read` in .aider.conf.yml) come first.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from noface.attempt.isolation import home_of
from noface.attempt.protected_files import AIDER_SETTINGS, named_to_read, read_by_aider
from noface.engine.context import RunContext
from noface.git.objects import ObjectReader
from noface.integrity.tampering import is_test_file
from noface.model.access import Settings
from noface.model.failure import Failure
from noface.model.history import History
from noface.model.issue import Issue
from noface.model.patterns import matches_any
from noface.model.protection import Protection
from noface.model.worker_run import ModelSpec
from noface.process.files import read_regular
from noface.prompts.context_files import named_exactly

FILES_MAX = 20
PATTERN_FILES_MAX = 12
"""A pattern that means more files than this is not expanded."""


GivenFiles = tuple[tuple[str, ...], tuple[str, ...]]
"""Paths of the project, the most important first: files that the worker may change, and files to read alone."""


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
    return tuple(path for path in first if path not in read), read


BYTES_MAX = 120_000
"""Of all files together, about 30,000 tokens."""
_GONE_BY_MAX = 10
_SETTINGS_BYTES_MAX = 64 * 1024


@dataclass(slots=True)
class _Room:
    """What may still be given, in bytes, of the files with these object ids."""

    entries: dict[str, tuple[str, str]]
    blobs: ObjectReader
    left: int = BYTES_MAX

    def taken(self, paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(path for path in paths if self._takes(path))

    def _takes(self, path: str) -> bool:
        mode, oid = self.entries.get(path, ("", ""))
        data = self.blobs.read(oid, self.left) if mode.startswith("100") else None
        if data is None or b"\0" in data:
            return False
        self.left -= len(data)
        return True


def files_given(
    context: RunContext,
    history: History,
    model: ModelSpec,
    commit: str,
    protection: Protection,
    changed: tuple[str, ...],
) -> GivenFiles:
    """Return the files that a run of the model is given that begins with a commit.

    `changed` are the paths that the work so far has changed. Where the person's own settings act, what these name to be
    read is among them, as it stands there.
    """
    program = context.env.agents[model.agent]
    plumbing, last = context.env.plumbing, history.current[-1] if history.current else None
    issues = context.tracker.protected
    paths = tuple(path for path in plumbing.paths(commit) if not matches_any(path, issues))
    to_change, to_read = given_files(
        history.issue, last.failure if last is not None else None, changed, paths, protection.covers, is_test_file
    )
    gone_by = tuple(dict.fromkeys((*program.instructions, *read_by_aider(plumbing, commit))))[:_GONE_BY_MAX]
    persons = _persons() if model.settings is Settings.USER else ()
    entries = plumbing.entries(commit, (*gone_by, *to_change, *to_read))
    with plumbing.blobs() as blobs:
        room = _Room(entries, blobs)
        own = room.taken(gone_by)
        change = room.taken(path for path in to_change if path not in own)
        return change, (*own, *persons, *room.taken(path for path in to_read if path not in own))


def _persons() -> tuple[str, ...]:
    settings = read_regular(Path(home_of(dict(os.environ)), AIDER_SETTINGS), _SETTINGS_BYTES_MAX) or b""
    return tuple(name for name in named_to_read(settings.decode("utf-8", "replace")) if name)[:_GONE_BY_MAX]
