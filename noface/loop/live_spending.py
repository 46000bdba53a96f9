"""What the work under way has used so far, held against the budgets of the run and of its issues (law 12).

What has ended is in the database; what is under way is only told. A budget counts as passed once it has been for as
long as a run may take that is about to end by itself.
"""

from noface.core.budget import Budget, Spent
from noface.core.issue import Issue
from noface.core.overrun import Passed, passed_by
from noface.loop.context import RunContext
from noface.loop.histories import history_of
from noface.loop.run_watch import PATIENCE_S
from noface.loop.workshop import Progress

_RUN = ""
"""What stands for the run where issues have their ids; no issue has this one."""


class LiveSpending:
    """Adds up what is told of each issue's work; at most one worker is at work on an issue."""

    def __init__(self, context: RunContext, budget: Budget) -> None:
        self._context = context
        self._budget = budget
        self._used: dict[str, Spent] = {}
        self._before: dict[str, Spent] = {}
        self._since: dict[str, float] = {}
        self._excess = Spent()

    def saw(self, progress: Progress) -> None:
        """Take what a worker has used so far, where a step tells it."""
        used = progress.used
        if used.cost_usd is not None or used.tokens is not None:
            self._used[progress.issue_id] = Spent(used.cost_usd or 0.0, used.tokens or 0)

    def ended(self, issue_id: str) -> None:
        """Forget what is counted in the database from now on."""
        for known in (self._used, self._before, self._since):
            known.pop(issue_id, None)

    def used(self, issue_id: str) -> Spent:
        """Return what the work under way on an issue has used."""
        return self._used.get(issue_id, Spent())

    def run_passed(self) -> Passed | None:
        """Return which limit of the run is passed with what is under way, None where none is."""
        if not self._budget.limited or not self._used:
            return None
        context = self._context
        spent = _sum(context.spending.of_run(context.run_id), *self._used.values())
        allowed = Spent(spent.usd - self._excess.usd, spent.tokens - self._excess.tokens)
        return passed_by(self._budget, spent) if self._passed(_RUN, self._budget, allowed) else None

    def ended_for_run(self, excess: Spent) -> None:
        """Take note that work was ended for the run's budget, `excess` beyond what was reserved for it.

        The rest may use what was reserved for them all the same: N workers overshoot a budget by one attempt (I7).
        """
        self._excess = _sum(self._excess, excess)
        self._since.pop(_RUN, None)

    def issues_passed(self) -> tuple[tuple[str, Passed], ...]:
        """Return the issues whose work under way has passed what is left for them."""
        budget = self._context.settings.policy.budget
        if not budget.limited:
            return ()
        found = ((name, self._passed(name, budget, self._of(name, used))) for name, used in self._used.items())
        return tuple((name, passed) for name, passed in found if passed is not None)

    def _of(self, issue_id: str, used: Spent) -> Spent:
        context = self._context
        if issue_id not in self._before:
            issue = next((each for each in context.issues if each.id == issue_id), Issue(issue_id, ""))
            told = history_of(context.reader, context.questions, issue, context.reader.state(issue_id))
            self._before[issue_id] = told.spent
        return _sum(self._before[issue_id], used)

    def _passed(self, name: str, budget: Budget, spent: Spent) -> Passed | None:
        passed = passed_by(budget, spent)
        if passed is None:
            self._since.pop(name, None)
            return None
        now = self._context.clock.now()
        return passed if now - self._since.setdefault(name, now) >= PATIENCE_S else None


def _sum(*amounts: Spent) -> Spent:
    return Spent(sum(each.usd for each in amounts), sum(each.tokens for each in amounts))
