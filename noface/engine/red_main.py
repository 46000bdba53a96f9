"""Waits while main fails its own gates, and goes on once it passes them: when somebody moves it, or by itself.

No work could be proven on such a main, so none is paid for. A run waits `[retry] outage_max` at most.
"""

from functools import partial

from noface.attempt.gating import main_task, run_gates
from noface.engine.context import RunContext
from noface.engine.jobs import JobKind, Jobs
from noface.engine.outages import lift_blocks
from noface.engine.stations import Stations, Steps, call
from noface.model.failure import Failure
from noface.model.gate import worst
from noface.model.issue import Issue
from noface.model.taxonomy import Cause, FailureKind, IssueStatus
from noface.process.command import Canceller

_FIRST_LOOK_S = 15.0
_LOOKS_S_MAX = 300.0
_TIMES_THE_GATE = 5
"""The pause between two looks is at least so many runs of the gate that is red: they cost the machine something."""
_OF_MAIN = (FailureKind.BASELINE_RED.value, FailureKind.MISCONFIGURED.value, FailureKind.ENVIRONMENT.value)
"""What may end because a person moves main: a red test, a missing manifest or file, a gate that rewrites files."""


class RedMain:
    """What the run knows of a main that was seen red in it. For the loop's thread."""

    def __init__(self, context: RunContext, jobs: Jobs, stations: Stations) -> None:
        self._context, self._jobs, self._stations = context, jobs, stations
        self._main = context.env.plumbing.main()
        self._waiting: set[str] = set()
        self._since = self._next_look = 0.0
        self._pause = _FIRST_LOOK_S

    def why(self) -> Failure | None:
        env = self._context.env
        return env.memory.main_failed.get(env.plumbing.tree(env.plumbing.main()))

    def step(self) -> None:
        """Let everybody go on whom main kept from it, once it is another one."""
        main = self._context.env.plumbing.main()
        if main == self._main:
            return
        self._main, name = main, self._context.env.plumbing.repository.main_name
        if main not in self._context.reader.landed_commits():
            lift_blocks(self._context, _OF_MAIN, f"{name} has moved; tried again")
        if self.why() is None:
            self._go_on(f"{name} has moved to {main[:12]}")

    def patient(self) -> bool:
        settings, now = self._context.settings, self._context.clock.now()
        return not settings.once and now < (self._since or now) + settings.policy.outage_max_s

    def wait(self, issue: Issue, red: Failure) -> None:
        """Have an issue wait until main is green; look at main again for it, in a free slot, if that is due."""
        now = self._context.clock.now()
        if not self._waiting:
            self._since, self._pause, self._next_look = now, _FIRST_LOOK_S, now + _FIRST_LOOK_S
            self._context.log_event("main_red", None, text=red.message)
        self._waiting.add(issue.id)
        self._context.set_status(issue.id, IssueStatus.WAITING, _reason(red), self._next_look, cause=Cause.RED_MAIN)
        if now >= self._next_look:
            self._stations.begin(self._look_again(issue, red, self._jobs.take_slot()))

    def _look(self, slot: int, cancel: Canceller) -> float | None:
        """Run main's gates; return how many seconds the red ones took, 0.0 if all passed, None if a cancel ended it."""
        context = self._context
        task = main_task(context.env, "main-again", slot=str(slot))  # a landing may be at work in its own
        gated = run_gates(context.scope(cancel), task, context.settings.gates, anew=True)
        if gated is None:
            return None
        red = worst(gated.results)
        if red is None and gated.failure is None:
            context.env.memory.note_main(task.tree, None)
            return 0.0
        return red.seconds if red is not None else _FIRST_LOOK_S

    def _look_again(self, issue: Issue, red: Failure, slot: int) -> Steps[None]:
        """Let everybody go on if main is green by now; else look later, and less often."""
        seconds = yield from call(partial(self._look, slot), issue.id, kind=JobKind.CHECK, slot=slot)
        if seconds is None:
            return
        if not seconds:
            self._go_on(f"{self._context.env.plumbing.repository.main_name} is green again")
            return
        self._pause = max(min(2 * self._pause, _LOOKS_S_MAX), _TIMES_THE_GATE * seconds)
        self._next_look = self._context.clock.now() + self._pause
        for issue_id in self._still_waiting():
            self._context.set_status(issue_id, IssueStatus.WAITING, _reason(red), self._next_look, cause=Cause.RED_MAIN)

    def _still_waiting(self) -> list[str]:
        """Return the issues that wait for main: others, or a person, may have moved some on."""
        rows = (row for row in self._context.reader.issues() if row.id in self._waiting)
        return [row.id for row in rows if (row.status, row.cause) == (IssueStatus.WAITING, Cause.RED_MAIN)]

    def _go_on(self, why: str) -> None:
        for issue_id in self._still_waiting():
            self._context.set_status(issue_id, IssueStatus.READY, why)
        self._waiting, self._since = set(), 0.0


def _reason(red: Failure) -> str:
    return f"waits until main is green: {red.message}"
