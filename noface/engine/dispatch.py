"""Decides on issues, carries decisions out, and begins what is due. The only caller of the policy in a run."""

from collections.abc import Callable, Collection, Mapping
from enum import Enum, auto
from functools import partial
from typing import assert_never

from noface.engine.advisors import Advisors
from noface.engine.attempt import run_attempt
from noface.engine.budget_guard import RunLimits, estimates
from noface.engine.context import Planning, RunContext
from noface.engine.jobs import Job, JobKind, Jobs
from noface.engine.landing import Entry, MergeQueue
from noface.engine.orders import make_order
from noface.engine.outside import move, taken, wait_for_person
from noface.engine.prompt_context import history_of
from noface.git.refs import scratch_branch
from noface.model.actions import (
    Absence,
    Action,
    Ask,
    AwaitIssues,
    Block,
    Land,
    RequestApproval,
    Run,
    Skip,
    WaitUntil,
    model_of,
)
from noface.model.attempt import AttemptOrder, AttemptReport, PastAttempt
from noface.model.budget import Overrun
from noface.model.gate import Proof
from noface.model.history import History
from noface.model.issue import Issue, IssueState
from noface.model.taxonomy import Category, FailureKind, IssueStatus
from noface.process.command import Canceller
from noface.process.failpoints import hit
from noface.prompts.partial import accumulate, steps_of
from noface.recovery.blocked import approval_document, block_document
from noface.recovery.policy import next_action
from noface.recovery.policy_state import charged
from noface.recovery.schedule import Plan, plan, tripped
from noface.secrets.masked_records import masked_issue
from noface.store.records import IssueRow

_OF_A_PROVIDER = tuple(kind.value for kind in FailureKind if kind.category is Category.TRANSIENT)


def lift_blocks(context: RunContext, kinds: Collection[str], why: str) -> None:
    """Give back the issues that were blocked for one of `kinds`. Their counters start again (N14)."""
    for row in _blocked(context, kinds):
        context.journal.unblocked(context.clock.now(), row.id, "", why)


def lift_raised(context: RunContext) -> None:
    """Give back the issues whose money was spent, where they may spend more by now; what they spent stays counted."""
    for row in context.reader.issues():
        if row.status != IssueStatus.BLOCKED or not row.present or not _told(row, "limit"):
            continue
        issue = next((each for each in context.issues if each.id == row.id), None)
        if issue is not None and not isinstance(decide(context, history(context, issue)), Block):
            reason = f"{_told(row, 'limit')} of [retry] was raised"
            context.journal.status(context.clock.now(), issue.id, IssueStatus.READY, reason)


def answers_again(context: RunContext, model: str) -> None:
    """Close a model's circuit breaker: its provider has answered. Who was blocked for that may try again (N1).

    Once an issue and run: two issues must not give each other back for ever while a provider answers now and then.
    """
    if model not in context.reader.waits():
        return
    context.journal.wait_over(model)
    for row in _blocked(context, _OF_A_PROVIDER):
        if row.model == model and row.id not in context.given_back:
            context.given_back.add(row.id)
            context.journal.unblocked(context.clock.now(), row.id, "", f"{model} answers again; tried again")


def _blocked(context: RunContext, kinds: Collection[str]) -> list[IssueRow]:
    rows = (row for row in context.reader.issues() if row.status == IssueStatus.BLOCKED and row.present)
    return [row for row in rows if _told(row, "kind") in kinds]


def _told(row: IssueRow, key: str) -> str:
    return str(row.block.get(key, "")) if row.block is not None else ""


_PATHS_SHOWN_MAX = 10


def record_attempt(
    context: RunContext, order: AttemptOrder, report: AttemptReport, *more_notes: str, over: Overrun | None = None
) -> bool:
    """Record a report; False where the attempt was fenced: somebody has settled it already (I10).

    `over` is why it was ended for money, where it was.
    """
    issue_id, settings = order.issue.id, context.settings
    epoch = context.reader.state(issue_id).epoch
    costs = charged(report, tuple(past for past in context.reader.past(issue_id) if past.epoch == epoch))
    applied = context.journal.attempt_finished(
        context.clock.now(),
        report,
        charged=costs,
        notes=(*_notes(report), *more_notes, *((over.note,) if over is not None else ())),
        partial=accumulate(steps_of(report), settings.partial_form, settings.earlier_bytes_max),
        mark=over.mark if over is not None else "",
    )
    if applied:
        hit("attempt_recorded")
    return applied


def provider_answered(context: RunContext, model: str, report: AttemptReport) -> None:
    """Close the model's circuit breaker where the attempt shows that its provider works."""
    transient = report.failure is not None and report.failure.category is Category.TRANSIENT
    if report.agent is not None and not report.interrupted and not transient:
        answers_again(context, model)


def _notes(report: AttemptReport) -> tuple[str, ...]:
    snapshot, agent = report.snapshot, report.agent
    notes = list(report.notes)
    if snapshot is not None and snapshot.protected_edits:
        notes.append(f"protected files put back: {', '.join(snapshot.protected_edits[:_PATHS_SHOWN_MAX])}")
        notes.append("what was undone is kept in undone.patch; to see it: noface logs ID N --undone")
    if agent is not None and agent.survivors_killed:
        notes.append(f"{agent.survivors_killed} process(es) the worker left behind were ended")
    if agent is not None and agent.usage.priced:
        notes.append("its cost is an estimate: priced from tokens")
    return tuple(notes)


def history(context: Planning, issue: Issue, state: IssueState | None = None) -> History:
    """Return what the policy decides from, as it is now; with `state` in place of the issue's recorded one."""
    return history_of(context.reader, context.questions, issue, state or context.reader.state(issue.id))


def decide(context: Planning, past: History) -> Action:
    """Ask the policy what comes next for an issue; changes nothing."""
    now, policy = context.clock.now(), context.settings.policy
    away = {model: breaker.until for model, breaker in context.reader.waits().items()}
    may_use = estimates(context) if policy.budget.limited else None
    return next_action(past, policy, now, context.dice.random(), away, may_use)


def plan_tick(
    context: Planning,
    issues: tuple[Issue, ...],
    states: Mapping[str, IssueState],
    slots: int,
    at_work: frozenset[str] = frozenset(),
) -> Plan:
    """Return what of `issues` starts now, and why the rest waits. `at_work` are the models that are."""
    waits = context.reader.waits()
    models = {
        issue.id: model_of(decide(context, history(context, issue, states.get(issue.id))))
        for issue in (issues if waits else ())
        if issue.id not in states or states[issue.id].status in (IssueStatus.READY, IssueStatus.WAITING)
    }
    return plan(issues, states, models, waits, slots, context.clock.now(), at_work)


def decide_and_apply(context: RunContext, queue: MergeQueue, issue: Issue, proof: Proof | None = None) -> None:
    """Decide on an issue whose attempt has just been recorded, write the decision down, and carry it out."""
    past = history(context, issue)
    apply_action(context, queue, past, decide(context, past), proof)


def apply_action(
    context: RunContext, queue: MergeQueue, told: History, action: Action, proof: Proof | None = None
) -> None:
    """Write a decision down and carry it out. Where the scratch branch is a person's by now, that is told instead."""
    issue, past = told.issue, told.attempts
    last = past[-1] if past else None
    now = context.clock.now()
    why = move(context, issue, past)
    if why is not None and not (why.place and isinstance(action, Land)):
        action = Block(FailureKind.MERGE_CONFLICT, why.reason)
        context.journal.action(now, issue.id, last.number if last else None, action)
        wait_for_person(context, told, why)
        return
    context.journal.action(now, issue.id, last.number if last else None, action)
    hit("action_recorded")
    stored = masked_issue(issue, context.env.masker)
    match action:
        case Land() if last is not None and last.candidate is not None:
            context.journal.status(now, issue.id, IssueStatus.LANDING, "passed; waits to land")
            queue.add(Entry(issue, last.number, last.candidate, proof))
        case Block():
            block(context, stored, action, told)
        case RequestApproval():
            document = approval_document(stored, action, told, _branch(issue, past))
            context.journal.approval_requested(now, issue.id, action.reason, document)
        case Skip():
            context.journal.status(now, issue.id, IssueStatus.SKIPPED, action.reason)
        case AwaitIssues():
            context.journal.depends(now, issue.id, action.needs)
            context.journal.status(now, issue.id, IssueStatus.WAITING, action.reason)
            context.backlog_changed()
        case WaitUntil():
            if action.provider:
                _trip(context, action.model if last is None else last.model, last, action.until, action.reason)
            context.journal.status(now, issue.id, IssueStatus.WAITING, action.reason, action.until)
        case Run(instead_of=Absence() as absence):
            _trip(context, absence.model, last, absence.until, action.reason)
            context.journal.status(now, issue.id, IssueStatus.READY, action.reason)
        case _:
            context.journal.status(now, issue.id, IssueStatus.READY, action.reason)


def block(context: RunContext, issue: Issue, action: Block, told: History) -> None:
    """Block an issue, with what a person needs to know."""
    document = block_document(issue, action, told, _branch(issue, told.attempts))
    context.journal.blocked(context.clock.now(), issue.id, action.reason, document)


def _trip(context: RunContext, model: str, last: PastAttempt | None, until: float, reason: str) -> None:
    """Let everybody wait for the model whose provider is away."""
    now = context.clock.now()
    context.journal.wait(
        tripped(
            context.reader.waits().get(model),
            model,
            started_at=last.started_at if last is not None else now,
            now=now,
            until=until,
            kind=last.outcome if last is not None else "",
            reason=f"{model}: {reason}",
            rules=context.settings.breaker,
        )
    )


def _kept(past: tuple[PastAttempt, ...]) -> list[PastAttempt]:
    return [attempt for attempt in past if attempt.candidate is not None and attempt.patch_hash]


def _branch(issue: Issue, past: tuple[PastAttempt, ...]) -> str:
    return scratch_branch(issue.id).removeprefix("refs/heads/") if _kept(past) else ""


AttemptEnded = Callable[[AttemptOrder, Job[AttemptReport]], None]


class Begun(Enum):
    """What was begun. ANSWERED: a question that noface answered itself. UNPAID: more than the run's budget pays for."""

    ATTEMPT = auto()
    QUESTION = auto()
    ANSWERED = auto()
    UNPAID = auto()
    NOTHING = auto()


class Dispatch:
    """Starts jobs on issues. `ended` is what the loop does with an attempt that has ended."""

    def __init__(
        self, context: RunContext, jobs: Jobs, landing: MergeQueue, limits: RunLimits, ended: AttemptEnded
    ) -> None:
        self._context = context
        self._jobs = jobs
        self._landing = landing
        self._limits = limits
        self._ended = ended
        self._advisors = Advisors(context, jobs)

    def begin(self, issue: Issue, accept_failing: int | None) -> Begun:
        """Do what comes next for an issue; a slot must be free."""
        context, limits = self._context, self._limits
        told = history(context, issue)
        action = decide(context, told)
        match action:
            case WaitUntil(provider=False, until=until) if until > context.clock.now():
                apply_action(context, self._landing, told, action)
                return Begun.NOTHING
            case Run() | WaitUntil() | Ask() if limits.refuses(issue.id, action):
                return Begun.UNPAID
            case Ask():
                self._record(told, action)
                if self._advisors.answer_itself(told, action):
                    return Begun.ANSWERED
                self._advisors.begin(told, action, context.reader.state(issue.id))
                return Begun.QUESTION
            case Run() | WaitUntil():
                if (why := taken(context, issue, told.attempts)) is not None:
                    wait_for_person(context, told, why)
                    return Begun.NOTHING
                self._record(told, action)
                self._attempt(told, action, accept_failing)
                return Begun.ATTEMPT
            case Block() | Land() | Skip() | RequestApproval() | AwaitIssues():
                apply_action(context, self._landing, told, action)
                return Begun.NOTHING
            case _:
                assert_never(action)

    def _record(self, told: History, action: Action) -> None:
        """Write down what follows the last attempt where that is not what was written down at its end."""
        last = told.attempts[-1] if told.attempts else None
        if last is not None and last.answer != action.name and last.epoch == told.epoch:
            self._context.journal.action(self._context.clock.now(), told.issue.id, last.number, action)

    def _attempt(self, told: History, action: Run | WaitUntil, accept_failing: int | None) -> None:
        context, issue = self._context, told.issue
        note = context.reader.state(issue.id).note
        order, prompt_hash = make_order(context, told, action, self._jobs.take_slot(), note, accept_failing)
        branch = scratch_branch(issue.id).removeprefix("refs/heads/")
        context.journal.attempt_started(
            context.clock.now(), order, epoch=told.epoch, prompt_hash=prompt_hash, branch=branch
        )
        hit("attempt_started")
        self.submit(order)

    def submit(self, order: AttemptOrder) -> None:
        """Start the attempt of an order, in its slot."""
        context, model = self._context, order.model.name

        def run(cancel: Canceller) -> AttemptReport:
            return run_attempt(order, context.env, cancel, context.inbox.put)

        done = partial(self._ended, order)
        self._jobs.start(Job(JobKind.ATTEMPT, order.issue.id, run, done, order.slot, model, think=order.think))
