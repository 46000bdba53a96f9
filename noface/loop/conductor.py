"""The loop. Each tick re-reads what is and decides; a restart is an ordinary tick (law 7).

Worker threads put messages into the inbox; only this thread writes state.
"""

import queue
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from noface.core.backlog import without_unknown_models
from noface.core.model import AttemptOrder, AttemptReport, Backlog, Issue
from noface.core.schedule import Plan, plan
from noface.core.taxonomy import IssueStatus
from noface.errors import EXIT_ATTENTION, EXIT_DONE, EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_LIMIT, NofaceError
from noface.git.repo import scratch_branch
from noface.loop.context import RunContext
from noface.loop.landing import MergeQueue, Rejected
from noface.loop.orders import make_order
from noface.loop.perform import decide, settle
from noface.loop.precheck import AcceptChecked, check_accept
from noface.loop.recover import record_order
from noface.loop.workshop import GateRan, Progress
from noface.system.failpoints import hit
from noface.system.supervise import Canceller

_TICK_S = 0.5
_DRAIN_S = 30.0


@dataclass(frozen=True, slots=True)
class AttemptEnded:
    """Message to the loop: an attempt's future is done."""

    token: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Message to the loop: a person wants it to stop; `urgent` at once."""

    urgent: bool


@dataclass(slots=True)
class Running:
    """An attempt under way and the phase it was last seen in."""

    order: AttemptOrder
    future: "Future[AttemptReport]"
    phase: str = "workspace"
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended: the exit code of DESIGN, and why, for a person."""

    exit_code: int
    why: str


class Conductor:
    """Works through the backlog until nothing is left that it can do, or a limit or a person stops it."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._landing = MergeQueue(context)
        self._running: dict[str, Running] = {}
        self._checks: dict[str, int] = {}
        self._check_pool = ThreadPoolExecutor(context.settings.workers, thread_name_prefix="accept")
        self._check_cancel = Canceller()
        self._free = list(range(context.settings.workers))
        self._accept_failing: dict[tuple[str, str], int] = {}
        self._backlog = Backlog()
        self._fingerprint = ""
        self._started = 0
        self._began_at = context.clock.now()
        self._drain_until: float | None = None
        self._broken: BaseException | None = None
        self._limit = ""
        self._first_wave: set[str] | None = None

    def run(self, resumed: tuple[AttemptOrder, ...] = ()) -> Ended:
        """Run until done. `resumed` are attempts of a former run whose work only needs judging."""
        try:
            self._refresh()
            for order in resumed:
                self._submit(order)
            self._resume_landings()
            while True:
                self._land()
                planned = self._start()
                if self._idle() and not self._sleep(planned):
                    return self._ended(planned)
                self._receive()
                self._refresh()
        finally:
            self._close()

    # What comes in

    def _receive(self) -> None:
        """Take what has come in; return once something has changed, or after a tick.

        Mere progress is shown and no reason to look at the backlog again.
        """
        deadline = time.monotonic() + self._tick_s()
        changed = False
        try:
            while not changed:
                changed = self._take(self._context.inbox.get(timeout=max(0.0, deadline - time.monotonic())))
            while True:
                self._take(self._context.inbox.get_nowait())
        except queue.Empty:
            return

    def _take(self, message: object) -> bool:
        """Act on a message; tell whether it changes what can be done next."""
        context = self._context
        match message:
            case Progress():
                self._progress(message)
                return False
            case GateRan(key, result):
                context.memo[key] = result
                context.journal.gate_recorded(context.clock.now(), key, result)
                return False
            case AttemptEnded(token):
                self._attempt_ended(self._running.pop(token))
            case AcceptChecked():
                self._accept_checked(message)
            case Stop(urgent):
                self._stop(urgent=urgent)
            case _:
                pass  # a proof is done: the landing queue looks at its own job
        return True

    def _progress(self, progress: Progress) -> None:
        for running in self._running.values():
            if running.order.issue.id == progress.issue_id:
                running.phase = progress.phase
        self._context.announce(
            "progress",
            progress.issue_id,
            {"number": progress.number, "phase": progress.phase, "text": progress.text},
        )

    def _attempt_ended(self, running: Running) -> None:
        context, order = self._context, running.order
        self._free.append(order.slot)
        error = running.future.exception()
        if error is not None:
            self._break(order, error)
            return
        report = running.future.result()
        charged = not report.interrupted and (report.failure is None or report.failure.charged)
        if not context.journal.attempt_finished(context.clock.now(), report, charged=charged, notes=_notes(report)):
            return  # fenced: somebody has settled this attempt already
        hit("attempt_recorded")
        if not report.interrupted or self._drain_until is None:
            settle(context, self._landing, order.issue, self._epoch(order.issue.id), report.proof)
            self._unblock_edited()  # a person may have edited it while the worker was at it
        else:
            context.journal.status(
                context.clock.now(), order.issue.id, IssueStatus.READY, "interrupted; goes on next run"
            )

    def _break(self, order: AttemptOrder, error: BaseException) -> None:
        """End the run in good order, charging nobody: noface itself failed (disk full, git broken)."""
        context = self._context
        now = context.clock.now()
        report = AttemptReport(order.token, order.issue.id, order.number, None, None, interrupted=True)
        context.journal.attempt_finished(now, report, charged=False, notes=(f"noface failed: {error}",))
        context.journal.status(now, order.issue.id, IssueStatus.READY, f"noface failed: {error}")
        self._broken = self._broken or error
        self._stop(urgent=False)

    def _accept_checked(self, checked: AcceptChecked) -> None:
        context = self._context
        self._free.append(self._checks.pop(checked.issue_id))
        issue = self._issue(checked.issue_id)
        now = context.clock.now()
        if issue is None or checked.interrupted:
            return
        if checked.failure is not None:
            reason = f"its accept command cannot be run: {checked.failure.message}"
            context.journal.blocked(now, issue.id, reason, _accept_block(issue, checked))
        elif checked.failing == 0:
            context.journal.status(
                now, issue.id, IssueStatus.SKIPPED, "already satisfied: its accept commands pass on main"
            )
        else:
            self._accept_failing[issue.id, issue.content_hash] = checked.failing

    # What goes out

    def _land(self) -> None:
        for rejected in self._landing.step():
            self._overrule(rejected)

    def _overrule(self, rejected: Rejected) -> None:
        context, entry = self._context, rejected.entry
        context.journal.attempt_overruled(context.clock.now(), entry.issue.id, entry.number, rejected.failure)
        settle(context, self._landing, entry.issue, self._epoch(entry.issue.id))

    def _start(self) -> Plan:
        context = self._context
        planned = self._plan()
        self._limit = self._limit or self._limit_reached()
        if self._drain_until is not None or self._limit:
            return planned
        if context.settings.once:
            if self._first_wave is None:
                self._first_wave = {issue.id for issue in planned.start}
            if not self._first_wave:
                return planned
        for issue in planned.start:
            if not self._free or self._limit_reached():
                break
            if self._first_wave is not None and issue.id not in self._first_wave:
                continue
            self._begin(issue)
        return planned

    def _begin(self, issue: Issue) -> None:
        context = self._context
        key = (issue.id, issue.content_hash)
        if issue.accept and key not in self._accept_failing and not context.reader.past(issue.id):
            slot = self._free.pop(0)
            self._checks[issue.id] = slot
            self._check_pool.submit(self._check, issue, slot)
            return
        state = context.reader.states()[issue.id]
        action = decide(context, issue, state.epoch)
        model = getattr(action, "model", None)
        if model is None:
            settle(context, self._landing, issue, state.epoch)
            return
        failing = self._accept_failing.get(key, 1) if issue.accept else None
        slot = self._free.pop(0)
        order, prompt_hash = make_order(context, issue, model, slot, state.note, failing)
        context.journal.attempt_started(
            context.clock.now(),
            order,
            epoch=state.epoch,
            prompt_hash=prompt_hash,
            branch=scratch_branch(issue.id).removeprefix("refs/heads/"),
        )
        record_order(order)
        hit("attempt_started")
        self._started += 1
        if self._first_wave is not None:
            self._first_wave.discard(issue.id)
        self._submit(order)

    def _submit(self, order: AttemptOrder) -> None:
        if order.slot in self._free:
            self._free.remove(order.slot)
        future = self._context.executor.submit(order)
        self._running[order.token] = Running(order, future)
        future.add_done_callback(lambda _: self._context.inbox.put(AttemptEnded(order.token)))

    def _check(self, issue: Issue, slot: int) -> None:
        try:
            checked = check_accept(self._context, issue, slot, self._check_cancel)
        except NofaceError as error:
            self._broken = self._broken or error
            checked = AcceptChecked(issue.id, interrupted=True)
            self._context.inbox.put(Stop(urgent=False))
        self._context.inbox.put(checked)

    # What is

    def _refresh(self) -> None:
        context = self._context
        fingerprint = context.tracker.fingerprint()
        if fingerprint == self._fingerprint:
            return
        merged = _merged_ids(context)
        backlog = context.tracker.backlog(merged)
        self._backlog = without_unknown_models(backlog, context.settings.models)
        self._fingerprint = fingerprint
        context.journal.sync_backlog(self._backlog, fingerprint)
        self._unblock_edited()

    def _unblock_edited(self) -> None:
        """Let a blocked issue whose text a person has edited go on (N14)."""
        context = self._context
        states = context.reader.states()
        for issue in self._backlog.issues:
            state = states[issue.id]
            if state.status in (IssueStatus.BLOCKED, IssueStatus.SKIPPED) and state.content_hash != issue.content_hash:
                context.journal.unblocked(context.clock.now(), issue.id, "", "its text was edited")

    def _plan(self) -> Plan:
        context = self._context
        states = context.reader.states()
        wanted = context.settings.only_issues
        issues = tuple(i for i in self._backlog.issues if not wanted or i.id in wanted)
        waits = context.reader.waits()
        models = {}
        if waits:
            for issue in issues:
                state = states[issue.id]
                if state.status in (IssueStatus.READY, IssueStatus.WAITING):
                    models[issue.id] = str(getattr(decide(context, issue, state.epoch), "model", ""))
        busy = {order.order.issue.id for order in self._running.values()} | set(self._checks)
        issues = tuple(i for i in issues if i.id not in busy)
        return plan(issues, states, models, waits, len(self._free), context.clock.now())

    def _issue(self, issue_id: str) -> Issue | None:
        return next((issue for issue in self._backlog.issues if issue.id == issue_id), None)

    def _epoch(self, issue_id: str) -> int:
        row = self._context.reader.issue(issue_id)
        return int(row["epoch"]) if row is not None else 0

    def _idle(self) -> bool:
        return not self._running and not self._checks and not self._landing.busy

    def _tick_s(self) -> float:
        if self._drain_until is not None and self._context.clock.now() >= self._drain_until:
            for running in self._running.values():
                self._cancel(running, urgent=False)
        return 0.0 if self._idle() else _TICK_S

    def _resume_landings(self) -> None:
        context = self._context
        for issue in self._backlog.issues:
            row = context.reader.issue(issue.id)
            if row is None or issue.id in {r.order.issue.id for r in self._running.values()}:
                continue
            if row["status"] in (IssueStatus.RUNNING, IssueStatus.LANDING):
                settle(context, self._landing, issue, row["epoch"])

    # How it ends

    def _limit_reached(self) -> str:
        settings, context = self._context.settings, self._context
        if settings.attempts_max is not None and self._started >= settings.attempts_max:
            return f"max_iterations reached: {self._started} attempts started"
        if settings.seconds_max is not None and context.clock.now() - self._began_at >= settings.seconds_max:
            return f"max_hours reached: {settings.seconds_max / 3600:g} h"
        if settings.cost_usd_max is not None:
            spent = context.reader.spent(context.run_id)
            if spent >= settings.cost_usd_max:
                return f"max_cost_usd reached: ${spent:.2f} of ${settings.cost_usd_max:.2f}"
        return ""

    def _sleep(self, planned: Plan) -> bool:
        """Wait for a retry time where that is all there is to wait for; False where there is nothing."""
        context = self._context
        if self._drain_until is not None or self._limit:
            return False
        if planned.start and (self._first_wave is None or self._first_wave):
            return True
        times = [waiting.until for waiting in planned.waiting if waiting.until is not None]
        if not times or context.settings.once:
            return False
        now = context.clock.now()
        until = min(times)
        limit = context.settings.seconds_max
        if limit is not None and until > self._began_at + limit:
            self._limit = f"max_hours would be reached while waiting: {planned.waiting[0].reason}"
            return False
        context.announce("waiting", None, {"until": until, "seconds": max(0.0, until - now)})
        context.clock.sleep(min(_TICK_S, max(0.0, until - now)))
        return True

    def _ended(self, planned: Plan) -> Ended:
        if self._broken is not None:
            message = getattr(self._broken, "message", "") or f"{type(self._broken).__name__}: {self._broken}"
            return Ended(EXIT_FAILURE, message)
        if self._drain_until is not None:
            return Ended(EXIT_INTERRUPTED, "interrupted; `noface run` goes on where it was")
        if self._limit and (planned.start or planned.waiting):
            return Ended(EXIT_LIMIT, self._limit)
        rows = [row for row in self._context.reader.issues() if row["present"]]
        wanted = self._context.settings.only_issues
        unsettled = [
            row["id"]
            for row in rows
            if row["status"] not in (IssueStatus.MERGED, IssueStatus.SKIPPED) and (not wanted or row["id"] in wanted)
        ]
        if unsettled or self._backlog.faults:
            return Ended(EXIT_ATTENTION, "finished; some issues need a person")
        return Ended(EXIT_DONE, "all done")

    def _stop(self, *, urgent: bool) -> None:
        """First time: start nothing, end the workers, let what is being judged finish soon. Urgent: end all now."""
        self._drain_until = self._drain_until or self._context.clock.now() + _DRAIN_S
        self._check_cancel.cancel(urgent=urgent)
        for running in self._running.values():
            if urgent or running.phase in ("workspace", "agent"):
                self._cancel(running, urgent=urgent)
        if urgent:
            self._landing.close(urgent=True)

    def _cancel(self, running: Running, *, urgent: bool) -> None:
        if urgent or not running.cancelled:
            running.cancelled = True
            self._context.executor.cancel(running.order.token, urgent=urgent)

    def _close(self) -> None:
        self._check_cancel.cancel()
        for running in self._running.values():
            self._cancel(running, urgent=True)
        self._landing.close()
        self._check_pool.shutdown(wait=True)
        self._context.executor.close()


def _merged_ids(context: RunContext) -> tuple[str, ...]:
    return tuple(state.id for state in context.reader.states().values() if state.status is IssueStatus.MERGED)


def _notes(report: AttemptReport) -> tuple[str, ...]:
    snapshot = report.snapshot
    notes = list(report.notes)
    if snapshot is not None and snapshot.protected_edits:
        notes.append(f"protected files put back: {', '.join(snapshot.protected_edits[:10])}")
    if report.agent is not None and report.agent.survivors_killed:
        notes.append(f"{report.agent.survivors_killed} process(es) the worker left behind were ended")
    return tuple(notes)


def _accept_block(issue: Issue, checked: AcceptChecked) -> dict[str, object]:
    failure = checked.failure
    assert failure is not None  # noqa: S101 - the caller looked
    return {
        "kind": failure.kind.value,
        "summary": f"{failure.kind}: its accept command cannot be run: {failure.message}",
        "tried": [],
        "errors": [failure.message, *failure.evidence[-3:]],
        "unclear": [],
        "questions": [],
        "options": ["correct the command", "install what it needs"],
        "next_steps": [f"Correct `accept` in {issue.source}, or install what it calls; then run noface again."],
        "commands": [f"$EDITOR {issue.source}", f"noface retry {issue.id}"],
    }
