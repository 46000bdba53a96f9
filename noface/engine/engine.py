"""The loop of a run. Each tick reads the state again and decides, so a restart is an ordinary tick (law 7).

Threads put messages into the inbox; only the loop's thread writes state.
"""

import queue
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from noface.attempt.environment import AttemptProgress, GateAgain, GateRan, MainSeen, UnsteadySeen
from noface.engine.attempts import Attempts
from noface.engine.budget_guard import BudgetGuard, RunLimits
from noface.engine.candidates import Candidates
from noface.engine.context import RunContext
from noface.engine.dispatch import Begun, Dispatch, block, decide_and_apply, lift_raised
from noface.engine.faults import GO_ON, After, Faults, OwnFaultError, is_fault
from noface.engine.jobs import Job, JobKind, Jobs
from noface.engine.landing.queue import MergeQueue
from noface.engine.main_checks import AcceptChecks, Epics
from noface.engine.outages import answers_again, shows_life
from noface.engine.outside import BacklogWatch
from noface.engine.parts import RunParts
from noface.engine.planner import TICK_S, Ending, Idle, Once, Planner, RunResult, run_result
from noface.engine.prompt_context import history_of
from noface.engine.quota_guard import QuotaGuard
from noface.engine.recover import as_configured, settle_open
from noface.engine.red_main import KeptWork, RedMain
from noface.engine.retention import keep_bounds
from noface.engine.stations import Station, Stations
from noface.engine.withdrawals import Withdrawals, last_look
from noface.model.actions import Block
from noface.model.attempt import AttemptOrder
from noface.model.issue import Issue
from noface.model.listed import HostState
from noface.model.taxonomy import FailureKind, IssueStatus
from noface.recovery.schedule import Plan

R = TypeVar("R")
_DRAIN_S = 30.0
_UNFINISHED = (IssueStatus.RUNNING, IssueStatus.LANDING)
_SETTLED = (IssueStatus.MERGED, IssueStatus.SKIPPED, IssueStatus.REVIEW)


@dataclass(frozen=True, slots=True)
class Stop:
    """Message to the loop: a person wants it to stop; `urgent` at once."""

    urgent: bool


class Engine:
    """Works through the backlog until nothing is left that it can do, or a limit or a person stops it.

    If noface itself fails in the loop's thread, the loop begins anew from what is recorded (law 7); workers go on.
    """

    def __init__(self, context: RunContext, stations: Callable[[RunParts], Iterable[Station]], faults: Faults) -> None:
        self._context, self._faults, self._make_stations = context, faults, stations
        self._watch = BacklogWatch(context)
        self._jobs = Jobs(context.inbox, context.executor)
        self._stations = Stations(context.clock, context.inbox, self._jobs, self._again, self._story_broke)
        self._limits = RunLimits(context)
        self._guard = BudgetGuard(self._jobs, self._limits)
        self._quota = QuotaGuard(context, self._jobs, self._limits.live)
        self._withdrawals = Withdrawals(context, self._jobs, self._watch)
        self._ending, self._once = Ending(), Once(asked=context.settings.once)
        self._attempts = Attempts(context, self._jobs, self._withdrawals, self._ending, self._met)
        self._began_at = context.clock.now()
        self._anew = False
        self._aside: dict[str, str] = {}
        self._connect()

    def _connect(self) -> None:
        context, base = self._context, (self._context, self._jobs, self._stations)
        self._checks, self._epics, self._kept = AcceptChecks(*base, self._watch), Epics(*base), KeptWork(*base)
        self._landing, self._red_main, candidates = MergeQueue(*base), RedMain(*base), Candidates(context, self._jobs)
        self._withdrawals.landing = self._landing
        run = RunParts(context, self._jobs, self._landing, self._watch, self._withdrawals.leave, self._stations)
        self._others = tuple(self._make_stations(run))
        self._planner = Planner(run, self._limits, self._once)
        self._idling = Idle(run, self._limits, self._ending, self._once, self._others, self._began_at)
        self._attempts.connect(run, candidates)
        self._dispatch = Dispatch(run, self._limits, self._red_main, candidates, self._attempts.story)
        self._landing.decide_by(partial(last_look, run, self._withdrawals, self._others), self._attempts.rejected)

    def run(self, resumed: tuple[AttemptOrder, ...] = ()) -> RunResult:
        """Run until done. `resumed` are attempts of an earlier run whose work only needs judging."""
        try:
            self._bulkhead(partial(self._begin_loop, resumed, first=True))
            while True:
                broken = self._ending.broken is not None
                if self._anew and broken and not self._jobs.lasting:
                    return self._ended(Plan((), ()))
                if self._anew and not broken and self._jobs.end_others_than_lasting():
                    self._bulkhead(self._begin_anew)
                ended = self._bulkhead(self._tick)
                if ended is not None:
                    return ended
        finally:
            self._jobs.close()

    def _begin_loop(self, resumed: tuple[AttemptOrder, ...], *, first: bool) -> None:
        context = self._context
        self._watch.refresh()
        self._stations.open(self._others, self._heed)
        if first:
            lift_raised(context)
            self._quota.begin()
        suspects_first = sorted(resumed, key=lambda order: order.issue.id not in context.suspects)
        orders = [as_configured(context, order) for order in suspects_first]
        self._attempts.resumed = [order for order in orders if order.issue.id not in self._aside]
        self._set_aside()
        self._attempts.resume()
        self._settle_unfinished()
        self._stations.begin(self._landing.land_all())
        self._stations.begin(keep_bounds(context))

    def _tick(self) -> RunResult | None:
        context, planned = self._context, Plan((), ())
        context.keep_hold()
        if not self._anew:
            self._set_aside()
            self._stations.tick()
            self._red_main.step()
            self._close_epics()
            self._attempts.resume()
            planned = self._start()
            if not self._ending.stopping and self._jobs.free and (blocked := self._kept.blocked()) is not None:
                self._kept.begin(*blocked)
            if self._is_idle() and not self._idling.wait(planned):
                return self._ended(planned)
        self._receive(pending=bool(planned.start))
        if not self._ending.stopping:
            self._quota.step()
            self._ending.reached(self._guard.hold())
        self._watch.refresh()
        self._withdrawals.look()
        if self._ending.drain_until is not None and context.clock.now() >= self._ending.drain_until:
            self._stop(urgent=False)
        return None

    # Faults of noface's own

    def _bulkhead(self, step: Callable[[], R], issue_id: str = "") -> R | None:
        """Do something in the loop's thread; if noface itself fails there, the loop begins anew."""
        try:
            return step()
        except Exception as error:
            if self._ending.broken is not None and is_fault(error):
                raise self._ending.broken from error
            self._story_broke(error, None, issue_id)
            return None

    def _met(self, error: BaseException, job: Job[Any] | None, issue_id: str) -> After:
        if not is_fault(error):
            self._break(error)
            return After.STOP
        work, kind = (
            (job.kind.value, job.function) if job is not None else ("the loop that records and decides", "loop")
        )
        follows, why = self._faults.met(error, work, issue_id, kind)
        if follows is After.STOP:
            self._break(OwnFaultError(f"{why}. {GO_ON}"))
        elif follows is After.ASIDE and issue_id:
            self._aside[issue_id] = why
        return follows

    def _again(self, job: Job[Any], error: BaseException) -> bool:
        return self._met(error, job, job.issue_id) is After.AGAIN

    def _story_broke(self, error: Exception, job: Job[Any] | None, issue_id: str) -> None:
        if job is None and not is_fault(error):
            raise error
        self._met(error, job, issue_id)
        if is_fault(error) and (job is None or job.kind not in (JobKind.CHECK, JobKind.EPIC)):
            self._anew = self._stations.stopping = True

    def _begin_anew(self) -> None:
        """Begin the loop again from what is recorded: the parts of a run hold nothing that a kill could lose."""
        self._stations.forget()
        self._jobs.forget()
        self._anew, self._stations.stopping = False, self._ending.stopping
        self._connect()
        self._begin_loop(settle_open(self._context, self._jobs.lasting), first=False)

    def _set_aside(self) -> None:
        """Have the issues wait for the next run at whose work noface itself has failed twice; nothing is charged."""
        for issue_id in self._aside.keys() - self._jobs.issues():
            issue, why = self._watch.issue(issue_id), self._aside.pop(issue_id)
            if issue is not None and self._context.reader.state(issue_id).status not in _SETTLED:
                self._landing.drop(issue_id)
                reason = f"{why}; the next `noface run` tries it again"
                block(self._context, history_of(self._context, issue), Block(FailureKind.ENVIRONMENT, reason))

    def _settle_unfinished(self) -> None:
        states, busy = self._context.reader.states(), self._jobs.issues() | self._resumed
        unfinished = [each for each in self._watch.backlog.issues if states[each.id].status in _UNFINISHED]
        for issue in unfinished:
            status = self._context.reader.state(issue.id).status
            resumed = status is IssueStatus.LANDING and issue.id not in busy and self._landing.resume(issue)
            if status in _UNFINISHED and issue.id not in busy and not resumed:
                decide_and_apply(self._context, self._landing, issue)

    # Messages

    def _receive(self, *, pending: bool) -> None:
        """Take what has come in; return once something has changed, or after a tick. Progress alone is shown.

        `pending`: something could start and no station let it, so a loop with nothing else to wait for would spin.
        """
        at_once = self._landing.news() or (self._is_idle() and not pending)
        deadline = time.monotonic() + (0.0 if at_once else TICK_S)
        changed = False
        try:
            while not changed:
                changed = self._take(self._context.inbox.get(timeout=max(0.0, deadline - time.monotonic())))
            while True:
                self._take(self._context.inbox.get_nowait())
        except queue.Empty:
            return

    def _take(self, message: object) -> bool:
        match message:
            case AttemptProgress():
                self._progress(message)
                return False
            case HostState():
                self._context.see_host(message)
            case Job():
                self._job_ended(message)
            case Stop(urgent):
                self._stop(urgent=urgent)
            case _:
                return not _record_news(self._context, message)
        return True

    def _heed(self, message: object) -> bool:
        self._take(message)
        return isinstance(message, Stop)

    def _progress(self, seen: AttemptProgress) -> None:
        self._limits.live.update(seen)
        self._quota.seen(seen)
        job = self._jobs.attempt(seen.issue_id, seen.number)
        if job is not None:
            job.phase = seen.phase
        if job is not None and seen.alive and shows_life(self._context, job.model, job.began_at):
            answers_again(self._context, job.model, job.began_at)
        step = {"number": seen.number, "phase": seen.phase, "text": seen.text, "kind": seen.kind}
        used = {"cost_usd": seen.used.cost_usd, "tokens": seen.used.tokens}
        self._context.announce("progress", seen.issue_id or None, {**step, **used})

    def _job_ended(self, job: Job[Any]) -> None:
        self._context.keep_hold()
        if not self._jobs.ended(job):
            return  # the loop has begun anew since
        if job.kind in (JobKind.ATTEMPT, JobKind.QUESTION) and not self._jobs.attempts(job.issue_id):
            self._limits.ended(job.issue_id)
        self._stations.ended(job)
        if job.error is None and not self._anew:
            self._faults.went_well(job.function, job.issue_id)
        self._withdrawals.job_ended(job.issue_id)

    # What starts

    @property
    def _resumed(self) -> frozenset[str]:
        return frozenset(order.issue.id for order in self._attempts.resumed)

    def _start(self) -> Plan:
        planned, limits = self._planner.plan(self._resumed), self._limits
        self._ending.reached(limits.reached())
        if self._ending.stopping or self._ending.limit or self._attempts.resumed:
            return planned
        self._dispatch.begin_candidates()
        self._once.choose(planned)
        refused = -1
        while refused < len(limits.refused):  # those that cannot be paid make room for others
            refused = len(limits.refused)
            names: Collection[str] = [issue.id for issue in planned.start if self._once.admits(issue.id)]
            for other in self._others:
                names = other.admitted(names)
            for issue in planned.start:
                if issue.id not in names:
                    continue
                if not self._attempts.alone_enough(issue):
                    break
                if self._jobs.free and not limits.reached():
                    self._bulkhead(partial(self._begin, issue), issue.id)
                    if self._anew:
                        return planned
                    self._dispatch.begin_candidates()
            planned = self._planner.plan(self._resumed) if refused < len(limits.refused) else planned
        return planned

    def _begin(self, issue: Issue) -> None:
        if self._checks.needed(issue):
            self._checks.begin(issue)
            return
        if (kept := self._kept.due(issue)) is not None:
            self._kept.begin(issue, kept)
            return
        self._attempts.before_attempt()
        begun = self._dispatch.begin(issue, self._checks.failing(issue))
        if begun is Begun.ATTEMPT:
            self._limits.attempt_started()
            self._once.started(issue.id)
        elif begun is Begun.ANSWERED:
            self._context.backlog_stale = True

    def _close_epics(self) -> None:
        if self._ending.stopping:
            return
        for issue in self._epics.take_back():
            self._context.backlog_stale = True
            decide_and_apply(self._context, self._landing, issue)
        for issue in self._epics.ready():
            if self._jobs.free:
                self._epics.begin(issue)

    # The end

    def _is_idle(self) -> bool:
        stopping = self._ending.stopping
        landing = self._landing.working if stopping else self._landing.busy
        others = any(other.at_work(stopping=stopping) for other in self._others)
        return not (self._anew or self._jobs.issues() or landing or others)

    def _ended(self, planned: Plan) -> RunResult:
        context, ending, limits = self._context, self._ending, self._limits
        if ending.broken is None:
            self._stations.close(self._heed)
        # If it waited for new issues until its time was over, that is why it ends, whatever is left.
        watched = context.settings.watch and limits.too_late(context.clock.now())
        return run_result(
            context,
            ending,
            work_left=bool(planned.start or planned.waiting or limits.refused or watched),
            faulty=bool(self._watch.backlog.faults),
            once=self._once.why_it_ends(planned, context.settings.slots),
            withdrawn=[row.id for row in context.reader.issues() if self._watch.withdrew(row.id)],
            refused=self._idling.refused,
            unread=self._idling.unread(),
        )

    def _break(self, error: BaseException) -> None:
        self._ending.broken = self._ending.broken or error
        self._stop(urgent=False)

    def _stop(self, *, urgent: bool) -> None:
        """First time: start nothing, end the workers, let what is being judged finish soon. Urgent: end all now."""
        now, ending = self._context.clock.now(), self._ending
        if not ending.stopping:
            self._context.announce("stopping", None, {})
        ending.drain_until = ending.drain_until or now + _DRAIN_S
        self._stations.stopping = True
        self._jobs.stop(everything=now >= ending.drain_until, urgent=urgent)


def _record_news(context: RunContext, message: object) -> bool:
    """Record a message that changes nothing of what can start next; False if it is none of these."""
    now = context.clock.now()
    match message:
        case MainSeen():
            context.tell_progress(message)
        case GateRan(issue_id, number, result, key, tests):
            if result.flaky:
                failure = result.first_failure.message if result.first_failure else ""
                more = {"message": failure, "tree": result.tree, "tests": list(result.unsteady)}
                context.log_event("gate_flaky", issue_id or None, number=number, gate=result.gate.name, **more)
            if key:
                context.env.memory.remember(key, result)
                context.journal.gate_recorded(now, key, result, tests)
        case GateAgain(issue_id, number, gate, line, beside=()):
            context.log_event("gate_repeated", issue_id or None, number=number, gate=gate, message=line)
        case GateAgain(issue_id, number, gate, line, beside):
            context.log_event("gate_met", issue_id or None, number=number, gate=gate, beside=beside, message=line)
        case UnsteadySeen(issue_id, gate, tests):
            context.journal.unsteady(now, issue_id, gate, tests, context.env.memory.all_unsteady())
        case _:
            return False
    return True
