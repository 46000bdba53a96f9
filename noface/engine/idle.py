"""A run that has nothing to do for now: what it waits for, or that it may end."""

from collections.abc import Collection, Iterable

from noface.engine.budget_guard import RunLimits
from noface.engine.ending import Ending
from noface.engine.outages import too_long
from noface.engine.parts import RunParts
from noface.engine.planner import Once
from noface.engine.stations import Patience, Station
from noface.recovery.schedule import Plan

TICK_S = 0.5


def _first(waits: Iterable[Patience | None]) -> Patience | None:
    return next((wait for wait in waits if wait is not None), None)


class Idle:
    """Waits for retry times, for other machines, or for new issues."""

    def __init__(
        self, run: RunParts, limits: RunLimits, ending: Ending, once: Once, others: Collection[Station], began_at: float
    ) -> None:
        self._context, self._jobs = run.context, run.jobs
        self._limits, self._ending, self._once, self._others = limits, ending, once, others
        self._began_at = began_at
        self._outage: Patience | None = None

    def wait(self, planned: Plan) -> bool:
        """Wait for a tick, or for the next retry time; False if there is nothing to wait for."""
        context, limits = self._context, self._limits
        if self._ending.stopping or self._ending.limit or self.refused:
            return False
        if any(self._once.admits(issue.id) for issue in planned.start):
            return True
        if not self._jobs.free:  # with [run] workers = 0, until a host is there
            return self._sleep()
        if (patience := self._for_others()) is not None:
            return self._sleep(patience.until, patience.reason)
        timed = [] if context.settings.once else [each for each in planned.waiting if each.until is not None]
        refused = {each.issue_id: too_long(context, each) for each in timed}
        timed = [each for each in timed if not refused[each.issue_id]]
        if not timed:
            self._ending.reached(next((why for why in (*limits.refused.values(), *refused.values()) if why), ""))
            watched = context.settings.watch and not self._ending.limit
            return watched and self._sleep(limits.ends_at, "for new issues (--watch)")
        waiting = min(timed, key=lambda each: each.until or 0.0)
        until = waiting.until or 0.0
        if limits.too_late(until):
            limit = f"--until {context.settings.until}" if context.settings.until else "the limit max_hours"
            self._ending.reached(f"stopped at {limit}, which waiting would pass: {waiting.reason}")
            return False
        self._say(until, waiting.reason, waiting.model)
        context.clock.sleep(min(TICK_S, max(0.0, until - context.clock.now())))
        return True

    @property
    def refused(self) -> str:
        return next(filter(None, (other.refused for other in self._others)), "")

    def unread(self) -> Patience | None:
        return _first(other.unread() for other in self._others)

    def _for_others(self) -> Patience | None:
        once = self._context.settings.once
        patience = _first(other.patience(once=once) for other in self._others)
        if patience is not None or once:
            return patience
        outage, longest = self.unread(), self._began_at + self._context.settings.policy.outage_max_s
        until = max(outage.until, self._context.clock.now()) if outage is not None else 0.0
        if outage is not None and until <= longest and not self._limits.too_late(outage.until):
            self._outage = self._outage or outage  # told once, whatever each try says
            return self._outage
        self._outage = None
        wait = _first(other.next_try() for other in self._others)
        return wait if wait is not None and not self._limits.too_late(wait.until) else None

    def _sleep(self, until: float = 0.0, reason: str = "") -> bool:
        if reason:
            self._say(until, reason)
        self._context.clock.sleep(TICK_S)
        return True

    def _say(self, until: float, reason: str, model: str = "") -> None:
        seconds = max(0.0, until - self._context.clock.now())
        self._context.announce(
            "waiting", None, {"until": until, "seconds": seconds, "model": model or None, "reason": reason}
        )
