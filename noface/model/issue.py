"""An issue, the backlog, and what noface remembers of an issue between ticks. Times are epoch seconds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from noface.model.listed import IssueFault
from noface.model.taxonomy import IssueStatus

DEFAULT_PRIORITY = 2


@dataclass(frozen=True, slots=True)
class Issue:
    """A piece of work. `source` names where a person edits it; `content_hash` changes when they do.

    `tier` is the lowest that works on it. `recheck` are commands of other issues that must pass again (K5).
    `may_change` are globs of protected files that it may change; only an issue file sets it. `rest`: it is what no
    other part does.
    """

    id: Annotated[str, "Its id."]
    title: Annotated[str, "Its title."]
    body: Annotated[str, "What is asked for, in Markdown."] = ""
    priority: Annotated[int, "0 is most urgent."] = DEFAULT_PRIORITY
    labels: Annotated[tuple[str, ...], "Its labels."] = ()
    depends_on: Annotated[tuple[str, ...], "Ids of issues that had to be merged first."] = ()
    paths: Annotated[tuple[str, ...], "Paths and globs: nothing else may be changed. Empty: no such limit."] = ()
    accept: Annotated[tuple[str, ...], "Commands that show that it is done: red on main before, green afterwards."] = ()
    model: Annotated[str | None, "The entry of [models] that it is for; null where any may do it."] = None
    tier: int | None = None
    max_attempts: Annotated[int | None, "How many attempts it gets; null where the policy says it."] = None
    no_escalate: bool = False
    source: Annotated[str, "Where a person edits it."] = ""
    content_hash: str = ""
    parent: str | None = None
    depth: int = 0
    recheck: tuple[str, ...] = ()
    may_change: tuple[str, ...] = ()
    accept_timeout_s: float | None = None
    rest: bool = False
    candidates: Annotated[int | None, "How many attempts are made at once; null where the ladder says it."] = None


def joined(issues: Sequence[Issue]) -> Issue:
    """Return the issue whose work is that of all of these together: what one of them lets change, may change."""
    whole, *others = issues
    for each in others:
        whole = replace(
            whole,
            body=f"{whole.body}\n\n{each.title}\n\n{each.body}",
            paths=(*whole.paths, *each.paths) if whole.paths and each.paths else (),
            accept=(*whole.accept, *each.accept),
            may_change=(*whole.may_change, *each.may_change),
            parent=whole.parent or each.parent,
        )
    return whole


@dataclass(frozen=True, slots=True)
class Backlog:
    """What the tracker holds: sound issues, faulty ones, and what became of those that it held, if it can tell."""

    issues: tuple[Issue, ...] = ()
    faults: tuple[IssueFault, ...] = ()
    warnings: tuple[IssueFault, ...] = ()
    gone: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IssueState:
    """What noface remembers of an issue between ticks. `needs` are issues that the work turned out to depend on.

    `satisfied`: skipped because main holds already what it asks for. `wanted_model` and `wanted_attempts` are what a
    person chose at unblocking.
    """

    id: str
    status: IssueStatus = IssueStatus.READY
    reason: str = ""
    until: float | None = None
    epoch: int = 0
    note: str = ""
    content_hash: str = ""
    satisfied: bool = False
    wanted_model: str | None = None
    wanted_attempts: int | None = None
    granted_paths: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    pull_request: int | None = None
    cause: str = ""

    @property
    def done(self) -> bool:
        return self.status is IssueStatus.MERGED or (self.status is IssueStatus.SKIPPED and self.satisfied)
