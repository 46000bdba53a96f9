"""The limits of a run (law 12): attempts, hours, dollars, tokens. When one is reached, it says which."""

from noface.core.actions import Ask, Run, WaitUntil, thinks
from noface.core.budget import Budget, Estimates, Refusal, can_pay
from noface.core.taxonomy import IssueStatus
from noface.loop.context import RunContext
from noface.loop.live_spending import LiveSpending
from noface.loop.orders import THINKING_FACTOR


def estimates(context: RunContext) -> Estimates:
    """Return what each model's next run may use: by its own limit, or by what its runs here have used."""
    return Estimates(context.settings.models, context.spending.seen(), THINKING_FACTOR)


class RunLimits:
    """Counts what a run uses up, and keeps it from starting what it cannot pay.

    `refused` has the issues whose next step cannot be paid now, with the reason. They are not looked at again before
    work under way has `ended`. `live` is what that work has used so far.
    """

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._began_at = context.clock.now()
        self._started = 0
        settings = context.settings
        self._budget = Budget("run", settings.cost_usd_max, settings.tokens_max)
        self.live = LiveSpending(context, self._budget)
        self.refused: dict[str, str] = {}

    def attempt_started(self) -> None:
        """Count an attempt."""
        self._started += 1

    def ended(self, issue_id: str) -> None:
        """Take note that the work under way on an issue has ended: what was refused may be paid now."""
        self.live.ended(issue_id)
        self.refused.clear()

    def reached(self) -> str:
        """Say which limit is reached, or return an empty text."""
        settings, context = self._context.settings, self._context
        if settings.attempts_max is not None and self._started >= settings.attempts_max:
            return f"stopped at the limit max_iterations: {self._started} attempt(s) started"
        if settings.seconds_max is not None and context.clock.now() - self._began_at >= settings.seconds_max:
            return f"stopped at the limit max_hours: {settings.seconds_max / 3600:g} h"
        if self._budget.limited:
            spent, usd, tokens = context.spending.of_run(context.run_id), self._budget.usd, self._budget.tokens
            if usd is not None and spent.usd >= usd:
                return f"stopped at the limit max_cost_usd: ${spent.usd:.2f} of ${usd:.2f}"
            if tokens is not None and spent.tokens >= tokens:
                return f"stopped at the limit max_tokens: {spent.tokens:,} of {tokens:,}"
        return ""

    def refuses(self, issue_id: str, action: Run | WaitUntil | Ask) -> bool:
        """Tell whether the run's budget cannot pay for the model that an action would run (I7)."""
        if not self._budget.limited or not action.model:
            return False
        refusal = self._refusal(action.model, think=thinks(action))
        if refusal is not None:
            self.refused[issue_id] = f"stopped at the limit {refusal.limit}: {refusal.reason}"
            self._tell(issue_id, refusal)
        return refusal is not None

    def _tell(self, issue_id: str, refusal: Refusal) -> None:
        """Let an issue that waits for money, and not for a slot, say so."""
        reason = f"waits for the run's {refusal.limit}: {refusal.reason}"
        state = self._context.reader.state(issue_id)
        if not refusal.final and state.status is IssueStatus.READY and state.reason != reason:
            self._context.journal.status(self._context.clock.now(), issue_id, IssueStatus.READY, reason)

    def _refusal(self, model: str, *, think: bool) -> Refusal | None:
        context, may_use = self._context, estimates(self._context)
        reserved = [may_use.of(each.model, think=each.think) for each in context.spending.under_way()]
        return can_pay(self._budget, context.spending.of_run(context.run_id), reserved, may_use.of(model, think=think))

    def too_late(self, until: float) -> bool:
        """Tell whether waiting until then would go beyond the run's hours."""
        limit = self._context.settings.seconds_max
        return limit is not None and until > self._began_at + limit
