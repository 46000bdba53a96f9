"""What starts now, and why the rest waits. Pure: read aloud, it is the order of the night's work.

Ready issues start by priority (0 first), then in the backlog's order. An issue waits for its dependencies to be
merged, for its retry time, and for its model's provider. A skipped issue counts as merged: noface skips one only
where main holds already what it asks for. An issue that waits for a person holds up only those that depend on it (L9).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from noface.core.model import Issue, IssueState
from noface.core.taxonomy import IssueStatus

_OPEN = (IssueStatus.READY, IssueStatus.WAITING)
_SETTLED = (IssueStatus.MERGED, IssueStatus.SKIPPED)


@dataclass(frozen=True, slots=True)
class Waiting:
    """An issue that cannot start yet. `until` is epoch seconds where a time is known."""

    issue_id: str
    reason: str
    until: float | None = None
    hopeless: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What to start, in order, and what waits. `hopeless` ones wait for a person, not for noface."""

    start: tuple[Issue, ...]
    waiting: tuple[Waiting, ...]


@dataclass(frozen=True, slots=True)
class ModelWait:
    """A model whose provider asked to wait until `until`."""

    until: float
    reason: str


def plan(
    issues: tuple[Issue, ...],
    states: Mapping[str, IssueState],
    next_models: Mapping[str, str],
    waits: Mapping[str, ModelWait],
    slots: int,
    now: float,
) -> Plan:
    """Pick up to `slots` issues to start. `next_models` names the model each issue would run with."""
    known = {issue.id: issue for issue in issues}
    start: list[Issue] = []
    waiting: list[Waiting] = []
    order = sorted(enumerate(issues), key=lambda pair: (pair[1].priority, pair[0]))
    for _, issue in order:
        state = states.get(issue.id, IssueState(issue.id))
        if state.status not in _OPEN:
            continue
        blocker = _obstacle(issue, state, known, states, next_models, waits, now)
        if blocker is not None:
            waiting.append(blocker)
        elif len(start) < slots:
            start.append(issue)
    return Plan(tuple(start), tuple(waiting))


def _obstacle(
    issue: Issue,
    state: IssueState,
    issues: Mapping[str, Issue],
    states: Mapping[str, IssueState],
    next_models: Mapping[str, str],
    waits: Mapping[str, ModelWait],
    now: float,
) -> Waiting | None:
    missing = [d for d in issue.depends_on if d not in states or states[d].status not in _SETTLED]
    if missing:
        shown = ", ".join(missing)
        return Waiting(issue.id, f"waits for {shown} to be merged", hopeless=_stuck(issue, issues, states))
    if state.until is not None and state.until > now:
        return Waiting(issue.id, state.reason or "waits for its retry time", state.until)
    wait = waits.get(next_models.get(issue.id, ""))
    if wait is not None and wait.until > now:
        return Waiting(issue.id, wait.reason, wait.until)
    return None


def _stuck(issue: Issue, issues: Mapping[str, Issue], states: Mapping[str, IssueState]) -> bool:
    """Tell whether anything that `issue` waits for, near or far, waits for a person."""
    seen: set[str] = set()
    pending = list(issue.depends_on)
    while pending:
        dependency = pending.pop()
        status = states[dependency].status if dependency in states else IssueStatus.READY
        if status in (IssueStatus.BLOCKED, IssueStatus.APPROVAL):
            return True
        if status not in _SETTLED and dependency not in seen and dependency in issues:
            pending += issues[dependency].depends_on
        seen.add(dependency)
    return False
