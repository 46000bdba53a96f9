"""Looks at an issue right before its work moves main: is it still wanted, as it is."""

from collections.abc import Collection

from noface.engine.dispatch import apply_action, decide, history
from noface.engine.landing.entries import QueueEntry
from noface.engine.outside import edited_since
from noface.engine.parts import RunParts
from noface.engine.stations import Station
from noface.engine.withdrawals import Withdrawals
from noface.model.actions import Land
from noface.model.failure import Failure
from noface.model.taxonomy import IssueStatus


def last_look(
    run: RunParts, withdrawals: Withdrawals, others: Collection[Station], entry: QueueEntry
) -> Failure | bool:
    """Tell whether work may land; a failure is why it is done once more (`LastLook`).

    Withdrawn work is kept, what was approved is wanted. If anything has changed, the policy decides once more.
    """
    context, queue, watch, name = run.context, run.queue, run.watch, entry.issue.id
    since = entry.ready_at or context.clock.now()
    if not all(other.has_looked(since) for other in others):
        return False
    watch.refresh()
    withdrawals.look()
    if name not in queue.waiting:
        return False
    if context.reader.state(name).status is not IssueStatus.LANDING:
        queue.drop(name)
        return False
    if why := watch.not_now(name):
        queue.drop(name)
        context.set_status(name, IssueStatus.READY, f"passed; {why}")
        return False
    issue = watch.issue(name) or entry.issue
    approved = any(each.attempt == entry.number for each in context.questions.approvals(name))
    edited = None if approved else edited_since(context, issue, entry.number)
    past = history(context, issue)
    if edited is None and past.current and past.current[-1].number == entry.number:
        action = decide(context, past)
        if not isinstance(action, Land):
            queue.drop(name)
            apply_action(context, queue, past, action)
            return False
    return edited or True
