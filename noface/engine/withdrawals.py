"""What people take back: work on issues that they closed, deleted or leave undone; a last look before main moves."""

from collections.abc import Collection

from noface.engine.context import RunContext
from noface.engine.dispatch import apply_action, decide
from noface.engine.jobs import Jobs
from noface.engine.landing.queue import MergeQueue
from noface.engine.landing.stacks import is_approved
from noface.engine.landing.waiting import QueueEntry
from noface.engine.outside import BacklogWatch, edited_since
from noface.engine.parts import RunParts
from noface.engine.prompt_context import history_of
from noface.engine.stations import Station
from noface.model.actions import Land
from noface.model.failure import Failure
from noface.model.taxonomy import IssueStatus


class Withdrawals:
    """Knows the issues whose work is being ended: `why` by id. `landing` is the run's merge queue."""

    landing: MergeQueue

    def __init__(self, context: RunContext, jobs: Jobs, watch: BacklogWatch) -> None:
        self._context, self._jobs, self._watch = context, jobs, watch
        self.why: dict[str, str] = {}
        self._left: dict[str, str] = {}

    def look(self) -> None:
        under_way = self._jobs.issues() - self.landing.pushing  # what is on its way to a remote has left
        for issue_id in (under_way | self.landing.waiting) - self.why.keys():
            if why := self._watch.withdrew(issue_id):
                self._withdraw(issue_id, why)

    def leave(self, issue_id: str, why: str) -> str:
        """End the work on an issue that people leave undone; return why not where that is late, else ""."""
        at_work = self._jobs.issues() | self.landing.waiting | self.landing.published
        if issue_id in self.landing.pushing or issue_id not in at_work:
            return "its work is landing just now"
        self._left[issue_id] = why
        self._withdraw(issue_id, f"was {why}")
        return ""

    def job_ended(self, issue_id: str) -> None:
        if issue_id in self.why.keys() - self._jobs.issues():
            self._settle(issue_id, self.why.pop(issue_id))

    def _withdraw(self, issue_id: str, why: str) -> None:
        self._context.log_event("issue_withdrawn", issue_id, why=why)
        self._jobs.withdraw(issue_id)
        self.landing.drop(issue_id)
        if issue_id in self._jobs.issues():
            self.why[issue_id] = why
        else:
            self._settle(issue_id, why)

    def _settle(self, issue_id: str, why: str) -> None:
        if left := self._left.pop(issue_id, ""):
            self._context.set_status(issue_id, IssueStatus.SKIPPED, left)
            return
        self._context.set_status(issue_id, IssueStatus.READY, f"the issue {why}; its work is kept")


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
    edited = None if is_approved(context, issue, entry.number) else edited_since(context, issue, entry.number)
    past = history_of(context, issue)
    if edited is None and past.current and past.current[-1].number == entry.number:
        action = decide(context, past)
        if not isinstance(action, Land):
            queue.drop(name)
            apply_action(context, queue, past, action)
            return False
    return edited or True
