"""The limits of a run (law 12): attempts, hours, dollars. When one is reached, it says which."""

from noface.loop.context import RunContext


class RunLimits:
    """Counts what a run uses up."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._began_at = context.clock.now()
        self._started = 0

    def attempt_started(self) -> None:
        """Count an attempt."""
        self._started += 1

    def reached(self) -> str:
        """Say which limit is reached, or return an empty text."""
        settings, context = self._context.settings, self._context
        if settings.attempts_max is not None and self._started >= settings.attempts_max:
            return f"stopped at the limit max_iterations: {self._started} attempt(s) started"
        if settings.seconds_max is not None and context.clock.now() - self._began_at >= settings.seconds_max:
            return f"stopped at the limit max_hours: {settings.seconds_max / 3600:g} h"
        if settings.cost_usd_max is not None:
            spent = context.reader.spent(context.run_id)
            if spent >= settings.cost_usd_max:
                return f"stopped at the limit max_cost_usd: ${spent:.2f} of ${settings.cost_usd_max:.2f}"
        return ""

    def too_late(self, until: float) -> bool:
        """Tell whether waiting until then would go beyond the run's hours."""
        limit = self._context.settings.seconds_max
        return limit is not None and until > self._began_at + limit
