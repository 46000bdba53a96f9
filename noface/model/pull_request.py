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
    """A check of a pull request's head: a job of a workflow, a check run of an app, or a commit status.

    `id` finds its log again (Forge.log), "" if it has none that can be had. `summary` is what it says itself.
    """

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
    """A comment on a pull request: on a line of a file, or with `path` "" on the whole. `line` is None for a file.

    `thread` is the first comment of its thread; `resolved`: people are done with that.
    """

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
    """A review of a pull request. `commit` is the head it was given for.

    `trusted`: its author may decide, by write access or by [tracker] authors. Others' words never reach a model.
    """

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
    """A pull request as it is now. `head` and `base` are commits, `branch` the name of the branch it comes from.

    `merge_commit` is the commit of the base branch that merged it; `closed_by` and `closed_at` who closed it, and when.
    `mergeable` is None while the forge has not found out. `updated_at` changes with reviews and comments, though not
    with checks: while it is the same, no review need be asked for; None if the forge does not say.
    `notes` tell a person what of a draft could not be had when it was opened, such as a reviewer who is nobody.
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
    closed_at: float | None = None
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
