"""Holds the work under way to the budgets of the run and of its issues: ends what has passed them (law 12)."""

from noface.core.overrun import EndedFor, Paid, first_to_end, overrun
from noface.loop.context import RunContext
from noface.loop.crew import Crew
from noface.loop.limits import RunLimits, estimates


class Holding:
    """Looks at what is under way each tick. Nobody is charged for what it ends.

    Where the run's budget is passed, who is over its own limit is ended first, or who has used most; all the others
    only where that was not enough.
    """

    def __init__(self, context: RunContext, crew: Crew, limits: RunLimits) -> None:
        self._context = context
        self._crew = crew
        self._live = limits.live
        self._ended_some = False

    def hold(self) -> str:
        """End what has passed a budget; return which limit of the run it is, an empty text where it is none."""
        live = self._live
        for issue_id, passed in live.issues_passed():
            self._crew.end(issue_id, overrun(EndedFor.ISSUE, passed, live.used(issue_id)))
        over = live.run_passed()
        if over is None:
            return ""
        paid = self._paid()
        for each in () if self._ended_some else first_to_end(over, paid):
            self._ended_some = True
            self._crew.end(each.issue_id, overrun(EndedFor.RUN, over, each.used))
            live.ended_for_run(each.excess)
            paid = ()
        for each in paid:
            self._crew.end(each.issue_id, overrun(EndedFor.WITH_RUN, over, each.used))
        return over.reason

    def _paid(self) -> tuple[Paid, ...]:
        may_use, live = estimates(self._context), self._live
        return tuple(
            Paid(each.issue_id, live.used(each.issue_id), may_use.of(each.model, think=each.think))
            for each in self._crew.paid
        )
