"""Best of several, in a run: starts the candidates of an attempt as slots get free, and chooses when all have ended.

An attempt that has ended stays open in the database until the last has, so that a kill loses no choice.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from noface.engine.context import RunContext
from noface.engine.jobs import Jobs
from noface.model.actions import RunWorker
from noface.model.attempt import AttemptOrder, AttemptReport, Interrupted, Judged
from noface.model.budget import Overrun
from noface.model.history import History
from noface.recovery.candidates import set_aside, taken


@dataclass(frozen=True, slots=True)
class Ended:
    """An attempt that has ended. `over`: why, if for money; `beside`: the candidate whose work was taken instead."""

    order: AttemptOrder
    report: AttemptReport
    notes: tuple[str, ...]
    over: Overrun | None
    began_at: float
    beside: int = 0


class Candidates:
    """Knows which candidates have yet to start, and which have ended. For the loop's thread."""

    def __init__(self, context: RunContext, jobs: Jobs) -> None:
        self._context, self._jobs = context, jobs
        self._due: dict[str, tuple[History, RunWorker, int | None]] = {}
        self._ended: dict[str, list[Ended]] = {}

    def wanted(self, past: History, action: RunWorker, accept_failing: int | None) -> None:
        if action.beside:
            self._due[past.issue.id] = past, action, accept_failing

    def start(self, order: Callable[[History, RunWorker, int | None], bool]) -> None:
        """Start those that have yet to, while slots are free; `order` returns False if one cannot be paid."""
        for issue_id, (past, action, accept_failing) in tuple(self._due.items()):
            left = action.beside
            while left and self._jobs.free:
                is_paid = order(past, replace(action, model=left[0], beside=()), accept_failing)
                left = left[1:] if is_paid else ()
            self._due[issue_id] = past, replace(action, beside=left), accept_failing
            if not left:
                del self._due[issue_id]

    def ended(self, ended: Ended, resumed: Collection[str]) -> tuple[Ended, ...]:
        """Take an attempt that has ended; return all candidates, the winner last; none while others work."""
        issue_id, report = ended.order.issue.id, ended.report
        self._due.pop(issue_id, None)
        if isinstance(report, Judged) and report.failure is None:
            for other in filter(lambda job: job.endable, self._jobs.attempts(issue_id)):
                other.cancel.cancel()
        self._ended.setdefault(issue_id, []).append(ended)
        if self._jobs.attempts(issue_id) or issue_id in resumed:
            return ()
        group = sorted(self._ended.pop(issue_id), key=lambda each: each.order.number)
        if len(group) == 1:
            return (ended,)
        best, why = taken([each.report for each in group])
        if isinstance(best, Interrupted):
            return tuple(group)
        models = [f"{each.order.number} ({each.order.model.name})" for each in group]
        note = f"taken of the candidates {', '.join(models)}: {why}"
        others = [each for each in group if each.report is not best]
        winner = next(each for each in group if each.report is best)
        self._context.log_event("candidate_taken", issue_id, number=best.number, of=models, why=why)
        aside = (replace(each, report=set_aside(each.report, best.number), beside=best.number) for each in others)
        return (*aside, replace(winner, notes=(*winner.notes, note)))
