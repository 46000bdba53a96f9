"""What starts now, what `--once` and a pause let start of it, what a run with nothing to do waits for, why it ends."""

import math
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from noface.attempt.disk import disk_full_error, why_ended
from noface.engine.budget_guard import RunLimits
from noface.engine.context import RunContext
from noface.engine.dispatch import plan_tick
from noface.engine.jobs import JobKind
from noface.engine.outages import too_long
from noface.engine.parts import RunParts
from noface.engine.stations import Patience, Station
from noface.errors import EXIT_ATTENTION, EXIT_DONE, EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_LIMIT
from noface.model.failure import DISK_FULL, DISK_SEEMS_FULL, Failure
from noface.model.issue import Issue
from noface.model.quoting import some
from noface.model.taxonomy import IssueStatus
from noface.recovery.done_already import GREEN_ALREADY
from noface.recovery.policy_state import OUTSIDE_REPEATS_MAX, outside_failures
from noface.recovery.schedule import Plan
from noface.recovery.sudden_ends import to_be_compared
from noface.store.overview import PAUSED
from noface.store.reader import Reader
from noface.store.records import IssueRow

_NAMED_MAX = 10


RunResult = tuple[int, str]
"""The exit code of a run, and why it ended."""


@dataclass(slots=True, eq=False)
class Ending:
    """Why a run is to end, if it is: a person wants it (`drain_until`: what is judged may end), a limit, a fault."""

    drain_until: float | None = None
    limit: str = ""
    broken: BaseException | None = None

    @property
    def stopping(self) -> bool:
        return self.drain_until is not None

    def reached(self, limit: str) -> None:
        self.limit = self.limit or limit


def run_result(
    context: RunContext,
    ending: Ending,
    *,
    work_left: bool,
    faulty: bool,
    once: str = "",
    withdrawn: Collection[str] = (),
    refused: str = "",
    unread: Patience | None = None,
) -> RunResult:
    """Say how the run ended. `withdrawn` are issues that people have deleted, moved or closed meanwhile."""
    if ending.broken is not None:
        return EXIT_FAILURE, why_ended(ending.broken)
    if ending.stopping:
        return EXIT_INTERRUPTED, "interrupted; `noface run` goes on where it was"
    if refused:
        return EXIT_ATTENTION, f"stopped: {refused}"
    if ending.limit and work_left:
        return EXIT_ATTENTION if context.unreachable else EXIT_LIMIT, ending.limit
    if unread is not None:
        why = f"what is new at GitHub was not looked at: {unread.reason}; `noface run` tries again"
        return EXIT_LIMIT, why
    only = context.settings.only_issues
    rows = [row for row in context.reader.issues() if not only or row.id in only]
    left = [row for row in rows if row.present and not _settled(row)]
    if only and left and not (faulty or once) and all(row.status == IssueStatus.BLOCKED for row in left):
        why = some(tuple(f"{row.id} is blocked: {row.reason}" for row in left), _NAMED_MAX)
        again = f"noface retry {' '.join(row.id for row in left)}"
        return EXIT_ATTENTION, f"finished; {why}; to have it tried again: {again}"
    if faulty or left:
        return EXIT_ATTENTION, once or _left_over(left, faulty=faulty)
    vanished = (context.at_first or frozenset()) - set(withdrawn)
    gone = tuple(row.id for row in rows if row.id in vanished and not row.present and not _settled(row))
    if gone and not context.issues_elsewhere:
        why = f"issues went away while it ran: {some(gone, _NAMED_MAX)}; was a branch switched, or work stashed?"
        return EXIT_ATTENTION, f"finished, but {why}"
    if green := tuple(row.id for row in rows if row.present and _green_already(row)):
        code = EXIT_ATTENTION if context.green_already.intersection(green) else EXIT_DONE
        what = "name a command that fails until it is done, or close it"
        why = f"finished; nobody worked on {some(green, _NAMED_MAX)}, since main passes what is in `accept`"
        return code, f"{why}: if that is not done yet, {what}"
    return EXIT_DONE, "all done"


def _green_already(row: IssueRow) -> bool:
    skipped = row.status == IssueStatus.SKIPPED and row.satisfied and row.reason == GREEN_ALREADY
    return skipped and row.model is None and row.parent is None


def _left_over(rows: list[IssueRow], *, faulty: bool) -> str:
    statuses = Counter(row.status for row in rows)
    reviewed = statuses[IssueStatus.REVIEW]
    others = statuses.keys() - {IssueStatus.REVIEW, IssueStatus.READY, IssueStatus.WAITING}
    if reviewed and not others and not faulty:
        return f"finished; {reviewed} pull request{'s are' if reviewed > 1 else ' is'} in review"
    if others == {IssueStatus.LANDING} and not faulty:
        return "finished; work that passed could not land yet"
    return "finished; some issues need a person"


def _settled(row: IssueRow) -> bool:
    return row.status in (IssueStatus.MERGED, IssueStatus.SKIPPED)


def disk_error(reader: Reader, issue: Issue, failure: Failure | None) -> BaseException | None:
    """Return why a run ends where the disk is full, or where a worker says so after it was run again."""
    if failure is None or failure.rule not in (DISK_FULL, DISK_SEEMS_FULL):
        return None
    epoch = reader.state(issue.id).epoch
    past = [attempt for attempt in reader.past(issue.id) if attempt.epoch == epoch]
    if failure.rule == DISK_FULL or outside_failures(past) > OUTSIDE_REPEATS_MAX:
        return disk_full_error(failure)
    return None


class Once:
    """The issues that `--once` lets start: those of its first plan. Without it all may."""

    def __init__(self, *, asked: bool) -> None:
        self._asked = asked
        self._left: set[str] | None = None
        self._found = False

    def choose(self, planned: Plan) -> None:
        if self._asked and self._left is None:
            self._left = {issue.id for issue in planned.start}
            self._found = bool(self._left)

    def admits(self, issue_id: str) -> bool:
        return self._left is None or issue_id in self._left

    def started(self, issue_id: str) -> None:
        if self._left is not None:
            self._left.discard(issue_id)

    def why_it_ends(self, planned: Plan, workers: int) -> str:
        if not self._asked or not (planned.start or any(each.until is not None for each in planned.waiting)):
            return ""
        if not self._found:
            return "nothing was ready to start, and --once waits for nothing; `noface run` does"
        return f"settled what --once started, at most {workers} at once; `noface run` goes on with the rest"


class Planner:
    """Plans each tick anew if anything has changed: a plan of tens of thousands takes longer than all else."""

    def __init__(self, run: RunParts, limits: RunLimits, once: Once) -> None:
        self._run, self._limits, self._once = run, limits, once
        self._planned, self._until = Plan((), ()), 0.0
        self._for: tuple[object, ...] = ()

    def plan(self, resumed: Collection[str]) -> Plan:
        """Return what starts now, and why the rest waits; work on the `resumed` issues is under way."""
        context, jobs = self._run.context, self._run.jobs
        busy = jobs.issues().union(self._limits.refused, resumed)
        # Who does not start again in this run holds up nobody.
        busy |= {name for name in context.reader.lost_to_main() if not self._once.admits(name)}
        wanted, states = self._run.watch.wanted(), context.reader.states()
        late = frozenset[str]().union(*map(to_be_compared, context.sudden_ends.values()))
        probed = jobs.probed(context.reader.waits())
        at_work = jobs.issues(JobKind.ATTEMPT, JobKind.QUESTION) | self._run.queue.due
        under_way = tuple(issue for issue in context.issues if issue.id in at_work)
        seen = (wanted, context.reader.mark(), busy, jobs.free, probed, late, under_way)
        if seen != self._for or context.clock.now() >= self._until:
            issues = tuple(issue for issue in wanted if issue.id not in busy)
            self._planned = plan_tick(context, issues, states, jobs.free, probed, under_way, late)
            times = (each.until for each in self._planned.waiting if each.until is not None)
            self._for, self._until = seen, min(times, default=math.inf)
        return self._planned


TICK_S = 0.5


def _first(waits: Iterable[Patience | None]) -> Patience | None:
    return next((wait for wait in waits if wait is not None), None)


class Idle:
    """Waits for retry times, for other machines, or for new issues."""

    def __init__(
        self, run: RunParts, limits: RunLimits, ending: Ending, once: Once, others: Collection[Station], began_at: float
    ) -> None:
        self._context, self._jobs = run.context, run.jobs
        self._limits, self._ending, self._once, self._others = limits, ending, once, others
        self._began_at = began_at
        self._outage: Patience | None = None

    def wait(self, planned: Plan) -> bool:
        """Wait for a tick, or for the next retry time; False if there is nothing to wait for."""
        context, limits = self._context, self._limits
        if self._ending.stopping or self._ending.limit or self.refused:
            return False
        if any(self._once.admits(issue.id) for issue in planned.start):
            return True
        if not self._jobs.free:  # with [run] workers = 0, until a host is there
            return self._sleep()
        if (patience := self._for_others()) is not None:
            return self._sleep(patience.until, patience.reason)
        timed = [] if context.settings.once else [each for each in planned.waiting if each.until is not None]
        refused = {each.issue_id: too_long(context, each) for each in timed}
        timed = [each for each in timed if not refused[each.issue_id]]
        if not timed:
            self._ending.reached(next((why for why in (*limits.refused.values(), *refused.values()) if why), ""))
            watched = context.settings.watch and not self._ending.limit
            return watched and self._sleep(limits.ends_at, "for new issues (--watch)")
        waiting = min(timed, key=lambda each: each.until or 0.0)
        until = waiting.until or 0.0
        if limits.too_late(until):
            limit = f"--until {context.settings.until}" if context.settings.until else "the limit max_hours"
            self._ending.reached(f"stopped at {limit}, which waiting would pass: {waiting.reason}")
            return False
        self._say(until, waiting.reason, waiting.model)
        context.clock.sleep(min(TICK_S, max(0.0, until - context.clock.now())))
        return True

    @property
    def refused(self) -> str:
        return next(filter(None, (other.refused for other in self._others)), "")

    def unread(self) -> Patience | None:
        return _first(other.unread() for other in self._others)

    def _for_others(self) -> Patience | None:
        once = self._context.settings.once
        patience = _first(other.patience(once=once) for other in self._others)
        if patience is not None or once:
            return patience
        outage, longest = self.unread(), self._began_at + self._context.settings.policy.outage_max_s
        until = max(outage.until, self._context.clock.now()) if outage is not None else 0.0
        if outage is not None and until <= longest and not self._limits.too_late(outage.until):
            self._outage = self._outage or outage  # told once, whatever each try says
            return self._outage
        self._outage = None
        wait = _first(other.next_try() for other in self._others)
        return wait if wait is not None and not self._limits.too_late(wait.until) else None

    def _sleep(self, until: float = 0.0, reason: str = "") -> bool:
        if reason:
            self._say(until, reason)
        self._context.clock.sleep(TICK_S)
        return True

    def _say(self, until: float, reason: str, model: str = "") -> None:
        seconds = max(0.0, until - self._context.clock.now())
        self._context.announce(
            "waiting", None, {"until": until, "seconds": seconds, "model": model or None, "reason": reason}
        )


class Landable(Station):
    """Lets nothing start once it is known that no work would land, nor while the first push of a run shows that."""

    def __init__(self, run: RunParts) -> None:
        self._context, self._queue = run.context, run.queue

    def admitted(self, issue_ids: Collection[str]) -> Collection[str]:
        return () if self.refused or self._queue.tries_first_push else issue_ids

    @property
    def refused(self) -> str:
        return self._context.landing_refused


class Pause(Station):
    """Lets nothing start while the run is paused, and keeps it from ending."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        if context.reader.fact(PAUSED):
            context.journal.fact(PAUSED, "")  # it was another run's: who begins one wants work done
        self._told = False

    @property
    def _paused(self) -> bool:
        return bool(self._context.reader.fact(PAUSED))

    def admitted(self, issue_ids: Collection[str]) -> Collection[str]:
        """Return which issues may start; a pause, and its end, is told once."""
        paused = self._paused
        if paused != self._told:
            self._told = paused
            text = "paused: nothing more starts; `noface resume` goes on" if paused else "resumed: it goes on"
            self._context.log_event("paused", None, text=text)
        return () if paused else issue_ids

    def patience(self, *, once: bool) -> Patience | None:
        del once  # and no time: a later one at each look would be told as a new wait each time
        return Patience(0.0, "it is paused; `noface resume` goes on") if self._paused else None
