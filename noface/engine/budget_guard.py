"""Holds a run, and the work under way in it, to the budgets of the run and of its issues (law 12).

A budget counts as passed once it has been for as long as a run may take that is about to end by itself, or once a model
has answered again.
"""

from dataclasses import replace

from noface.attempt.environment import AttemptProgress
from noface.attempt.worker.agent_watch import PATIENCE_S
from noface.engine.context import Planning, RunContext
from noface.engine.jobs import Jobs
from noface.engine.prompt_context import history_of
from noface.model.actions import Ask, RunWorker, WaitUntil, thinks
from noface.model.budget import (
    Allowance,
    Budget,
    EndedFor,
    Estimates,
    Passed,
    Refusal,
    Spent,
    allowed,
    can_pay,
    overrun,
    passed_by,
)
from noface.model.history import History
from noface.model.issue import Issue
from noface.model.taxonomy import IssueStatus
from noface.model.worker_run import THINKING_FACTOR, ModelSpec

_RUN = ""
"""The run's key where issues have their ids; no issue has this one."""


class LiveSpending:
    """Adds up the reported usage of each issue's work, by the number of its attempt: candidates work at once."""

    def __init__(self, context: RunContext, budget: Budget) -> None:
        self._context, self._budget = context, budget
        self._used: dict[tuple[str, int], Spent] = {}
        self._before: dict[str, Spent] = {}
        self._since: dict[str, tuple[float, int]] = {}
        self._answers: dict[tuple[str, int], int] = {}

    def update(self, progress: AttemptProgress) -> None:
        used, whose = progress.used, (progress.issue_id, progress.number)
        if used.cost_usd is not None or used.tokens is not None:
            self._used[whose] = Spent(used.cost_usd or 0.0, used.tokens or 0)
            self._answers[whose] = progress.answers

    def ended(self, issue_id: str) -> None:
        self._before.pop(issue_id, None)
        self._since.pop(issue_id, None)
        for whose in [each for each in self._used if each[0] == issue_id]:
            del self._used[whose], self._answers[whose]

    def used(self, issue_id: str, number: int = 0) -> Spent:
        return _sum(*(used for whose, used in self._used.items() if whose[0] == issue_id and number in (0, whose[1])))

    @property
    def in_all(self) -> Spent:
        return _sum(*self._used.values())

    def run_passed(self) -> Passed | None:
        if not self._budget.limited or not self._used:
            return None
        before = self._context.reader.spent_in(self._context.run_id)
        return self._passed(_RUN, self._budget, _sum(before, *self._used.values()))

    def issues_passed(self) -> tuple[tuple[str, Passed], ...]:
        """Return the issues whose work under way has passed what is left for them."""
        budget = self._context.settings.policy.budget
        if not budget.limited:
            return ()
        context, found = self._context, []
        for name in dict.fromkeys(name for name, _ in self._used):
            if name not in self._before:
                issue = next((each for each in context.issues if each.id == name), Issue(name, ""))
                self._before[name] = history_of(context, issue).spent
            passed = self._passed(name, budget, _sum(self._before[name], self.used(name)))
            if passed is not None:
                found.append((name, passed))
        return tuple(found)

    def _passed(self, name: str, budget: Budget, spent: Spent) -> Passed | None:
        passed = passed_by(budget, spent)
        if passed is None:
            self._since.pop(name, None)
            return None
        now = self._context.clock.now()
        answers = sum(many for whose, many in self._answers.items() if name in (_RUN, whose[0]))
        since, first = self._since.setdefault(name, (now, answers))
        return passed if now - since >= PATIENCE_S or answers > first else None


def _sum(*amounts: Spent) -> Spent:
    return Spent(sum(each.usd for each in amounts), sum(each.tokens for each in amounts))


def estimates(context: Planning) -> Estimates:
    return Estimates(context.settings.models, context.reader.peaks(), THINKING_FACTOR)


class RunLimits:
    """Keeps from starting what cannot be paid. `refused`: issues whose next step it cannot pay now, and why."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._began_at = context.clock.now()
        self._started = 0
        settings = context.settings
        self._budget = Budget("run", settings.cost_usd_max, settings.tokens_max)
        self.live = LiveSpending(context, self._budget)
        self.refused: dict[str, str] = {}

    def attempt_started(self) -> None:
        self._started += 1

    def ended(self, issue_id: str) -> None:
        self.live.ended(issue_id)
        self.refused.clear()

    def reached(self) -> str:
        """Say which limit is reached, or return an empty text."""
        settings, context = self._context.settings, self._context
        if settings.attempts_max is not None and self._started >= settings.attempts_max:
            attempts = "1 attempt" if self._started == 1 else f"{self._started} attempts"
            return f"stopped at the limit max_iterations: {attempts} started"
        if settings.seconds_max is not None and context.clock.now() - self._began_at >= settings.seconds_max:
            limit = f"the limit max_hours: {settings.seconds_max / 3600:g} h"
            return f"stopped at {settings.until}, as --until says" if settings.until else f"stopped at {limit}"
        if self._budget.limited:
            spent, usd, tokens = context.reader.spent_in(context.run_id), self._budget.usd, self._budget.tokens
            if usd is not None and spent.usd >= usd:
                return Passed("run", "max_cost_usd", spent.usd, usd).reason
            if tokens is not None and spent.tokens >= tokens:
                return Passed("run", "max_tokens", spent.tokens, tokens).reason
        return ""

    def refuses(self, issue_id: str, action: RunWorker | WaitUntil | Ask) -> bool:
        """True if the run's budget cannot pay for the model that an action would run (I7)."""
        if not self._budget.limited or not action.model:
            return False
        refusal = self._refusal(action.model, think=thinks(action))
        if refusal is not None:
            self.refused[issue_id] = f"stopped at the limit {refusal.limit}: {refusal.reason}"
            state, reason = (
                self._context.reader.state(issue_id),
                f"waits for the run's {refusal.limit}: {refusal.reason}",
            )
            if not refusal.final and state.status is IssueStatus.READY and state.reason != reason:
                self._context.set_status(issue_id, IssueStatus.READY, reason)
        return refusal is not None

    def pays(self, action: RunWorker) -> bool:
        return not self.reached() and (
            not self._budget.limited or self._refusal(action.model, think=action.think) is None
        )

    def _refusal(self, model: str, *, think: bool) -> Refusal | None:
        context, may_use = self._context, estimates(self._context)
        reserved = [may_use.of(at_work, think=long) for at_work, long in context.reader.under_way()]
        return can_pay(self._budget, context.reader.spent_in(context.run_id), reserved, may_use.of(model, think=think))

    def allowance(self, model: ModelSpec, past: History, *, due: bool = False) -> Allowance | None:
        """Return the money that a run of a model may spend if it starts now, None if nothing bounds it.

        `due`: a review, which runs whatever its issue has cost. What other work has used beyond what was reserved for
        it counts as well.
        """
        context, may_use = self._context, estimates(self._context)
        reserved = 0.0
        for at_work, long in context.reader.under_way():
            reserved += may_use.of(at_work, think=long).usd or 0.0
        reserved = max(reserved, self.live.in_all.usd)
        issue = context.settings.policy.budget if not due else Budget("issue")
        spent = context.reader.spent_in(context.run_id)
        return allowed(model.max_cost_usd, issue, past.spent, self._budget, spent, reserved)

    @property
    def ends_at(self) -> float:
        limit = self._context.settings.seconds_max
        return self._began_at + limit if limit is not None else 0.0

    def too_late(self, until: float) -> bool:
        limit = self._context.settings.seconds_max
        return limit is not None and until > self._began_at + limit


class BudgetGuard:
    """Ends what has passed a budget, charging nobody; at the run's that is all, by the work that has used most."""

    def __init__(self, jobs: Jobs, limits: RunLimits) -> None:
        self._jobs, self._live = jobs, limits.live

    def hold(self) -> str:
        """End what has passed a budget; return which limit of the run it is, an empty text where it is none."""
        live = self._live
        for issue_id, passed in live.issues_passed():
            self._jobs.end(issue_id, overrun(EndedFor.ISSUE, passed, live.used(issue_id)))
        if (over := live.run_passed()) is None:
            return ""
        ends = [
            (each.issue_id, overrun(EndedFor.RUN, over, live.used(each.issue_id, each.number)))
            for each in self._jobs.paid
        ]
        most = max((end.own for _, end in ends), default=0.0)
        for issue_id, end in ends:
            self._jobs.end(issue_id, end if end.own == most else replace(end, ended_for=EndedFor.WITH_RUN))
        return over.reason
