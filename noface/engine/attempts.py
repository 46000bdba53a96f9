"""The stories of attempts: each is made in a slot, its report is recorded, and what follows is decided."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from noface.attempt.attempt import Attempt
from noface.attempt.run import only_judged
from noface.engine.candidates import Candidates, Ended
from noface.engine.context import RunContext
from noface.engine.dispatch import decide_and_apply, record_attempt, why_over
from noface.engine.faults import After
from noface.engine.jobs import Job, JobKind, Jobs
from noface.engine.landing.waiting import QueueEntry
from noface.engine.lessons import count_lessons
from noface.engine.outages import of_its_model, provider_answered
from noface.engine.outside import OutsideChanges, edited_since, move_branch, rejected_before
from noface.engine.parts import RunParts
from noface.engine.planner import Ending, disk_error
from noface.engine.prompt_context import history_of
from noface.engine.recover import as_configured, remember_oom_kills, with_work, without_end
from noface.engine.stations import Steps
from noface.engine.withdrawals import Withdrawals
from noface.errors import GitError
from noface.model.attempt import AttemptOrder, AttemptReport, Interrupted, Judged
from noface.model.budget import EndedFor
from noface.model.failure import OUT_OF_REACH, TOOLS_DENIED, Failure
from noface.model.gate import Proof
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind, IssueStatus
from noface.recovery.rules_passed import asked_whether_whole
from noface.recovery.sudden_ends import NEVER_WORKED

_ASKED_ONCE = (OUT_OF_REACH, TOOLS_DENIED, NEVER_WORKED)
"""Rules of failures for which a person is asked once a run, whatever the number of issues."""
Met = Callable[[BaseException, Job[Any] | None, str], After]


class Attempts:
    """Has attempts made. `resumed` are those of an earlier run; `met` says what follows an error."""

    _run: RunParts
    _candidates: Candidates

    def __init__(self, context: RunContext, jobs: Jobs, withdrawals: Withdrawals, ending: Ending, met: Met) -> None:
        self._context, self._jobs, self._withdrawals = context, jobs, withdrawals
        self._ending, self._met = ending, met
        self._outside = OutsideChanges(context)
        self.resumed: list[AttemptOrder] = []

    def connect(self, run: RunParts, candidates: Candidates) -> None:
        self._run, self._candidates = run, candidates

    def resume(self) -> None:
        """Have work judged that an earlier run left done; what may have killed that run waits until it is alone."""
        for order in tuple(self.resumed):
            if not self._ending.stopping and self.alone_enough(order.issue):
                remember_oom_kills(self._context)
                self._run.stations.begin(self.story(order))
                self.resumed.remove(order)

    def alone_enough(self, issue: Issue) -> bool:
        """True if an issue may start beside those at work: one that may kill noface works alone."""
        working, suspects = self._jobs.issues(JobKind.ATTEMPT, JobKind.LANDING), self._context.suspects
        return not working or not (suspects & working or issue.id in suspects)

    def before_attempt(self) -> None:
        self._outside.before_attempt(alone=not self._jobs.issues(JobKind.ATTEMPT))
        remember_oom_kills(self._context)

    def story(self, order: AttemptOrder) -> Steps[None]:
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
                if follows is not After.AGAIN or self._ending.stopping:
                    return  # it stays open: the next run judges it, and nobody pays for it again
                order = as_configured(context, replace(order, resumed=True))
        over, began_at = job.over, job.began_at
        notes = (*failed, *self._outside.after_attempt(order))
        context.suspects.discard(issue_id)
        if report is None:
            try:
                report = with_work(context, order, without_end(context, order))
            except (GitError, OSError):
                if self._ending.broken is None:
                    raise
                return  # the next run keeps what is in the workspace, as after a kill
        if self._ending.stopping and isinstance(report, Judged) and report.outcome == FailureKind.AGENT_CRASH:
            # Whoever stops a service, a container or a session signals each of its processes, not noface alone.
            whose, left = (report.token, report.issue_id, report.number), (report.agent, report.snapshot, report.gates)
            report = Interrupted(*whose, *left, report.notes, report.patch_hash, report.worker)
        over = why_over(order, report, over)
        if over is not None and over.ended_for is EndedFor.RUN:
            self._ending.reached(over.passed.reason)
        ended = Ended(order, of_its_model(context, order, report), notes, over, began_at)
        group = self._candidates.ended(ended, {each.issue.id for each in self.resumed})
        for each in group[:-1]:
            if record_attempt(context, each.order, each.report, *each.notes, over=each.over, beside=each.beside):
                provider_answered(context, each.order.model.name, each.began_at, each.report)
        if group:
            self._settle(group[-1])

    def _job(self, order: AttemptOrder) -> Job[AttemptReport]:
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
        context, order, report, over = self._context, ended.order, ended.report, ended.over
        withdrawn = self._withdrawals.why.get(order.issue.id)
        notes = ended.notes if withdrawn is None else (*ended.notes, f"the issue {withdrawn}")
        if not record_attempt(context, order, report, *notes, over=over):
            return
        if withdrawn is not None:
            move_branch(context, order.issue, context.reader.past(order.issue.id))  # where a person finds it
            return
        if isinstance(report, Interrupted) and over is None and (self._ending.stopping or self._ending.limit):
            context.set_status(order.issue.id, IssueStatus.READY, "interrupted; goes on with the next run")
            return
        provider_answered(context, order.model.name, ended.began_at, report)
        count_lessons(context, order, report)
        failure = report.failure if not isinstance(report, Interrupted) else None
        if isinstance(report, Judged) and failure is not None and failure.rule in _ASKED_ONCE:
            if order.model.name in context.unreachable:  # by an issue that ran beside it
                context.set_status(order.issue.id, IssueStatus.READY, failure.message)
                return
            context.unreachable[order.model.name] = failure.message
        if isinstance(report, Judged) and failure is None:
            watch = self._run.watch
            watch.refresh()
            edited = edited_since(context, watch.issue(order.issue.id) or order.issue, order.number)
            why = edited or rejected_before(context.reader.past(order.issue.id))
            why = why or asked_whether_whole(history_of(context, order.issue), context.settings.policy)
            if why is not None:
                context.journal.attempt_overruled(context.clock.now(), order.issue.id, order.number, why)
        self._decide(order.issue, failure, report.proof if isinstance(report, Judged) else None)
        self._run.watch.lift_edited()  # a person may have edited it while the worker was at it

    def rejected(self, entry: QueueEntry, failure: Failure) -> None:
        self._context.journal.attempt_overruled(self._context.clock.now(), entry.issue.id, entry.number, failure)
        self._decide(entry.issue, failure)

    def _decide(self, issue: Issue, failure: Failure | None, proof: Proof | None = None) -> None:
        run = self._run
        decide_and_apply(run.context, run.queue, run.watch.issue(issue.id) or issue, proof)
        if (error := disk_error(run.context.reader, issue, failure)) is not None:
            self._met(error, None, "")
