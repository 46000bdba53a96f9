"""Decides on an issue and carries the decision out: the only caller of the policy."""

from noface.core.actions import Action, Block, Land, WaitUntil
from noface.core.blocking import block_document
from noface.core.model import Issue, PastAttempt, Proof
from noface.core.policy import History, next_action
from noface.core.taxonomy import IssueStatus
from noface.git.refs import RefUpdate
from noface.git.repo import scratch_branch
from noface.loop.context import RunContext
from noface.loop.landing import Entry, MergeQueue
from noface.system.failpoints import hit


def decide(context: RunContext, issue: Issue, epoch: int) -> Action:
    """Ask the policy what comes next for an issue; changes nothing."""
    history = History(issue, context.reader.past(issue.id), epoch)
    return next_action(history, context.settings.policy, context.clock.now(), context.dice.random())


def settle(context: RunContext, queue: MergeQueue, issue: Issue, epoch: int, proof: Proof | None = None) -> Action:
    """Decide on an issue whose attempt has just been recorded, write the decision down, and carry it out."""
    past = context.reader.past(issue.id)
    action = decide(context, issue, epoch)
    last = past[-1] if past else None
    now = context.clock.now()
    _move_branch(context, issue, past)
    context.journal.action(now, issue.id, last.number if last else None, action)
    hit("action_recorded")
    match action:
        case Land():
            enqueue(context, queue, issue, past, proof)
        case Block():
            current = tuple(attempt for attempt in past if attempt.epoch == epoch)
            branch = scratch_branch(issue.id).removeprefix("refs/heads/") if _kept(past) else ""
            document = block_document(issue, action, current, branch)
            context.journal.blocked(now, issue.id, action.reason, document)
        case WaitUntil():
            kind = last.outcome if last else ""
            context.journal.wait(action.model, action.until, 1, kind, f"{action.model}: {action.reason}")
            context.journal.status(now, issue.id, IssueStatus.WAITING, action.reason, action.until)
        case _:
            context.journal.status(now, issue.id, IssueStatus.READY, action.reason)
    return action


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


def _move_branch(context: RunContext, issue: Issue, past: tuple[PastAttempt, ...]) -> None:
    """Point `noface/<id>` at the best work so far: what a person looks at, and what the next attempt builds on."""
    kept = _kept(past)
    if not kept:
        return
    best = max(kept, key=lambda a: (a.outcome == "PASSED", a.gates_passed, -(a.failing_tests or 0), a.number))
    if best.candidate is not None:
        context.shop.plumbing.refs.apply(RefUpdate(scratch_branch(issue.id), best.candidate))
