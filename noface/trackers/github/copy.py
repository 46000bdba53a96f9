"""The copy of GitHub's issues in noface's state: what the backlog is made of, and beside it how far it was read.

`issues.jsonl` holds what the backlog depends on and is replaced only when that changes; `sync.json` holds what only the
next request needs. The first is written before the second: after a kill between them something is read once more.
A copy that cannot be read, or is of other settings, is as good as none, and is fetched anew.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from noface.process.files import read_regular, write_atomic
from noface.trackers.github.fingerprint import ISSUES, SYNC
from noface.trackers.github.issue import RemoteIssue

_VERSION = 1
_BYTES_MAX = 1 << 30
_STORED = tuple(each.name for each in fields(RemoteIssue) if each.name != "updated")


@dataclass(frozen=True, slots=True)
class Taken:
    """A stranger's issue that was given to noface `by` somebody who may, with title and text as they were then.

    `at` is the time by GitHub.
    """

    by: str
    at: str
    title: str
    body: str


@dataclass(slots=True)
class Copy:
    """What is known of the repository's issues.

    `of` says what was fetched: API, repository and label. `issues` are those to work on, and, without their
    text, those on which one depends; noface's own labels are left out. `missing` are numbers that name no issue.
    `writers` says of logins, in lower case, whether they may write to the repository; `blind`: GitHub does not tell
    that to the token. `unheard` are people whose comments on an issue do not count. `gone` says what became of issues
    that were there. `login` is noface's own, if issues may be assigned to it. `taken` are strangers' issues that are
    worked on all the same, `refused` says why others are not that somebody meant to give to noface.
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

    `cursor` is the newest change that was read, `complete` the time from which changes were listed to the last page;
    `listed` is when all issues were last listed, on `pages` pages. `asked` tells when a login's permission was read.
    `updated` is each issue's last change, `heard` the one up to which its comments were read; `own` are noface's labels
    on it, `said` the digest of its comment. `related` tells for which state of it sub-issues and blockers were listed.
    `triggers` tells for which state of it was looked who gave it to noface. `labels` are those of noface's that the
    repository has. `clone` tells this clone's comments from those of others.
    """

    cursor: str = ""
    listed: float = 0.0
    pages: int = 0
    asked: dict[str, float] = field(default_factory=dict)
    updated: dict[int, str] = field(default_factory=dict)
    heard: dict[int, str] = field(default_factory=dict)
    own: dict[int, tuple[str, ...]] = field(default_factory=dict)
    said: dict[int, str] = field(default_factory=dict)
    related: dict[int, str] = field(default_factory=dict)
    complete: str = ""
    labels: tuple[str, ...] = ()
    clone: str = ""
    triggers: dict[int, str] = field(default_factory=dict)


def load_copy(folder: Path) -> Copy | None:
    """Return the stored copy; None if there is none that can be read."""
    try:
        lines = (read_regular(folder / ISSUES, _BYTES_MAX) or b"").split(b"\n")
        head = json.loads(lines[0])
        if head.pop("version") != _VERSION:
            return None
        issues = [_issue(json.loads(line)) for line in lines[1:] if line]
        return Copy(
            tuple(head["of"]),
            {issue.number: issue for issue in issues},
            set(head["missing"]),
            dict(head["writers"]),
            bool(head["blind"]),
            {int(number): tuple(logins) for number, logins in head["unheard"].items()},
            {int(number): str(why) for number, why in head.get("gone", {}).items()},
            str(head.get("login", "")),
            {int(number): Taken(*map(str, given)) for number, given in head.get("taken", {}).items()},
            {int(number): str(why) for number, why in head.get("refused", {}).items()},
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def load_sync(folder: Path) -> Sync:
    """Return how far the copy was read; nothing if that cannot be told."""
    try:
        stored = json.loads(read_regular(folder / SYNC, _BYTES_MAX) or b"")
        if stored.pop("version") != _VERSION:
            return Sync()
        for name in ("updated", "heard", "said", "related", "triggers"):
            stored[name] = {int(number): str(value) for number, value in stored.get(name, {}).items()}
        stored["own"] = {int(number): tuple(value) for number, value in stored["own"].items()}
        stored["labels"] = tuple(stored["labels"])
        return Sync(**stored)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return Sync()


def save_copy(folder: Path, copy: Copy) -> None:
    """Replace the stored copy. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    head: Mapping[str, Any] = {
        "version": _VERSION,
        "of": copy.of,
        "missing": sorted(copy.missing),
        "writers": copy.writers,
        "blind": copy.blind,
        "unheard": copy.unheard,
        "gone": copy.gone,
        "login": copy.login,
        "taken": {number: list(astuple(taken)) for number, taken in copy.taken.items()},
        "refused": copy.refused,
    }
    rows = ([getattr(issue, name) for name in _STORED] for _, issue in sorted(copy.issues.items()))
    lines = [json.dumps(head), *(json.dumps(row, separators=(",", ":")) for row in rows)]
    write_atomic(folder / ISSUES, "\n".join(lines) + "\n")


def sync_text(sync: Sync) -> str:
    return json.dumps({"version": _VERSION, **asdict(sync)})


def save_sync(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    # Losing it costs requests, and no issue: the last refresh is done again.
    write_atomic(folder / SYNC, text, durable=False)


def same(first: Copy, second: Copy) -> bool:
    """True if two copies make the same backlog, whenever their issues were changed."""
    if replace(first, issues={}) != replace(second, issues={}) or first.issues.keys() != second.issues.keys():
        return False
    return all(_row(first.issues[number]) == _row(second.issues[number]) for number in first.issues)


def _row(issue: RemoteIssue) -> RemoteIssue:
    return replace(issue, updated="")


def _issue(row: list[Any]) -> RemoteIssue:
    values = dict(zip(_STORED, row, strict=True))
    lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    return RemoteIssue(**{**values, **lists})
