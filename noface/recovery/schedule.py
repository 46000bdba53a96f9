"""What starts now, and why the rest waits. Pure: read aloud, it is the order in which a run works.

Ready issues start by priority (0 first), then in the backlog's order. An issue waits for its dependencies to be
merged, for its retry time, and for its model's provider. An issue that was skipped because main holds already what it
asks for counts as merged. An issue that waits for a person holds up only those that depend on it (L9).

A circuit breaker for each model (N1) is one wait shared by every issue that would run it. Closed (no breaker at all):
everybody works. Open: nobody starts before `until`. Half-open, once `until` has passed: one attempt probes whether the
provider answers; the first sign of life closes the breaker. Failures that belong to one incident, because the attempts
had begun before it was noticed, count once.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from noface.model.issue import Issue, IssueState
from noface.model.taxonomy import IssueStatus


@dataclass(frozen=True, slots=True)
class Breaker:
    """The state of a model whose provider has failed and not answered since. Times in epoch seconds."""

    model: str
    until: float
    failures: int
    since: float
    kind: str
    reason: str

    def open(self, now: float) -> bool:
        """Tell whether nobody may start with the model."""
        return now < self.until


@dataclass(frozen=True, slots=True)
class BreakerRules:
    """After `after` incidents in a row a model rests at least `wait_s` seconds."""

    after: int = 5
    wait_s: float = 600.0


def tripped(
    before: Breaker | None,
    model: str,
    *,
    started_at: float,
    now: float,
    until: float,
    kind: str,
    reason: str,
    rules: BreakerRules,
) -> Breaker:
    """Return the breaker after a transient failure of an attempt that began at `started_at`.

    `until` is what the policy asks to wait. A longer wait that is known already stands.
    """
    if before is not None and started_at < before.since:
        return before if before.until >= until else Breaker(model, until, before.failures, before.since, kind, reason)
    failures = (before.failures if before is not None else 0) + 1
    if before is not None and before.until > until:
        until, kind, reason = before.until, before.kind, before.reason
    if failures >= rules.after and until < now + rules.wait_s:
        until = now + rules.wait_s
        reason = f"{reason}; {failures} failures in a row, its circuit breaker is open"
    return Breaker(model, until, failures, now, kind, reason)


_OPEN = (IssueStatus.READY, IssueStatus.WAITING)
_FOR_A_PERSON = (IssueStatus.BLOCKED, IssueStatus.APPROVAL, IssueStatus.SKIPPED)


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


def plan(
    issues: tuple[Issue, ...],
    states: Mapping[str, IssueState],
    next_models: Mapping[str, str],
    waits: Mapping[str, Breaker],
    slots: int,
    now: float,
    at_work: frozenset[str] = frozenset(),
) -> Plan:
    """Pick up to `slots` issues to start. `next_models` names the model each issue would run with.

    `at_work` are the models that work right now: a probe of theirs may be under way.
    """
    known = {issue.id: issue for issue in issues}
    start: list[Issue] = []
    waiting: list[Waiting] = []
    probed = set(at_work)
    order = sorted(enumerate(issues), key=lambda pair: (pair[1].priority, pair[0]))
    for _, issue in order:
        state = states.get(issue.id, IssueState(issue.id))
        if state.status not in _OPEN:
            continue
        model = next_models.get(issue.id, "")
        blocker = _obstacle(issue, state, known, states, now) or _provider(issue, model, waits, probed, now)
        if blocker is not None:
            waiting.append(blocker)
        elif len(start) < slots:
            start.append(issue)
            probed.add(model)
    return Plan(tuple(start), tuple(waiting))


def _obstacle(
    issue: Issue,
    state: IssueState,
    issues: Mapping[str, Issue],
    states: Mapping[str, IssueState],
    now: float,
) -> Waiting | None:
    missing = [d for d in issue.depends_on if d not in states or not states[d].done]
    if missing:
        names = ", ".join(missing)
        return Waiting(issue.id, f"waits for {names} to be merged", hopeless=_stuck(issue, issues, states))
    if state.until is not None and state.until > now:
        return Waiting(issue.id, state.reason or "waits for its retry time", state.until)
    return None


def _provider(issue: Issue, model: str, waits: Mapping[str, Breaker], probed: set[str], now: float) -> Waiting | None:
    wait = waits.get(model)
    if wait is None:
        return None
    if wait.open(now):
        return Waiting(issue.id, wait.reason, wait.until)
    if model in probed:
        return Waiting(issue.id, f"{model} is being tried by another issue first")
    return None


def _stuck(issue: Issue, issues: Mapping[str, Issue], states: Mapping[str, IssueState]) -> bool:
    """Tell whether anything that `issue` waits for, near or far, waits for a person."""

    def is_open(name: str) -> bool:
        return name not in states or not states[name].done

    needed = waited_for(issue, issues, is_open)
    return any(name in states and is_open(name) and states[name].status in _FOR_A_PERSON for name in needed)


def waited_for(
    issue: Issue, issues: Mapping[str, Issue], is_open: Callable[[str], bool] = lambda _: True
) -> Iterator[str]:
    """Yield the ids of what an issue waits for, near or far, each once; only what is open waits in its turn."""
    pending, seen = list(issue.depends_on), set[str]()
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        yield name
        if name in issues and is_open(name):
            pending += issues[name].depends_on


def with_parts(issues: tuple[Issue, ...], parts: tuple[Issue, ...]) -> tuple[Issue, ...]:
    """Return the issues, each followed by its parts, those by theirs; parts of issues that are gone are left out.

    An issue of the tracker that bears a part's id takes its place.
    """
    listed = {issue.id for issue in issues}
    by_parent: dict[str, list[Issue]] = {}
    for part in parts:
        if part.parent is not None and part.id not in listed:
            by_parent.setdefault(part.parent, []).append(part)
    if not by_parent:
        return issues
    ordered: list[Issue] = []
    pending = list(reversed(issues))
    while pending:
        issue = pending.pop()
        ordered.append(issue)
        pending += reversed(by_parent.pop(issue.id, []))
    return tuple(ordered)
