"""Says what starts now: the plan of a tick, and what `--once` lets start of it."""

import math
from collections.abc import Collection

from noface.engine.budget_guard import RunLimits
from noface.engine.dispatch import plan_tick
from noface.engine.jobs import JobKind
from noface.engine.outages import ended_suddenly
from noface.engine.parts import RunParts
from noface.recovery.schedule import Plan


class Once:
    """The issues that `--once` lets start: those of its first plan. Without it all may."""

    def __init__(self, *, asked: bool) -> None:
        self._asked = asked
        self._left: set[str] | None = None
        self._found = False

    def choose(self, planned: Plan) -> None:
        if self._asked and self._left is None:
            self._left = {issue.id for issue in planned.start}
            self._found = bool(self._left)

    def admits(self, issue_id: str) -> bool:
        return self._left is None or issue_id in self._left

    def started(self, issue_id: str) -> None:
        if self._left is not None:
            self._left.discard(issue_id)

    def why_it_ends(self, planned: Plan, workers: int) -> str:
        if not self._asked or not (planned.start or any(each.until is not None for each in planned.waiting)):
            return ""
        if not self._found:
            return "nothing was ready to start, and --once waits for nothing; `noface run` does"
        return f"settled what --once started, at most {workers} at once; `noface run` goes on with the rest"


class Planner:
    """Plans each tick anew if anything has changed: a plan of tens of thousands takes longer than all else."""

    def __init__(self, run: RunParts, limits: RunLimits, once: Once) -> None:
        self._run, self._limits, self._once = run, limits, once
        self._planned, self._until = Plan((), ()), 0.0
        self._for: tuple[object, ...] = ()

    def plan(self, resumed: Collection[str]) -> Plan:
        """Return what starts now, and why the rest waits; work on the `resumed` issues is under way."""
        context, jobs = self._run.context, self._run.jobs
        busy = jobs.issues().union(self._limits.refused, resumed)
        # Who does not start again in this run holds up nobody.
        busy |= {name for name in context.reader.lost_to_main() if not self._once.admits(name)}
        wanted, states = self._run.watch.wanted(), context.reader.states()
        late = frozenset(ended_suddenly(context))
        probed = jobs.probed(context.reader.waits())
        at_work = jobs.issues(JobKind.ATTEMPT, JobKind.QUESTION) | self._run.queue.due
        under_way = tuple(issue for issue in context.issues if issue.id in at_work)
        seen = (wanted, context.reader.mark(), busy, jobs.free, probed, late, under_way)
        if seen != self._for or context.clock.now() >= self._until:
            issues = tuple(issue for issue in wanted if issue.id not in busy)
            self._planned = plan_tick(context, issues, states, jobs.free, probed, under_way, late)
            times = (each.until for each in self._planned.waiting if each.until is not None)
            self._for, self._until = seen, min(times, default=math.inf)
        return self._planned
