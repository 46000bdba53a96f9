"""Decides on issues, carries decisions out, and starts what is due. The only caller of the policy in a run."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import Enum, auto
from pathlib import Path
from shlex import quote
from typing import assert_never

from noface.attempt.worker.agent_run import missing_program
from noface.engine.advisors import Advisors
from noface.engine.budget_guard import RunLimits, estimates
from noface.engine.candidates import Candidates
from noface.engine.context import Planning, RunContext
from noface.engine.landing.queue import MergeQueue
from noface.engine.landing.waiting import QueueEntry
from noface.engine.main_holds import asked_if_it_comes_back
from noface.engine.orders import make_order
from noface.engine.outages import blocked_rows, model_is_refused, provider_away
from noface.engine.outside import adopt_branch, move_branch, wait_for_person
from noface.engine.parts import RunParts
from noface.engine.prompt_context import history_of
from noface.engine.red_main import RedMain
from noface.engine.stations import Steps
from noface.git.refs import branch_name
from noface.model.actions import (
    Action,
    Ask,
    AwaitIssues,
    Block,
    Land,
    RequestApproval,
    RunWorker,
    Skip,
    WaitUntil,
    model_of,
)
from noface.model.attempt import (
    BRING_BACK,
    LEFT_OUT,
    LEFT_OUT_FILE,
    AttemptOrder,
    AttemptReport,
    Interrupted,
    Judged,
    NotStarted,
    PastAttempt,
    beside_mark,
    failure_of,
)
from noface.model.budget import ESTIMATED, Overrun
from noface.model.failure import MESSAGE_REFUSED, Failure
from noface.model.gate import Proof
from noface.model.history import History, Topic, Verdict
from noface.model.issue import Issue, IssueState
from noface.model.taxonomy import Category, Cause, FailureKind, IssueStatus
from noface.model.worker_run import EndedBy
from noface.process.failpoints import hit
from noface.prompts.partial import BEFORE_GATES, accumulate, steps_of
from noface.recovery.blocked import approval_request, block_request
from noface.recovery.options import Configured
from noface.recovery.policy import next_action
from noface.recovery.policy_state import charged
from noface.recovery.resume import gone_on_with
from noface.recovery.rules_outside import may_pass
from noface.recovery.schedule import Contest, Plan, independent, plan, where_of
from noface.secrets.logins import login_fix
from noface.secrets.masked_records import masked_record


def lift_raised(context: RunContext) -> None:
    """Unblock the issues whose money was spent, where they may spend more by now; what they spent still counts."""
    issues = {issue.id: issue for issue in context.issues}
    for row in blocked_rows(context.reader):
        issue, limit = issues.get(row.id), row.block.limit if row.block is not None else ""
        if limit and issue is not None and not isinstance(decide(context, history_of(context, issue)), Block):
            context.set_status(issue.id, IssueStatus.READY, f"{limit} of [retry] was raised")


def why_over(order: AttemptOrder, report: AttemptReport, over: Overrun | None) -> Overrun | None:
    """Return why an attempt was ended for money, by noface or by its agent at its allowance; None if it was not."""
    agent = report.agent if isinstance(report, Interrupted) else None
    if agent is None:
        return None
    if over is None and agent.ended_by is EndedBy.ALLOWANCE and order.allowance is not None:
        over = order.allowance.reached(agent.usage.cost_usd or 0.0)
    return over


def record_attempt(
    context: RunContext,
    order: AttemptOrder,
    report: AttemptReport,
    *more_notes: str,
    over: Overrun | None = None,
    beside: int = 0,
) -> bool:
    """Record a report; False if the attempt is fenced (I10). `beside` is the attempt whose work was taken instead."""
    issue_id, settings = order.issue.id, context.settings
    epoch = context.reader.state(issue_id).epoch
    costs = not beside and charged(report, tuple(past for past in context.reader.past(issue_id) if past.epoch == epoch))
    costs = costs and not _let_in(context, report)
    applied = context.journal.attempt_finished(
        context.clock.now(),
        report,
        charged=costs,
        notes=(*order.notes, *_notes(context, order, report), *more_notes, *((over.note,) if over is not None else ())),
        partial=accumulate(steps_of(report), settings.earlier_form, planned=BEFORE_GATES + len(order.gates)),
        mark=beside_mark(beside) if beside else over.mark if over is not None else "",
    )
    if applied:
        hit("attempt_recorded")
        agent = None if isinstance(report, NotStarted) else report.agent
        tried = agent.resumed if agent is not None else None
        if tried is not None and tried.refused:
            who = {"number": order.number, "model": order.model.name}
            context.log_event("session_refused", issue_id, attempt=tried.attempt, why=tried.refused, **who)
    return applied


def _let_in(context: RunContext, report: AttemptReport) -> bool:
    """True if a person has let in the very work that is refused for its boundary."""
    if not isinstance(report, Judged) or report.failure is None or report.failure.category is not Category.BOUNDARY:
        return False
    same = [each for each in context.reader.decisions(report.issue_id) if each.work == report.patch_hash and each.work]
    return bool(same) and same[-1].verdict is Verdict.APPROVED


def _notes(context: RunContext, order: AttemptOrder, report: AttemptReport) -> tuple[str, ...]:
    if isinstance(report, NotStarted):
        return ()
    agent, patch, root = report.agent, Path(order.directory, LEFT_OUT_FILE), context.env.plumbing.repository.root
    path = patch.relative_to(root) if patch.is_relative_to(root) else patch
    back = f"{BRING_BACK}git apply {quote(str(path))}" if patch.is_file() else ""
    notes = [f"{note}{back}" if note.startswith(LEFT_OUT) else note for note in report.notes]
    if agent is not None and (many := agent.survivors_killed):
        what, were = ("process", "was") if many == 1 else ("processes", "were")
        notes.append(f"{many} {what} that the worker left behind {were} ended")
    if agent is not None and agent.usage.priced:
        notes.append(ESTIMATED)
    return tuple(notes)


def decide(context: Planning, past: History) -> Action:
    now, refused = context.clock.now(), frozenset(context.refused)
    policy = replace(context.settings.policy, unreachable=frozenset(context.unreachable), refused=refused)
    away = {model: breaker.until for model, breaker in context.reader.waits().items()}
    may_use = estimates(context) if policy.budget.limited else None
    return next_action(past, policy, now, context.dice.random(), away, may_use)


def decide_each(
    context: Planning, issues: Iterable[Issue], states: Mapping[str, IssueState]
) -> Iterator[tuple[str, Action]]:
    """Yield what comes next for each of many issues. Those that are alike share it, if nothing was done at them yet."""
    worked, known = context.reader.worked(), dict[object, Action]()
    for issue in issues:
        state = states.get(issue.id, IssueState(issue.id))
        like = replace(issue, id="", title="", body="", source="", content_hash="", depends_on=(), parent=None)
        key: object = (like, state.epoch, state.wanted_model, state.wanted_attempts)
        if issue.id in worked:
            key = issue.id
        if key not in known:
            known[key] = decide(context, history_of(context, issue, state))
        yield issue.id, known[key]


def plan_tick(
    context: Planning,
    issues: tuple[Issue, ...],
    states: Mapping[str, IssueState],
    slots: int,
    at_work: frozenset[str] = frozenset(),
    under_way: tuple[Issue, ...] = (),
    late: Collection[str] = (),
) -> Plan:
    """Return which of `issues` start now, and why the others wait; `at_work` are models, and `late` come last."""
    reader = context.reader
    waits = reader.waits()
    open_ones = (
        issue
        for issue in (issues if waits else ())
        if issue.id not in states or states[issue.id].status in (IssueStatus.READY, IssueStatus.WAITING)
    )
    models = {name: model_of(action) for name, action in decide_each(context, open_ones, states)}
    contest = Contest(reader.lost_to_main(), under_way)
    return plan(issues, states, models, waits, slots, context.clock.now(), at_work, contest, late)


def decide_and_apply(context: RunContext, queue: MergeQueue, issue: Issue, proof: Proof | None = None) -> None:
    past = history_of(context, issue)
    apply_action(context, queue, past, decide(context, past), proof)


def apply_action(
    context: RunContext, queue: MergeQueue, past: History, action: Action, proof: Proof | None = None
) -> None:
    """Record a decision and carry it out. Where the scratch branch is a person's by now, the issue waits instead."""
    issue, last = past.issue, past.attempts[-1] if past.attempts else None
    number, now = last.number if last else None, context.clock.now()
    gone = last is not None and last.candidate is not None and context.env.plumbing.resolve(last.candidate) is None
    if last is not None and isinstance(action, Land) and gone:  # a person, or a copy, has left the commit out
        context.journal.attempt_overruled(now, issue.id, last.number, _WORK_GONE)
        context.set_status(issue.id, IssueStatus.READY, _WORK_GONE.message)
        return
    action = asked_if_it_comes_back(context, past, action)
    why = move_branch(context, issue, past.attempts)
    if why is not None and not (why.place and isinstance(action, Land)):
        context.journal.action(now, issue.id, number, Block(FailureKind.MERGE_CONFLICT, why.reason))
        wait_for_person(context, past, why)
        _tell_rest(context, issue.id)
        return
    context.journal.action(now, issue.id, number, action)
    hit("action_recorded")
    match action:
        case Land(parts=True):
            context.journal.merged(now, issue.id, context.env.plumbing.main(), f"; {action.reason}")
        case Land() if last is not None and last.candidate is not None:
            context.set_status(issue.id, IssueStatus.LANDING, "passed; waits to land")
            queue.add(QueueEntry(issue, last.number, last.candidate, proof))
        case Block():
            _note_for_others(context, last)
            block(context, past, action)
            _tell_rest(context, issue.id)
        case RequestApproval():
            masked, plumbing = masked_record(issue, context.env.masker), context.env.plumbing
            facts = (_branch(past), configured(context, masked), plumbing.whole(plumbing.main()).paths)
            request = approval_request(masked, action, past, *facts)
            context.journal.approval_requested(now, issue.id, action.reason, request)
            _tell_rest(context, issue.id)
        case Skip():
            context.journal.status(now, issue.id, IssueStatus.SKIPPED, action.reason, satisfied=action.satisfied)
        case AwaitIssues():
            context.journal.depends(now, issue.id, action.needs)
            context.set_status(issue.id, IssueStatus.WAITING, action.reason)
            context.backlog_stale = True
        case WaitUntil():
            until, cause = action.until, Cause.NONE
            if action.provider:
                model, cause = action.model if last is None else last.model, Cause.PROVIDER
                until = max(until, provider_away(context, model, last, until, action.reason).until)
            context.set_status(issue.id, IssueStatus.WAITING, action.reason, until, cause=cause)
        case RunWorker(instead_of=(model, until)):
            provider_away(context, model, last, until, action.reason)
            context.set_status(issue.id, IssueStatus.READY, action.reason)
        case _:
            context.set_status(issue.id, IssueStatus.READY, action.reason)


def _note_for_others(context: RunContext, last: PastAttempt | None) -> None:
    """Note what an attempt has met that holds for all others: its model's login, or the form of messages."""
    failure = failure_of(last) if last is not None else None
    if last is not None and failure is not None and may_pass(failure):
        model_is_refused(context, last.model)
    elif failure is not None and failure.rule == MESSAGE_REFUSED:
        context.landing_refused = failure.message


_WORK_GONE = Failure(
    FailureKind.AGENT_CRASH,
    "its work is not in the repository any more (refs of noface's were removed, or objects); it is done again",
    rule="work-gone",
    signature="work-gone",
    charged=False,
)


def _tell_rest(context: RunContext, parked: str) -> None:
    """Tell with what a run goes on beside an issue that waits for a person; what is left at its end is asked then."""
    states = context.reader.states()
    if rest := independent(context.issues, states):
        many = f"{len(rest)} independent issue{'s' if len(rest) > 1 else ''}"
        status = "blocked" if states[parked].status is IssueStatus.BLOCKED else "waits for approval"
        context.log_event("continuing", parked, message=f"{status}; continuing with {many}", independent=list(rest))


def block(context: RunContext, past: History, action: Block) -> None:
    issue = masked_record(past.issue, context.env.masker)
    request = block_request(issue, action, past, _branch(past), configured(context, issue))
    context.journal.blocked(context.clock.now(), issue.id, action.reason, request)


def configured(context: RunContext, issue: Issue) -> Configured:
    """Return what noface.toml says of an issue's gates and models that a person is told of."""
    mask = context.env.masker.text
    models, logins = context.settings.models, context.settings.policy.logins
    agents = {name: spec.agent for name, spec in models.items()}
    fixes = {name: login_fix(spec) for name, spec in models.items()}
    chosen = [name for name in context.settings.policy.alternatives if name not in context.unreachable]
    there = [name for name in chosen if not missing_program(context.env.agents[agents[name]].program(models[name]))]
    ready = {name: dict(logins).get(name, name) for name in there}
    return Configured({gate.name: mask(gate.command) for gate in context.gates_for(issue)}, agents, fixes, ready)


def _branch(past: History) -> str:
    left = any(attempt.candidate is not None and attempt.patch_hash for attempt in past.attempts)
    return branch_name(past.issue.id) if left else ""


class Begun(Enum):
    """What `begin` has done. ANSWERED: noface itself has answered a question. NOTHING counts for no limit."""

    ATTEMPT = auto()
    ANSWERED = auto()
    NOTHING = auto()


MakeAttempt = Callable[[AttemptOrder], Steps[None]]


class Dispatch:
    """Starts work on issues; `attempt` is the story of an order's attempt."""

    def __init__(
        self, run: RunParts, limits: RunLimits, red_main: RedMain, candidates: Candidates, attempt: MakeAttempt
    ) -> None:
        self._context, self._jobs, self._stations, self._landing = run.context, run.jobs, run.stations, run.queue
        self._limits, self._red_main, self._candidates, self._attempt = limits, red_main, candidates, attempt
        self._advisors = Advisors(run.context, run.jobs, run.stations)

    def begin(self, issue: Issue, accept_failing: int | None) -> Begun:
        """Do what comes next for an issue; a slot must be free."""
        context, limits = self._context, self._limits
        past = history_of(context, issue)
        action = decide(context, past)
        match action:
            case WaitUntil(provider=False, until=until) if until > context.clock.now():
                apply_action(context, self._landing, past, action)
            case RunWorker(model=model) | WaitUntil(model=model) if model in context.unreachable:
                # A person is asked already.
                limits.refused[issue.id] = f"stopped: {context.unreachable[model]}"
            case RunWorker() | WaitUntil() | Ask() if limits.refuses(issue.id, action):
                pass
            case Ask():
                self._record(past, action)
                if self._advisors.answer_itself(past, action):
                    return Begun.ANSWERED
                spec, due = context.settings.models[action.model], action.topic is Topic.REVIEW
                allowance = limits.allowance(spec, past, due=due)
                self._advisors.begin(past, action, context.reader.state(issue.id), allowance)
            case RunWorker() | WaitUntil() if (red := self._red_main.why()) is not None:  # the work could not be proven
                if self._red_main.patient():
                    self._red_main.wait(issue, red)
                else:
                    apply_action(context, self._landing, past, Block(FailureKind.BASELINE_RED, red.message))
            case RunWorker() | WaitUntil():
                if (why := adopt_branch(context, issue, past.attempts)) is not None:
                    wait_for_person(context, past, why)
                    return Begun.NOTHING
                self._record(past, action)
                order = self._order(past, action, accept_failing)
                if isinstance(action, RunWorker) and order.finished is None and order.session is None:
                    self._candidates.wanted(past, action, accept_failing)
                return Begun.ATTEMPT
            case Block() | Land() | Skip() | RequestApproval() | AwaitIssues():
                apply_action(context, self._landing, past, action)
            case _:
                assert_never(action)
        return Begun.NOTHING

    def begin_candidates(self) -> None:
        self._candidates.start(self._candidate)

    def _candidate(self, past: History, action: RunWorker, accept_failing: int | None) -> bool:
        if action.model in self._context.unreachable or not self._limits.pays(action):
            return False
        self._order(past, action, accept_failing, candidate=True)
        self._limits.attempt_started()
        return True

    def _record(self, past: History, action: Action) -> None:
        last = past.attempts[-1] if past.attempts else None
        if last is not None and last.answer != action.name and last.epoch == past.epoch:
            self._context.journal.action(self._context.clock.now(), past.issue.id, last.number, action)

    def _order(
        self, past: History, action: RunWorker | WaitUntil, accept_failing: int | None, *, candidate: bool = False
    ) -> AttemptOrder:
        context, issue = self._context, past.issue
        note = context.reader.state(issue.id).note
        before = gone_on_with(past.attempts) if not candidate else None  # its session may know no other workspace
        slot = self._jobs.take_slot(before.slot if before is not None else None)
        order = make_order(context, past, action, slot, note, accept_failing)
        place = context.executor.place(slot)
        if candidate or (before is not None and place != context.executor.place(before.slot)):
            order = replace(order, session=None)  # the attempt beside it has that, or another machine
        notes = (*order.notes, *([f"carried out on {place}"] if place else []))
        order = replace(order, allowance=self._limits.allowance(order.model, past), notes=notes)
        lost = context.reader.lost_to_main().get(issue.id)
        how = {"branch": branch_name(issue.id), "alone": where_of(lost) if lost is not None else ""}
        how["more"] = "a candidate beside the one before" if candidate else ""
        context.journal.attempt_started(context.clock.now(), order, epoch=past.epoch, **how)
        hit("attempt_started")
        self._stations.begin(self._attempt(order))
        return order
