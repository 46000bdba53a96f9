"""A pull request as the forge shows it, and what noface does to have one. Times are epoch seconds."""

from dataclasses import dataclass
from enum import StrEnum


class CheckState(StrEnum):
    """How a check of a commit stands.

    CANCELLED (ended by someone, or out of date) says nothing of the work; NEEDS_PERSON asks somebody to act on it.
    """

    PENDING = "pending"
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    NEEDS_PERSON = "needs_person"


@dataclass(frozen=True, slots=True)
class Check:
    """A check of a pull request's head. `id` finds its log again (Forge.log), "" if it has none that can be had."""

    name: str
    state: CheckState
    url: str = ""
    id: str = ""
    summary: str = ""


class ReviewState(StrEnum):
    """What a review says of a pull request."""

    APPROVED = "approved"
    CHANGES_REQUESTED = "changes_requested"
    COMMENTED = "commented"
    DISMISSED = "dismissed"


@dataclass(frozen=True, slots=True)
class ReviewComment:
    """A comment on a pull request: on a line of a file, on a file (`line` None), or with `path` "" on the whole."""

    id: int
    author: str
    text: str
    path: str = ""
    line: int | None = None
    url: str = ""
    thread: int = 0
    resolved: bool = False


@dataclass(frozen=True, slots=True)
class PullReview:
    """A review. `trusted`: its author may decide, by write access or by [tracker] authors; no model reads others."""

    id: int
    author: str
    state: ReviewState
    text: str = ""
    commit: str = ""
    at: float = 0.0
    trusted: bool = False
    url: str = ""
    comments: tuple[ReviewComment, ...] = ()


class PullState(StrEnum):
    """Whether a pull request is open, merged, or closed without a merge."""

    OPEN = "open"
    MERGED = "merged"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request as it is now. `mergeable` is None while the forge has not found out.

    `updated_at` changes with reviews and comments, though not with checks; None if the forge does not say. `notes` tell
    what of a draft could not be had when it was opened.
    """

    number: int
    url: str
    state: PullState
    branch: str
    head: str
    base: str = ""
    title: str = ""
    body: str = ""
    merge_commit: str = ""
    closed_by: str = ""
    mergeable: bool | None = None
    draft: bool = False
    updated_at: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PullDraft:
    """What a pull request is to say: from `branch` into `base` (names of branches)."""

    branch: str
    base: str
    title: str
    body: str
    auto_merge: bool = False
