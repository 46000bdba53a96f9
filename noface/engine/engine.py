"""One run, from lock to last word: settle what an earlier run left, check, then the loop.

Each tick of the loop reads the state again and decides, so a restart is an ordinary tick (law 7). Threads put messages
into the inbox; only the loop's thread writes state.
"""

import json
import math
import os
import queue
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from noface.attempt.attempt import Attempt
from noface.attempt.disk import disk_full_error, why_ended
from noface.attempt.environment import (
    AttemptProgress,
    GateAgain,
    GateRan,
    MainSeen,
    UnsteadySeen,
)
from noface.attempt.run import only_judged
from noface.engine.budget_guard import BudgetGuard, RunLimits, tell_prospect, unpriced_models
from noface.engine.candidates import Ended
from noface.engine.context import RunContext
from noface.engine.deaths import remember_oom_kills
from noface.engine.dispatch import (
    Begun,
    Dispatch,
    apply_action,
    block,
    decide,
    decide_and_apply,
    history,
    lift_raised,
    plan_tick,
    record_attempt,
    why_over,
)
from noface.engine.faults import GO_ON, After, Faults, OwnFaultError, is_fault, twice
from noface.engine.ground import follow, settle_following, take_ground
from noface.engine.jobs import Job, JobKind, Jobs
from noface.engine.kept_work import KeptWork
from noface.engine.landing.commits import check_signing
from noface.engine.landing.entries import QueueEntry
from noface.engine.landing.queue import MergeQueue
from noface.engine.lessons import count_lessons
from noface.engine.main_checks import AcceptChecks, Epics
from noface.engine.outages import (
    answers_again,
    ask_again,
    ended_suddenly,
    lift_blocks,
    notice_waits,
    of_its_model,
    provider_answered,
    shows_life,
    too_long,
)
from noface.engine.outside import BacklogWatch, OutsideChanges, edited_since, move_branch, rejected_before
from noface.engine.preflight import announce_tests, preflight
from noface.engine.quota_guard import QuotaGuard
from noface.engine.readiness import checkout_findings
from noface.engine.recover import as_configured, recover, settle_open, with_work, without_end
from noface.engine.red_main import RedMain
from noface.engine.retention import keep_bounds, tidy_up
from noface.engine.stations import Patience, Station, Stations, Steps
from noface.errors import (
    EXIT_ATTENTION,
    EXIT_DONE,
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    EXIT_LIMIT,
    BaselineRedError,
    GitError,
    LockLostError,
)
from noface.git.fast_forward import Blocked
from noface.model.actions import Block, Land
from noface.model.attempt import AttemptOrder, AttemptReport, Interrupted, Judged
from noface.model.budget import EndedFor
from noface.model.failure import DISK_FULL, DISK_SEEMS_FULL, OUT_OF_REACH, Failure
from noface.model.gate import GateResult, gates_at_once
from noface.model.issue import Issue
from noface.model.listed import HostState
from noface.model.quoting import some
from noface.model.request import NOTHING_ASKED
from noface.model.taxonomy import FailureKind, IssueStatus
from noface.process.failpoints import hit
from noface.process.files import bytes_in
from noface.process.supervise import Canceller
from noface.recovery.ground import mode_of
from noface.recovery.policy_state import OUTSIDE_REPEATS_MAX, outside_failures
from noface.recovery.schedule import Contest, Plan
from noface.recovery.sudden_ends import DOES_NOT_LOAD, NEVER_WORKED
from noface.store.overview import HOSTS, WORKSPACES
from noface.store.records import IssueRow

R = TypeVar("R")
_TICK_S = 0.5
_DRAIN_S = 30.0
_GONE_MAX = 10
ASKED_ONCE = (OUT_OF_REACH, NEVER_WORKED, DOES_NOT_LOAD)
"""Rules of failures for which a person is asked once a run, whatever the number of issues."""
_GLOBS_MAX = 3
_UNFINISHED = (IssueStatus.RUNNING, IssueStatus.LANDING)
_SETTLED = (IssueStatus.MERGED, IssueStatus.SKIPPED, IssueStatus.REVIEW)


@dataclass(frozen=True, slots=True)
class RunResult:
    """The exit code of a run, and why it ended."""

    exit_code: int
    why: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Message to the loop: a person wants it to stop; `urgent` at once."""

    urgent: bool


def run_session(context: RunContext, cancel: Canceller, elsewhere: "Elsewhere") -> RunResult:
    """Settle what an earlier run left, check that work makes sense, and work. The caller holds the lock.

    Raises what `preflight` raises; then nothing was started.
    """
    journal, clock, faults = context.journal, context.clock, Faults(context)
    journal.run_started(clock.now(), os.getpid())
    if context.reader.fact(HOSTS):
        journal.fact(HOSTS, "")  # those of this run have yet to be seen
    try:
        prepared = partial(_prepared, context, cancel, elsewhere)
        with elsewhere.held(context, cancel):
            resumed = twice(faults, "the checks before a run", prepared)
            result_of_run = Engine(context, elsewhere.stations, faults).run(resumed)
        with suppress(OwnFaultError):  # told already; what is left is tidied up after the next run
            twice(faults, "tidying up", partial(tidy_up, context))
        if result_of_run.exit_code == EXIT_ATTENTION and not context.settings.once:
            _ask_people(context)
    except BaseException as error:
        _record_failure(context, error)
        raise
    folder = context.env.slots_dir
    journal.fact(WORKSPACES, json.dumps({"folder": str(folder), "bytes": bytes_in(folder)}))
    journal.run_ended(clock.now(), result_of_run.exit_code, result_of_run.why)
    return result_of_run


def _prepared(context: RunContext, cancel: Canceller, elsewhere: "Elsewhere") -> tuple[AttemptOrder, ...]:
    """Settle what an earlier run left, and check that work makes sense; return what only needs judging."""
    hit("run_started")
    resumed = recover(context)
    settle_following(context)
    decided = take_ground(context, cancel)
    sandbox = context.env.sandbox
    if sandbox.announced:
        context.announce("sandbox", None, {"kind": sandbox.kind, "version": sandbox.version, "why": sandbox.problem})
    if idle := context.settings.idle:
        context.announce("idle_settings", None, {"what": list(idle)})
    plumbing = context.env.plumbing
    notes = [one for one in checkout_findings(plumbing, plumbing.main()) if one.exit_code == EXIT_DONE]
    if notes:
        context.announce("checkout_lacks", None, {"what": [f"{one.text} ({one.fix})" for one in notes]})
    if unpriced := unpriced_models(context):
        context.announce("unpriced", None, {"models": list(unpriced)})
    check_signing(context)
    elsewhere.check(context, cancel)
    landing = mode_of(context.settings.landing).name.lower().replace("_", "-")
    context.announce("preflight", None, {"main": context.env.plumbing.repository.main_name, "landing": landing})
    allowed = context.env.diff_limits.test_keys
    more = f", {some(allowed, _GLOBS_MAX)} ([limits] test_keys)" if allowed else ""
    context.announce("keys_unseen", None, {"files": list(allowed), "more": more})
    results = preflight(context, cancel)
    announce_tests(context, results)
    _remember(context, results)
    follow(context, decided)
    external = tuple(kind.value for kind in FailureKind if kind.category.external)
    lift_blocks(context, external, "its cause lay outside it; tried again")
    ask_again(context)
    return resumed


def _record_failure(context: RunContext, error: BaseException) -> None:
    """Record how a run ended that could not go on."""
    code = EXIT_INTERRUPTED if isinstance(error, KeyboardInterrupt) else getattr(error, "exit_code", EXIT_FAILURE)
    if not isinstance(error, LockLostError):  # then the database may be another's
        context.keep_hold()  # if that is lost, it is why
        why = str(error).splitlines()[0] if str(error) else "interrupted"
        if isinstance(error, BaselineRedError):
            context.log_event("main_red", None, text=str(error))
        context.journal.run_ended(context.clock.now(), code, why)


def _remember(context: RunContext, results: tuple[GateResult, ...]) -> None:
    """Keep what main's gates ran and read, and the results of the green ones."""
    given, cores = context.settings.gates_at_once, os.cpu_count() or 1
    context.env.turns.limit = given or gates_at_once(results, cores)
    for result in results:
        if result.failure is None:
            context.env.memory.remember(context.env.key(result.tree, result.gate), result)


def _ask_people(context: RunContext) -> None:
    """Ask for help with what is blocked: the run ends, since nothing independent of it is left (L9, L10)."""
    only = context.settings.only_issues
    for row in context.reader.issues():
        if row.present and row.status == IssueStatus.BLOCKED and (not only or row.id in only):
            reason = f"blocked: {row.reason}; no independent work remains"
            context.journal.person_asked(context.clock.now(), row.id, reason, row.block or NOTHING_ASKED)


def run_result(
    context: RunContext,
    *,
    broken: BaseException | None,
    stopped: bool,
    limit: str,
    work_left: bool,
    faulty: bool,
    once: str = "",
    withdrawn: Collection[str] = (),
    refused: str = "",
    unread: Patience | None = None,
) -> RunResult:
    """Say how the run ended. `work_left`: something could still start, or waits for a time.

    `refused` says why nothing could be published, `unread` until when and why issues or pull requests could not be
    looked at in this run.
    `once` says what `--once` has left undone, "" if that is not why the run ends. `withdrawn` are issues that people
    have deleted, moved or closed meanwhile.
    """
    if broken is not None:
        return RunResult(EXIT_FAILURE, why_ended(broken))
    if stopped:
        return RunResult(EXIT_INTERRUPTED, "interrupted; `noface run` goes on where it was")
    if refused:
        return RunResult(EXIT_ATTENTION, f"stopped: {refused}")
    if limit and work_left:
        return RunResult(EXIT_ATTENTION if context.unreachable else EXIT_LIMIT, limit)
    if unread is not None:
        return RunResult(
            EXIT_LIMIT, f"what is new at GitHub was not looked at: {unread.reason}; `noface run` tries again"
        )
    only = context.settings.only_issues
    rows = [row for row in context.reader.issues() if not only or row.id in only]
    left = [row for row in rows if row.present and not _settled(row)]
    if only and left and not (faulty or once) and all(row.status == IssueStatus.BLOCKED for row in left):
        why = some(tuple(f"{row.id} is blocked: {row.reason}" for row in left), _GONE_MAX)
        again = f"noface retry {' '.join(row.id for row in left)}"
        return RunResult(EXIT_ATTENTION, f"finished; {why}; to have it tried again: {again}")
    if faulty or left:
        return RunResult(EXIT_ATTENTION, once or _left_over(left, faulty=faulty))
    vanished = (context.at_first or frozenset()) - set(withdrawn)
    gone = [row.id for row in rows if row.id in vanished and not row.present and not _settled(row)]
    if gone and not context.issues_elsewhere:
        names = ", ".join(gone[:_GONE_MAX]) + (" …" if len(gone) > _GONE_MAX else "")
        why = f"finished, but issues went away while it ran: {names}; was a branch switched, or work stashed?"
        return RunResult(EXIT_ATTENTION, why)
    return RunResult(EXIT_DONE, "all done")


def _left_over(rows: list[IssueRow], *, faulty: bool) -> str:
    """Say what a finished run has left; what waits for issues in review needs nothing else."""
    statuses = Counter(row.status for row in rows)
    reviewed, unpublished = statuses[IssueStatus.REVIEW], statuses[IssueStatus.LANDING]
    others = statuses.keys() - {IssueStatus.REVIEW, IssueStatus.READY, IssueStatus.WAITING}
    if reviewed and not others and not faulty:
        many = "a pull request is" if reviewed == 1 else f"{reviewed} pull requests are"
        return f"finished; {many} in review"
    if unpublished and others == {IssueStatus.LANDING} and not faulty:
        return "finished; work that passed could not land yet"
    return "finished; some issues need a person"


def _settled(row: IssueRow) -> bool:
    """True if an issue is done with. A part that its parent has taken back belongs to the parent's work."""
    skipped = row.status == IssueStatus.SKIPPED and (row.satisfied or row.parent is not None)
    return bool(row.status == IssueStatus.MERGED or skipped)


@dataclass(frozen=True, slots=True)
class RunParts:
    """The parts of a run that stations work with.

    `leave` ends the work on an issue, which is left undone by what the second text says; it returns why not, "" if it
    does.
    """

    context: RunContext
    jobs: Jobs
    queue: MergeQueue
    watch: BacklogWatch
    leave: Callable[[str, str], str]
    stations: Stations


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What a run does with other machines. `check` looks, before a worker is paid, whether it can be done.

    `held` keeps other machines off the repository meanwhile. Both raise UsageError, ForgeError and RemoteError if that
    cannot be.
    """

    held: Callable[[RunContext, Canceller], AbstractContextManager[None]]
    check: Callable[[RunContext, Canceller], None]
    stations: Callable[[RunParts], tuple[Station, ...]]


def _first(waits: Iterable[Patience | None]) -> Patience | None:
    return next((wait for wait in waits if wait is not None), None)


class Engine:
    """Works through the backlog until nothing is left that it can do, or a limit or a person stops it.

    Where noface itself fails in the loop's own thread, the loop begins anew from what is recorded, as after a kill
    (law 7); workers and roles at work go on meanwhile.
    """

    def __init__(self, context: RunContext, stations: Callable[[RunParts], Iterable[Station]], faults: Faults) -> None:
        self._context, self._faults, self._make_stations = context, faults, stations
        self._watch = BacklogWatch(context)
        self._jobs = Jobs(context.inbox, context.executor)
        self._stations = Stations(context.clock, context.inbox, self._jobs, self._again, self._story_broke)
        self._limits = RunLimits(context)
        self._guard = BudgetGuard(context, self._jobs, self._limits)
        self._quota = QuotaGuard(context, self._jobs, self._limits.live)
        self._outside = OutsideChanges(context)
        self._withdrawn: dict[str, str] = {}
        self._left: dict[str, str] = {}
        self._anew = False
        self._aside: dict[str, str] = {}
        self._began_at = context.clock.now()
        self._outage: Patience | None = None
        self._limit = ""
        self._first_wave: set[str] | None = None
        self._waves = False
        self._drain_until: float | None = None
        self._hurried = False
        self._broken: BaseException | None = None
        self._connect()

    def _connect(self) -> None:
        """Make the parts of the loop that are made anew after a fault; what limits the run is not among them."""
        context = self._context
        self._checks = AcceptChecks(context, self._jobs, self._stations, self._watch)
        self._epics = Epics(context, self._jobs, self._stations)
        self._kept = KeptWork(context, self._jobs, self._stations)
        self._landing = MergeQueue(context, self._jobs, self._stations)
        self._landing.last_look, self._landing.rejected = self._look_again, self._rejected
        self._red_main = RedMain(context, self._jobs, self._stations)
        parts = (self._jobs, self._stations, self._landing, self._limits, self._red_main)
        self._dispatch = Dispatch(context, *parts, self._attempt)
        run = RunParts(context, self._jobs, self._landing, self._watch, self._leave, self._stations)
        self._others = tuple(self._make_stations(run))
        self._resumed: list[AttemptOrder] = []
        self._planned, self._planned_until = Plan((), ()), 0.0
        self._planned_for: tuple[object, ...] = ()

    def run(self, resumed: tuple[AttemptOrder, ...] = ()) -> RunResult:
        """Run until done. `resumed` are attempts of an earlier run whose work only needs judging."""
        try:
            self._bulkhead(partial(self._begin_loop, resumed, first=True))
            while True:
                if self._anew and self._broken is not None and not self._jobs.lasting:
                    return self._ended(Plan((), ()))
                if self._anew and self._broken is None and self._jobs.end_others_than_lasting():
                    self._bulkhead(self._begin_anew)
                ended = self._bulkhead(self._tick)
                if ended is not None:
                    return ended
        finally:
            self._jobs.close()

    def _begin_loop(self, resumed: tuple[AttemptOrder, ...], *, first: bool) -> None:
        """Begin the stories of a run, and go on with what is recorded."""
        context = self._context
        self._watch.refresh()
        self._stations.open(self._others, self._heed)
        if first:
            lift_raised(context)
            self._quota.begin()
            tell_prospect(context)
            notice_waits(context)
        suspects_first = sorted(resumed, key=lambda order: order.issue.id not in context.suspects)
        orders = [as_configured(context, order) for order in suspects_first]
        self._resumed = [order for order in orders if order.issue.id not in self._aside]
        self._set_aside()
        self._judge_resumed()
        self._settle_unfinished()
        self._stations.begin(self._landing.land_all())
        self._stations.begin(keep_bounds(context))

    def _tick(self) -> RunResult | None:
        """Look at everything once, and wait for news; return how the run ended once it has."""
        context, planned = self._context, Plan((), ())
        context.keep_hold()
        if not self._anew:
            self._set_aside()
            self._stations.tick()
            self._red_main.step()
            self._close_epics()
            self._judge_resumed()
            self._checks.lift_committed()
            planned = self._start()
            self._look_at_blocked()
            if self._idle() and not self._sleep(planned):
                return self._ended(planned)
        self._receive(pending=bool(planned.start))
        self._hold_budgets()
        self._watch.refresh()
        self._end_withdrawn()
        if self._drain_until is not None and context.clock.now() >= self._drain_until:
            self._stop(urgent=False)
        return None

    # Faults of noface's own

    def _bulkhead(self, step: Callable[[], R], issue_id: str = "") -> R | None:
        """Do something in the loop's thread; if noface itself fails there, the loop begins anew."""
        try:
            return step()
        except Exception as error:
            if self._broken is not None and is_fault(error):
                raise self._broken from error
            self._story_broke(error, None, issue_id)
            return None

    def _met(self, error: BaseException, job: Job[Any] | None, issue_id: str) -> After:
        """Tell of an error that ended something; what other tries would not mend ends the run."""
        if not is_fault(error):
            self._break(error)
            return After.STOP
        work, kind = (job.work, job.function) if job is not None else ("the loop that records and decides", "loop")
        follows, why = self._faults.met(error, work, issue_id, kind)
        if follows is After.STOP:
            self._break(OwnFaultError(f"{why}. {GO_ON}"))
        elif follows is After.ASIDE and issue_id:
            self._aside[issue_id] = why
        return follows

    def _again(self, job: Job[Any], error: BaseException) -> bool:
        """Tell of a job that noface itself broke; True if its thread begins once more."""
        return self._met(error, job, job.issue_id) is After.AGAIN

    def _story_broke(self, error: Exception, job: Job[Any] | None, issue_id: str) -> None:
        """Tell of what ended a story. Unless it was the check of an issue, what it knew has to be made anew."""
        if job is None and not is_fault(error):
            raise error
        self._met(error, job, issue_id)
        if is_fault(error) and (job is None or job.kind not in (JobKind.CHECK, JobKind.EPIC)):
            self._anew = self._stations.stopping = True

    def _begin_anew(self) -> None:
        """Begin the loop again from what is recorded: the parts of a run hold nothing that a kill could lose."""
        self._stations.forget()
        self._jobs.forget()
        self._anew, self._stations.stopping = False, self._drain_until is not None
        self._connect()
        self._begin_loop(settle_open(self._context, self._jobs.lasting), first=False)

    def _set_aside(self) -> None:
        """Have the issues wait for the next run at whose work noface itself has failed twice; nothing is charged."""
        for issue_id in self._aside.keys() - self._jobs.issues():
            issue, why = self._watch.issue(issue_id), self._aside.pop(issue_id)
            if issue is not None and self._context.reader.state(issue_id).status not in _SETTLED:
                self._landing.drop(issue_id)
                reason = f"{why}; the next `noface run` tries it again"
                block(self._context, history(self._context, issue), Block(FailureKind.ENVIRONMENT, reason))

    # Messages

    def _receive(self, *, pending: bool) -> None:
        """Take what has come in; return once something has changed, or after a tick.

        Progress alone is shown, and no reason to read the backlog again. `pending`: something could start and was let
        by no station, so a loop that has nothing else to wait for would spin.
        """
        at_once = self._landing.news() or (self._idle() and not pending)
        deadline = time.monotonic() + (0.0 if at_once else _TICK_S)
        changed = False
        try:
            while not changed:
                changed = self._take(self._context.inbox.get(timeout=max(0.0, deadline - time.monotonic())))
            while True:
                self._take(self._context.inbox.get_nowait())
        except queue.Empty:
            return

    def _take(self, message: object) -> bool:
        """Act on a message; tell whether it changes what can start next."""
        context = self._context
        match message:
            case AttemptProgress(issue_id, number, phase, text):
                self._jobs.progressed(message)
                self._limits.live.update(message)
                self._quota.seen(message)
                self._breakers_close(message)
                cost, tokens = message.used.cost_usd, message.used.tokens
                did = {"kind": message.kind, "file": message.file, "cost_usd": cost, "tokens": tokens}
                context.announce("progress", issue_id or None, {"number": number, "phase": phase, "text": text, **did})
                return False
            case MainSeen():
                context.tell_progress(message)
                return False
            case GateRan(issue_id, number, result, key, tests):
                if result.flaky:
                    context.journal.gate_flaky(context.clock.now(), issue_id, number, result)
                if key:
                    context.env.memory.remember(key, result)
                    context.journal.gate_recorded(context.clock.now(), key, result, tests)
                return False
            case GateAgain(issue_id, number, gate, line, beside=()):
                context.journal.gate_repeated(context.clock.now(), issue_id, number, gate, line)
                return False
            case GateAgain(issue_id, number, gate, line, beside):
                context.journal.gate_met(context.clock.now(), issue_id, number, gate, beside=beside, message=line)
                return False
            case UnsteadySeen():
                known, now = context.env.memory.all_unsteady(), context.clock.now()
                context.journal.unsteady(now, message.issue_id, message.gate, message.tests, known)
                return False
            case HostState():
                context.see_host(message)
            case Job():
                self._job_ended(message)
            case Stop(urgent):
                self._stop(urgent=urgent)
            case _:
                pass
        return True

    def _heed(self, message: object) -> bool:
        """Act on a message; tell whether a person wants the run to stop now."""
        self._take(message)
        return isinstance(message, Stop)

    def _job_ended(self, job: Job[Any]) -> None:
        self._context.keep_hold()
        if not self._jobs.ended(job):
            return  # the loop has begun anew since
        if job.kind in (JobKind.ATTEMPT, JobKind.QUESTION) and not self._jobs.attempts(job.issue_id):
            self._limits.ended(job.issue_id)
        failed = job.error is not None
        self._stations.ended(job)
        if not (failed or self._anew):
            self._faults.went_well(job.function, job.issue_id)
        if job.issue_id in self._withdrawn.keys() - self._jobs.issues():
            self._set_withdrawn(job.issue_id, self._withdrawn.pop(job.issue_id))

    def _attempt(self, order: AttemptOrder) -> Steps[None]:
        """Have the attempt of an order made, in its slot; record its report and decide what follows."""
        context, issue_id = self._context, order.issue.id
        report: AttemptReport | None = None
        failed = tuple[str, ...]()
        while True:
            job = self._job(order)
            try:
                report = yield job
                break
            except Exception as error:  # noqa: BLE001 - noface itself broke, and what the worker did is kept
                failed = (f"noface itself failed: {type(error).__name__}: {error}",)
                follows = self._met(error, job, issue_id)
                if not only_judged(order):
                    break  # as after a kill: what is in the workspace is kept, and another attempt goes on from it
                if follows is not After.AGAIN or self._drain_until is not None:
                    return  # it stays open: the next run judges it, and nobody pays for it again
                order = as_configured(context, replace(order, resumed=True))
        over, began_at = job.over, job.began_at
        notes = (*failed, *self._outside.after_attempt(order))
        context.suspects.discard(issue_id)
        if report is None:
            try:
                report = with_work(context, order, without_end(context, order))
            except (GitError, OSError):
                if self._broken is None:
                    raise
                return  # the next run keeps what is in the workspace, as after a kill
        report = self._stopped_with_noface(report)
        over = why_over(order, report, over)
        if over is not None and over.ended_for is EndedFor.RUN:
            self._limit = self._limit or over.passed.reason
        ended = Ended(order, of_its_model(context, order, report), notes, over, began_at)
        resumed = {each.issue.id for each in self._resumed}
        group = self._dispatch.candidates.ended(ended, resumed)
        for each in group[:-1]:
            if record_attempt(context, each.order, each.report, *each.notes, over=each.over, beside=each.beside):
                provider_answered(context, each.order.model.name, each.began_at, each.report)
        if group:
            self._settle(group[-1])

    def _job(self, order: AttemptOrder) -> Job[AttemptReport]:
        """Return the job that makes an attempt. Work that is only judged calls no model."""
        context = self._context
        return Job(
            JobKind.ATTEMPT,
            order.issue.id,
            lambda cancel: context.executor.carry_out(Attempt(order, context.scope(cancel))),
            order.slot,
            order.model.name,
            order.think,
            always=True,
            began_at=0.0 if order.resumed or order.finished else context.clock.now(),
            number=order.number,
        )

    def _settle(self, ended: Ended) -> None:
        """Record an attempt that has ended, and decide what follows."""
        context, order, report, over = self._context, ended.order, ended.report, ended.over
        model, notes, cut_off = order.model.name, ended.notes, isinstance(report, Interrupted)
        withdrawn = self._withdrawn.get(order.issue.id)
        if withdrawn is not None:
            notes = (*notes, f"the issue {withdrawn}")
        if not record_attempt(context, order, report, *notes, over=over):
            return
        if withdrawn is not None:
            move_branch(context, order.issue, context.reader.past(order.issue.id))  # where a person finds it
            return
        if cut_off and over is None and (self._drain_until is not None or self._limit):
            context.set_status(order.issue.id, IssueStatus.READY, "interrupted; goes on with the next run")
            return
        provider_answered(context, model, ended.began_at, report)
        count_lessons(context, order, report)
        if isinstance(report, Judged) and report.failure is not None and report.failure.rule in ASKED_ONCE:
            if model in context.unreachable:  # by an issue that ran beside it
                context.set_status(order.issue.id, IssueStatus.READY, report.failure.message)
                return
            context.unreachable[model] = report.failure.message
        proof = report.proof if isinstance(report, Judged) else None
        if isinstance(report, Judged) and report.failure is None:
            self._overrule_edited(order)
        decide_and_apply(context, self._landing, self._present(order.issue), proof)
        self._stop_without_room(order.issue, report.failure if not isinstance(report, Interrupted) else None)
        self._watch.lift_edited()  # a person may have edited it while the worker was at it

    def _stopped_with_noface(self, report: AttemptReport) -> AttemptReport:
        """Return a worker's crash in a run that is being stopped as an interruption.

        Whoever stops a service, a container or a session signals each of its processes, not noface alone.
        """
        if self._drain_until is None or not isinstance(report, Judged) or report.outcome != FailureKind.AGENT_CRASH:
            return report
        whose, left = (report.token, report.issue_id, report.number), (report.agent, report.snapshot, report.gates)
        return Interrupted(*whose, *left, report.notes, report.patch_hash, report.worker)

    def _end_withdrawn(self) -> None:
        """End the work on issues that people have closed, deleted or taken from noface."""
        under_way = self._jobs.issues() - self._landing.pushing  # what is on its way to a remote has left
        for issue_id in (under_way | self._landing.waiting) - self._withdrawn.keys():
            if why := self._watch.withdrew(issue_id):
                self._withdraw(issue_id, why)

    def _withdraw(self, issue_id: str, why: str) -> None:
        """End all work on an issue; where a job of it is under way, its status is settled once that has ended."""
        self._context.log_event("issue_withdrawn", issue_id, why=why)
        self._jobs.withdraw(issue_id)
        self._landing.drop(issue_id)
        if issue_id in self._jobs.issues():
            self._withdrawn[issue_id] = why
        else:
            self._set_withdrawn(issue_id, why)

    def _leave(self, issue_id: str, why: str) -> str:
        """End the work on an issue that people leave undone; return why not where that is late, else ""."""
        at_work = self._jobs.issues() | self._landing.waiting | self._landing.published
        if issue_id in self._landing.pushing or issue_id not in at_work:
            return "its work is landing just now"
        self._left[issue_id] = why
        self._withdraw(issue_id, f"was {why}")
        return ""

    def _set_withdrawn(self, issue_id: str, why: str) -> None:
        if left := self._left.pop(issue_id, ""):
            self._context.set_status(issue_id, IssueStatus.SKIPPED, left)
            return
        self._context.set_status(issue_id, IssueStatus.READY, f"the issue {why}; its work is kept")

    def _overrule_edited(self, order: AttemptOrder) -> None:
        """Send back what passed if a person has changed what its issue asks for, or rejected that very work before."""
        self._watch.refresh(at_once=True)
        edited = edited_since(self._context, self._present(order.issue), order.number)
        why = edited or rejected_before(self._context.reader.past(order.issue.id))
        if why is not None:
            self._context.journal.attempt_overruled(self._context.clock.now(), order.issue.id, order.number, why)

    def _look_again(self, entry: QueueEntry) -> Failure | Blocked | bool:
        """Look at an issue whose work is about to move main; withdrawn work is kept, what was approved is wanted.

        Whatever a person or another program has changed since it passed, the policy decides on it once more.
        """
        issue, context = entry.issue, self._context
        since = entry.ready_at or context.clock.now()
        if not all(other.has_looked(since) for other in self._others):
            return False
        self._watch.refresh(at_once=True)
        self._end_withdrawn()
        if issue.id not in self._landing.waiting:
            return False
        if context.reader.state(issue.id).status is not IssueStatus.LANDING:
            self._landing.drop(issue.id)
            return False
        if why := self._watch.not_now(issue.id):
            self._landing.drop(issue.id)
            context.set_status(issue.id, IssueStatus.READY, f"passed; {why}")
            return False
        if self._watch.only_on_branch(issue.id):
            main = context.env.plumbing.repository.main_name
            return Blocked(f"{main} does not have the issue any more, only the branch that is checked out")
        approved = any(each.attempt == entry.number for each in context.questions.approvals(issue.id))
        edited = None if approved else edited_since(context, self._present(issue), entry.number)
        past = history(context, self._present(issue))
        if edited is None and past.current and past.current[-1].number == entry.number:
            action = decide(context, past)
            if not isinstance(action, Land):
                self._landing.drop(issue.id)
                apply_action(context, self._landing, past, action)
                return False
        return edited or True

    def _breakers_close(self, message: AttemptProgress) -> None:
        """Close the breaker of a model that shows life: its probe has succeeded."""
        job = self._jobs.attempt(message.issue_id, message.number) if message.alive else None
        if job is not None and shows_life(self._context, job.model, job.began_at):
            answers_again(self._context, job.model, job.began_at)

    # Starting and landing

    def _rejected(self, entry: QueueEntry, failure: Failure) -> None:
        """Decide on work that passed alone and failed on the merge result."""
        self._context.journal.attempt_overruled(self._context.clock.now(), entry.issue.id, entry.number, failure)
        decide_and_apply(self._context, self._landing, self._present(entry.issue))
        self._stop_without_room(entry.issue, failure)

    def _judge_resumed(self) -> None:
        """Have work judged that an earlier run left done; what may have killed that run waits until it is alone."""
        for order in tuple(self._resumed):
            if self._drain_until is None and self._alone_enough(order.issue):
                remember_oom_kills(self._context)
                self._stations.begin(self._attempt(order))
                self._resumed.remove(order)

    def _start(self) -> Plan:
        planned = self._plan()
        self._limit = self._limit or self._limits.reached()
        if self._drain_until is not None or self._limit or self._resumed:
            return planned
        self._dispatch.begin_candidates()
        if self._context.settings.once and self._first_wave is None:
            self._first_wave = {issue.id for issue in planned.start}
            self._waves = bool(self._first_wave)
        refused = -1
        while refused < len(self._limits.refused):  # those that cannot be paid make room for others
            refused = len(self._limits.refused)
            admitted: Collection[str] = [issue.id for issue in planned.start if self._in_this_wave(issue)]
            for other in self._others:
                admitted = other.admitted(admitted)
            for issue in planned.start:
                if issue.id not in admitted:
                    continue
                if not self._alone_enough(issue):
                    break
                if self._jobs.free and not self._limits.reached():
                    self._bulkhead(partial(self._begin, issue), issue.id)
                    if self._anew:
                        return planned
                    self._dispatch.begin_candidates()
            planned = self._plan() if refused < len(self._limits.refused) else planned
        return planned

    def _alone_enough(self, issue: Issue) -> bool:
        """True if an issue may start beside those at work: one that may kill noface works alone.

        Else the next death would say nothing of any.
        """
        working, suspects = self._jobs.issues(JobKind.ATTEMPT, JobKind.LANDING), self._context.suspects
        return not working or not (suspects & working or issue.id in suspects)

    def _in_this_wave(self, issue: Issue) -> bool:
        return self._first_wave is None or issue.id in self._first_wave

    def _begin(self, issue: Issue) -> None:
        context = self._context
        if self._checks.needed(issue):
            self._checks.begin(issue)
            return
        if (kept := self._kept.due(issue)) is not None:
            self._kept.begin(issue, kept)
            return
        self._outside.before_attempt(alone=not self._jobs.issues(JobKind.ATTEMPT))
        remember_oom_kills(context)
        match self._dispatch.begin(issue, self._checks.failing(issue)):
            case Begun.ATTEMPT:
                self._limits.attempt_started()
                if self._first_wave is not None:
                    self._first_wave.discard(issue.id)
            case Begun.ANSWERED:
                context.backlog_changed()
            case Begun.QUESTION | Begun.UNPAID | Begun.NOTHING:
                pass

    def _look_at_blocked(self) -> None:
        """Gate the work of blocked issues again on what main has become, where a slot is free."""
        if self._drain_until is not None or not self._jobs.free:
            return
        if (blocked := self._kept.blocked()) is not None:
            self._kept.begin(*blocked)

    def _hold_budgets(self) -> None:
        if self._drain_until is None:
            self._quota.step()
            passed = self._guard.hold()
            self._limit = self._limit or passed

    def _close_epics(self) -> None:
        """Check the epics whose parts have all landed; take back those with parts that cannot be done."""
        if self._drain_until is not None:
            return
        for issue in self._epics.take_back():
            self._context.backlog_changed()
            decide_and_apply(self._context, self._landing, issue)
        for issue in self._epics.ready():
            if self._jobs.free:
                self._epics.begin(issue)

    # State

    def _plan(self) -> Plan:
        busy = self._jobs.issues() | self._limits.refused.keys()
        busy |= {order.issue.id for order in self._resumed}.union(*(other.busy for other in self._others))
        if self._first_wave is not None:  # who does not start again in this run holds up nobody
            busy |= self._context.reader.lost_to_main().keys() - self._first_wave
        wanted, states = self._watch.wanted(), self._context.reader.states()
        late = {*self._limits.late(wanted, states), *ended_suddenly(self._context)}
        at_work = self._jobs.issues(JobKind.ATTEMPT, JobKind.QUESTION) | self._landing.due
        working = tuple(issue for issue in self._context.issues if issue.id in at_work)
        probed = self._jobs.probed(self._context.reader.waits())
        changed = {name: frozenset(files) for name, files in self._jobs.changed.items()}
        under_way = Contest(busy=working, changed=changed)
        seen: tuple[object, ...] = (
            wanted,
            self._context.reader.mark(),
            frozenset(busy),
            self._jobs.free,
            probed,
            late,
            under_way,
        )
        # In most ticks nothing has happened, and a plan of tens of thousands takes longer than all else.
        if seen != self._planned_for or self._context.clock.now() >= self._planned_until:
            issues = tuple(issue for issue in wanted if issue.id not in busy)
            planned = plan_tick(self._context, issues, states, self._jobs.free, probed, under_way, late)
            times = (each.until for each in planned.waiting if each.until is not None)
            self._planned, self._planned_for, self._planned_until = planned, seen, min(times, default=math.inf)
        planned = self._planned
        waiting = (wait for other in self._others for wait in other.waiting)
        return replace(planned, waiting=(*planned.waiting, *waiting))

    def _present(self, issue: Issue) -> Issue:
        """Return an issue as it is now, with what was agreed since its order was made."""
        return self._watch.issue(issue.id) or issue

    def _idle(self) -> bool:
        landing = self._landing.busy if self._drain_until is None else self._landing.working
        stopping = self._drain_until is not None
        others = any(other.at_work(stopping=stopping) for other in self._others)
        return not (self._anew or self._jobs.issues() or landing or others)

    def _settle_unfinished(self) -> None:
        """Decide on the issues that an earlier run left unfinished: attempts without an action, landings."""
        states = self._context.reader.states()
        unfinished = [each for each in self._watch.backlog.issues if states[each.id].status in _UNFINISHED]
        for issue in unfinished:
            row = self._context.reader.issue(issue.id)
            if row is None or issue.id in self._jobs.issues() | {order.issue.id for order in self._resumed}:
                continue
            if row.status == IssueStatus.LANDING and self._landing.resume(issue):
                continue
            if row.status in _UNFINISHED:
                decide_and_apply(self._context, self._landing, issue)

    # The end

    def _sleep(self, planned: Plan) -> bool:
        """Wait for a retry time, if nothing else can happen before it; False if there is nothing to wait for."""
        context = self._context
        if self._drain_until is not None or self._limit or self._refused:
            return False
        if any(self._in_this_wave(issue) for issue in planned.start):
            return True
        if not self._jobs.free:  # with [run] workers = 0, until a host is there
            context.clock.sleep(_TICK_S)
            return True
        if (patience := self._for_others()) is not None:
            if patience.reason:
                self._say_waiting(patience.until, patience.reason)
            context.clock.sleep(_TICK_S)
            return True
        timed = [] if context.settings.once else [each for each in planned.waiting if each.until is not None]
        refused = {each.issue_id: too_long(context, each) for each in timed}
        timed = [each for each in timed if not refused[each.issue_id]]
        if not timed:
            self._limit = next((why for why in (*self._limits.refused.values(), *refused.values()) if why), "")
            if context.settings.watch and not self._limit:
                self._say_waiting(self._limits.ends_at, "for new issues (--watch)")
                context.clock.sleep(_TICK_S)
            return context.settings.watch and not self._limit
        waiting = min(timed, key=lambda each: each.until or 0.0)
        until = waiting.until or 0.0
        if self._limits.too_late(until):
            limit = f"--until {context.settings.until}" if context.settings.until else "the limit max_hours"
            self._limit = f"stopped at {limit}, which waiting would pass: {waiting.reason}"
            return False
        self._say_waiting(until, waiting.reason, waiting.model)
        context.clock.sleep(min(_TICK_S, max(0.0, until - context.clock.now())))
        return True

    def _for_others(self) -> Patience | None:
        """Return why a run with nothing else to do waits for another machine, None if it may end."""
        once = self._context.settings.once
        patience = _first(other.patience(once=once) for other in self._others)
        if patience is not None or once:
            return patience
        outage = self._unread()
        if outage is not None and not self._outlasts(outage.until):
            self._outage = self._outage or outage  # told once, whatever each try says
            return self._outage
        self._outage = None
        wait = _first(other.next_try() for other in self._others)
        return wait if wait is not None and not self._limits.too_late(wait.until) else None

    @property
    def _refused(self) -> str:
        """Why no more work is begun, "" if it is."""
        return next(filter(None, (other.refused for other in self._others)), "")

    def _unread(self) -> Patience | None:
        """Return until when, and why, what is new elsewhere cannot be read."""
        return _first(other.unread() for other in self._others)

    def _outlasts(self, until: float) -> bool:
        """True if a host is away longer than an outage is waited for, counted from the beginning of the run."""
        longest = self._began_at + self._context.settings.policy.outage_max_s
        return max(until, self._context.clock.now()) > longest or bool(self._limits.too_late(until))

    def _say_waiting(self, until: float, reason: str, model: str = "") -> None:
        data = {"until": until, "seconds": max(0.0, until - self._context.clock.now()), "model": model or None}
        self._context.announce("waiting", None, {**data, "reason": reason})

    def _ended(self, planned: Plan) -> RunResult:
        if self._broken is None:
            self._stations.close(self._heed)
        return run_result(
            self._context,
            broken=self._broken,
            stopped=self._drain_until is not None,
            limit=self._limits.in_the_end(self._limit),
            refused=self._refused,
            unread=self._unread(),
            work_left=bool(planned.start or planned.waiting or self._limits.refused or self._watched_to_its_end()),
            faulty=bool(self._watch.backlog.faults),
            once=self._once(planned),
            withdrawn=[row.id for row in self._context.reader.issues() if self._watch.withdrew(row.id)],
        )

    def _watched_to_its_end(self) -> bool:
        """True if the run waited for new issues until its time was over: that is why it ends, whatever is left."""
        return self._context.settings.watch and self._limits.too_late(self._context.clock.now())

    def _once(self, planned: Plan) -> str:
        """Say why nothing more starts where `--once` is the reason."""
        if not self._context.settings.once or not (planned.start or any(w.until is not None for w in planned.waiting)):
            return ""
        if not self._waves:
            return "nothing was ready to start, and --once waits for nothing; `noface run` does"
        workers = self._context.settings.slots
        return f"settled what --once started, at most {workers} at once; `noface run` goes on with the rest"

    def _break(self, error: BaseException) -> None:
        """End the run, charging nobody: noface itself failed (disk full, git broken)."""
        self._broken = self._broken or error
        self._stop(urgent=False)

    def _stop_without_room(self, issue: Issue, failure: Failure | None) -> None:
        """End the run where the disk is full, or where a worker says so after it was run again."""
        if failure is None or failure.rule not in (DISK_FULL, DISK_SEEMS_FULL):
            return
        epoch = self._context.reader.state(issue.id).epoch
        past = [attempt for attempt in self._context.reader.past(issue.id) if attempt.epoch == epoch]
        if failure.rule == DISK_FULL or outside_failures(past) > OUTSIDE_REPEATS_MAX:
            self._break(disk_full_error(failure))

    def _stop(self, *, urgent: bool) -> None:
        """First time: start nothing, end the workers, let what is being judged finish soon. Urgent: end all now."""
        now = self._context.clock.now()
        if self._drain_until is None:
            self._context.announce("stopping", None, {})
        self._drain_until = self._drain_until or now + _DRAIN_S
        self._stations.stopping = True
        self._hurried = self._hurried or urgent
        self._jobs.stop(everything=now >= self._drain_until, urgent=urgent)
