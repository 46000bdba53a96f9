"""What a tracker is: where the issues come from. Modules of this package implement it, data/trackers.py lists them."""

import hashlib
import unicodedata
from collections.abc import Collection, Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from noface.data.trackers import TRACKERS, TrackerSettings
from noface.model.issue import Backlog, Issue
from noface.model.publication import Heard, Notice

if TYPE_CHECKING:
    from noface.forge.github import Forge

ISSUE_BYTES_MAX = 1_048_576 + 65_536
"""The largest body, and room for a title and settings around it: more of a new issue is not even read."""
TITLE_CHARS_MAX = 500
_HASH_CHARS = 16


def content_hash(content: bytes | tuple[object, ...]) -> str:
    """Hash what a person says of the work: the bytes of its file, or its parts."""
    data = content if isinstance(content, bytes) else repr(content).encode("utf-8", "replace")
    return hashlib.sha256(data).hexdigest()[:_HASH_CHARS]


def unwritable(text: str) -> bool:
    """True if a text holds what no text file can: NUL, or half of a surrogate pair."""
    return any("\ud800" <= char <= "\udfff" or char == "\0" for char in text)


def clean_title(text: str) -> str:
    return text.replace("\t", " ").strip()


def title_problem(text: str) -> str | None:
    """Why a cleaned title cannot be used, or None: it must not drive a terminal or forge trailers of commits."""
    if not text:
        return "the title is empty"
    if len(text) > TITLE_CHARS_MAX:
        return f"the title has {len(text)} characters, at most {TITLE_CHARS_MAX} are allowed: put the rest in the body"
    for char in text:
        if unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}:
            name = "a line end" if char in "\r\n\x85\u2028\u2029" else f"the control character {char!a}"
            return f"the title must be one line of printable text, it holds {name}"
    return None


class IssueTracker(Protocol):
    """A source of issues. noface reads it again whenever `fingerprint` changes and never edits what it holds."""

    @property
    def protected(self) -> tuple[str, ...]:
        """Globs of the repository's files that hold issues: a worker's edits there are undone."""

    def fingerprint(self) -> str:
        """Return a cheap mark that differs whenever the backlog may have changed; never raises, parses nothing."""

    def backlog(self, merged: Collection[str] = ()) -> Backlog:
        """Return all issues as they are now, checked by `model.backlog.check`; `merged` are the ids that have landed.

        One broken issue never hides the others. Raises UsageError if the source as a whole cannot be read.
        """

    def add(self, draft: Issue, merged: Collection[str] = ()) -> Issue:
        """Make a new issue of a draft, whose id is "" still, and return it as `backlog` will show it.

        Its number is above all in use and in `merged`. Raises UsageError for a faulty draft, NofaceError if nothing is
        written.
        """


@runtime_checkable
class SingleReader(Protocol):
    """A tracker that can read one issue without the others."""

    def read(self, source: str) -> Issue | None:
        """Return what is written there, whatever others say; None if it is gone or faulty by itself."""


@runtime_checkable
class RemoteTracker(IssueTracker, Protocol):
    """A tracker whose issues lie on another machine. `backlog` answers from a copy in noface's state.

    These methods wait for the network, one at a time, and can be repeated after a kill. They raise ForgeError.
    """

    def use(self, forge: "Forge") -> None:
        """Talk to GitHub by what a run has opened, so that all of it keeps one budget; others need not listen."""

    def refresh(self) -> bool:
        """Bring the copy up to date, by what has changed since; tell whether it has."""

    def say(self, notice: Notice, comment: int | None = None) -> int | None:
        """Make labels, the one comment, and open or closed, what `notice` says; return the comment's id."""

    def hear(self, issue_ids: Collection[str], after: Mapping[str, int]) -> tuple[Heard, ...]:
        """Return what allowed authors have written about issues, later than the id in `after`, oldest first."""


def open_tracker(settings: TrackerSettings, root: Path, state: Path) -> IssueTracker:
    tracker: IssueTracker = resolve_name(TRACKERS[settings.kind].tracker)(settings, root, state)
    return tracker
