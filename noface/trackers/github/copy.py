"""The copy of GitHub's issues in noface's state: what the backlog is made of, and beside it how far it was read.

The first is written before the second: after a kill between them something is read once more. A copy that cannot be
read, or is of other settings, is fetched anew.
"""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from noface.model.codec import decode, encode
from noface.process.files import read_regular, write_atomic
from noface.trackers.github.fingerprint import ISSUES, SYNC
from noface.trackers.github.issue import RemoteIssue

_VERSION = 2
_BYTES_MAX = 1 << 30
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Taken:
    """A stranger's issue that was given to noface `by` somebody who may, with its text as it was `at` that time."""

    by: str
    at: str
    title: str
    body: str


@dataclass(slots=True)
class Copy:
    """What is known of the repository's issues. `of` says what was fetched: API, repository and label.

    `issues` are those to work on, and, without their text, those on which one depends. `missing` are numbers that name
    no issue. `writers` says of logins, in lower case, whether they may write; `blind`: GitHub does not tell that to the
    token. `unheard` are people whose comments on an issue do not count. `gone` says what became of issues that were
    there. `taken` are strangers' issues that are worked on all the same, `refused` says why others are not that were
    meant to be.
    """

    of: tuple[str, ...] = ()
    issues: dict[int, RemoteIssue] = field(default_factory=dict)
    missing: set[int] = field(default_factory=set)
    writers: dict[str, bool] = field(default_factory=dict)
    blind: bool = False
    unheard: dict[int, tuple[str, ...]] = field(default_factory=dict)
    gone: dict[int, str] = field(default_factory=dict)
    login: str = ""
    taken: dict[int, Taken] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Sync:
    """How far GitHub was read, and what noface did there. Times of GitHub are its own texts, others epoch seconds.

    `cursor` is the newest change that was read. `updated` is each issue's last change, `heard` the one up to which its
    comments were read, `related` and `triggers` the ones for which its relations, and who gave it, were looked up.
    `own` are noface's labels on it, `said` the digest of its comment. `clone` tells this clone's comments from those of
    others.
    """

    cursor: str = ""
    listed: float = 0.0
    asked: dict[str, float] = field(default_factory=dict)
    updated: dict[int, str] = field(default_factory=dict)
    heard: dict[int, str] = field(default_factory=dict)
    own: dict[int, tuple[str, ...]] = field(default_factory=dict)
    said: dict[int, str] = field(default_factory=dict)
    related: dict[int, str] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    clone: str = ""
    triggers: dict[int, str] = field(default_factory=dict)


def load_copy(folder: Path) -> Copy | None:
    return _loaded(Copy, folder / ISSUES)


def load_sync(folder: Path) -> Sync:
    return _loaded(Sync, folder / SYNC) or Sync()


def _loaded(kind: type[_T], path: Path) -> _T | None:
    try:
        stored = json.loads(read_regular(path, _BYTES_MAX) or b"")
        return decode(kind, stored) if stored.pop("version") == _VERSION else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def text_of(known: Copy | Sync) -> str:
    """Write down what is known; of the copy without the times of changes, which make no other backlog."""
    if isinstance(known, Copy):
        known = replace(known, issues={n: replace(each, updated="") for n, each in sorted(known.issues.items())})
    return json.dumps({"version": _VERSION, **encode(known)}, separators=(",", ":"))


def save_copy(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / ISSUES, text)
