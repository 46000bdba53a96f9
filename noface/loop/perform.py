"""Decides on an issue and carries the decision out: the only caller of the policy."""

from noface.core.actions import Absence, Action, AwaitIssues, Block, Land, RequestApproval, Run, Skip, WaitUntil
from noface.core.attempt import PastAttempt
from noface.core.blocking import approval_document, block_document
from noface.core.gate import Proof
from noface.core.history import History
from noface.core.issue import Issue
from noface.core.masked_records import masked_issue
from noface.core.policy import next_action
from noface.core.schedule import tripped
from noface.core.taxonomy import FailureKind, IssueStatus
from noface.git.refs import scratch_branch
from noface.loop.budget_guard import estimates
from noface.loop.context import RunContext
from noface.loop.histories import history_of
from noface.loop.landing import Entry, MergeQueue
from noface.loop.scratch import move, wait_for_person
from noface.system.failpoints import hit


def history(context: RunContext, issue: Issue) -> History:
    """Return what the policy decides from, as it is now."""
    return history_of(context.reader, context.questions, issue, context.reader.state(issue.id))


def decide(context: RunContext, past: History) -> Action:
    """Ask the policy what comes next for an issue; changes nothing."""
    now, policy = context.clock.now(), context.settings.policy
    away = {model: breaker.until for model, breaker in context.reader.waits().items()}
    may_use = estimates(context) if policy.budget.limited else None
    return next_action(past, policy, now, context.dice.random(), away, may_use)


def settle(context: RunContext, queue: MergeQueue, issue: Issue, proof: Proof | None = None) -> None:
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
    stored = masked_issue(issue, context.shop.masker)
    match action:
        case Land():
            enqueue(context, queue, issue, past, proof)
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


def enqueue(
    context: RunContext, queue: MergeQueue, issue: Issue, past: tuple[PastAttempt, ...], proof: Proof | None = None
) -> None:
    """Put the last attempt, which passed, into the merge queue; without a proof it is made there."""
    last = past[-1]
    assert last.candidate is not None  # noqa: S101 - an attempt that passed has one
    context.journal.status(context.clock.now(), issue.id, IssueStatus.LANDING, "passed; waits to land")
    queue.add(Entry(issue, last.number, last.candidate, proof))


def _kept(past: tuple[PastAttempt, ...]) -> list[PastAttempt]:
    return [attempt for attempt in past if attempt.candidate is not None and attempt.patch_hash]


def _branch(issue: Issue, past: tuple[PastAttempt, ...]) -> str:
    return scratch_branch(issue.id).removeprefix("refs/heads/") if _kept(past) else ""
