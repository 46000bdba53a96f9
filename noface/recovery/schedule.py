"""What starts now, and why the rest waits. Pure: read aloud, it is the order in which a run works.

Ready issues start by priority (0 first), then in the backlog's order. An issue waits for its dependencies to be merged,
for its retry time, and for its model's provider; one that waits for a person holds up only those that need it (L9).

A circuit breaker for each model (N1) is one wait shared by all issues that would run it. Once `until` has passed one
attempt probes whether the provider answers. Failures of attempts begun before the incident was noticed count once.

An issue whose work conflicted with main works alone the next time (`Contest`): nothing starts or lands beside it that
may change the same files, as far as `paths` or what it changed tell.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from noface.model.attempt import PastAttempt, failure_of
from noface.model.issue import Issue, IssueState
from noface.model.patterns import overlap
from noface.model.quoting import some
from noface.model.taxonomy import INTERRUPTED, PASSED, Cause, FailureKind, IssueStatus


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
        return now < self.until


BREAKER_AFTER, BREAKER_WAIT_S = 5, 600.0
"""After so many failures of its provider in a row a model rests at least so long, for all issues."""


def tripped(
    before: Breaker | None, model: str, *, started_at: float, now: float, until: float, kind: str, reason: str
) -> Breaker:
    """Return the breaker after a transient failure of an attempt begun at `started_at`; a longer wait stands."""
    if before is not None and started_at < before.since:
        return before if before.until >= until else Breaker(model, until, before.failures, before.since, kind, reason)
    failures = (before.failures if before is not None else 0) + 1
    if before is not None and before.until > until:
        until, kind, reason = before.until, before.kind, before.reason
    if failures >= BREAKER_AFTER and until < now + BREAKER_WAIT_S:
        until = now + BREAKER_WAIT_S
        reason = f"{reason}; {failures} failures in a row, its circuit breaker is open"
    return Breaker(model, until, failures, now, kind, reason)


Lost = tuple[tuple[str, ...], tuple[str, ...]]
"""How the work on an issue conflicted with main: in which files, of all those that it had changed."""


_FILES_NAMED_MAX = 3


def where_of(lost: Lost) -> str:
    return some(lost[0], _FILES_NAMED_MAX) or "the same files"


def lost_to_main(attempts: tuple[PastAttempt, ...]) -> Lost | None:
    """Return how the newest work that tells something conflicted with main, None if it did not."""
    for attempt in reversed(attempts):
        if attempt.outcome in (INTERRUPTED, PASSED) or failure_of(attempt).category.external:
            continue
        failure = failure_of(attempt)
        return (failure.evidence, attempt.changed) if failure.kind is FailureKind.MERGE_CONFLICT else None
    return None


@dataclass(frozen=True, slots=True)
class Contest:
    """Which issues have lost to main, by id, and which are `busy`: at work, or about to land."""

    lost: Mapping[str, Lost] = field(default_factory=dict)
    busy: tuple[Issue, ...] = ()

    def rival(self, issue: Issue, others: Iterable[Issue]) -> Issue | None:
        """Return the first of `others` beside which an issue must not be, since one of them is to be alone."""
        apart = (
            each for each in others if each.id != issue.id and not self.lost.keys().isdisjoint((each.id, issue.id))
        )
        return next((other for other in apart if self._collide(issue, other)), None)

    def _collide(self, issue: Issue, other: Issue) -> bool:
        places, others = self._places(issue), self._places(other)
        return not places or not others or any(overlap(one, two) for one in places for two in others)

    def _places(self, issue: Issue) -> tuple[str, ...]:
        """Return where an issue's change is to be expected, () if that may be anywhere."""
        if issue.paths:
            return (*issue.paths, *issue.may_change)
        return tuple(chain.from_iterable(self.lost.get(issue.id, ())))

    def wait(self, issue: Issue, others: Iterable[Issue]) -> "Waiting | None":
        """Return why an issue waits for one of `others` to land, None if it need not."""
        rival = self.rival(issue, others) if self.lost else None
        if rival is None:
            return None
        moved = f"main moved into {where_of(self.lost.get(issue.id) or self.lost[rival.id])}"
        if issue.id in self.lost:
            return Waiting(issue.id, f"{moved} meanwhile: works alone, once {rival.id} has ended")
        return Waiting(issue.id, f"waits for {rival.id}, which works alone: {moved}")


_NO_CONTEST = Contest()
_OPEN = (IssueStatus.READY, IssueStatus.WAITING)
_FOR_A_PERSON = (IssueStatus.BLOCKED, IssueStatus.APPROVAL, IssueStatus.SKIPPED, IssueStatus.REVIEW)


@dataclass(frozen=True, slots=True)
class Waiting:
    """An issue that cannot start yet; `model` is the one whose provider it waits for, `until` epoch seconds."""

    issue_id: str
    reason: str
    until: float | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to start, in order, and what waits."""

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
    contest: Contest = _NO_CONTEST,
    late: Collection[str] = (),
) -> Plan:
    """Pick up to `slots` issues to start; `at_work` are the models that a probe tries now, `late` comes last."""
    start: list[Issue] = []
    waiting: list[Waiting] = []
    probed, ahead = set(at_work), list(contest.busy)
    for issue in sorted(issues, key=lambda issue: (issue.id in late, issue.priority)):
        state = states.get(issue.id, IssueState(issue.id))
        if state.status not in _OPEN:
            continue
        model = next_models.get(issue.id, "")
        blocker = _later(_obstacle(issue, state, states, now), _provider(issue, model, waits, probed, now))
        rival = contest.wait(issue, ahead) if blocker is None else None
        starts = blocker is None and rival is None and len(start) < slots
        if starts:
            start.append(issue)
            probed.add(model)
        waiting += [why for why in (blocker, rival) if why is not None]
        if starts or (blocker is None and issue.id in contest.lost):
            ahead.append(issue)  # one that is to be alone has its turn, even if it has to wait for those at work
    return Plan(tuple(start), tuple(waiting))


def _obstacle(issue: Issue, state: IssueState, states: Mapping[str, IssueState], now: float) -> Waiting | None:
    missing = [d for d in issue.depends_on if d not in states or not states[d].done]
    if missing:
        pulls = tuple(f"pull request #{n}" for name in missing if name in states and (n := states[name].pull_request))
        in_review = f" ({some(pulls, _FILES_NAMED_MAX)} in review)" if pulls else ""
        gone = (name for name in missing if name in states and states[name].cause == Cause.TAKEN_BACK)
        if (name := next(gone, None)) is not None:
            return Waiting(issue.id, f"waits for {name}: {states[name].reason}")
        return Waiting(issue.id, f"waits for {', '.join(missing)} to be merged{in_review}")
    if state.until is not None and state.until > now:
        return Waiting(issue.id, state.reason or "waits for its retry time", state.until)
    return None


def _later(obstacle: Waiting | None, provider: Waiting | None) -> Waiting | None:
    if obstacle is None or provider is None:
        return obstacle or provider
    timed = obstacle.until is not None and provider.until is not None
    return provider if timed and (provider.until or 0.0) >= (obstacle.until or 0.0) else obstacle


def _provider(issue: Issue, model: str, waits: Mapping[str, Breaker], probed: set[str], now: float) -> Waiting | None:
    wait = waits.get(model)
    if wait is None:
        return None
    if wait.open(now):
        return Waiting(issue.id, wait.reason, wait.until, model=model)
    if model in probed:
        return Waiting(issue.id, f"{model} is being tried by another issue first", model=model)
    return None


def independent(issues: tuple[Issue, ...], states: Mapping[str, IssueState]) -> tuple[str, ...]:
    """Return the open issues that need nothing, near or far, of what waits for a person (L9)."""
    known = {issue.id: issue for issue in issues}

    def is_open(name: str) -> bool:
        return name not in states or not states[name].done

    def waits(name: str) -> bool:
        return name in states and is_open(name) and states[name].status in _FOR_A_PERSON

    return tuple(
        issue.id
        for issue in issues
        if is_open(issue.id) and not waits(issue.id) and not any(map(waits, waited_for(issue, known, is_open)))
    )


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
    """Return the issues, each followed by its parts; an issue of the tracker takes the place of a part of its id."""
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
