"""What follows of main: a run waits while it fails its own gates, and gates kept work again once it has moved.

No work could be proven on a red main, so none is paid for; a run waits `[retry] outage_max` at most. What a gate said
against work may be gone once what it lacked has landed: that costs a run of the gates and no call.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

from noface.attempt.gate_session import GateTask
from noface.attempt.gating import gates_failure, main_task, run_gates
from noface.engine.context import RunContext
from noface.engine.jobs import JobKind, Jobs
from noface.engine.outages import blocked_rows, lift_blocks
from noface.engine.prompt_context import attempt_directory
from noface.engine.stations import Stations, Steps, call
from noface.git.taken_back import bring_onto
from noface.model.attempt import PastAttempt, failure_of
from noface.model.failure import Failure
from noface.model.gate import worst
from noface.model.issue import Issue
from noface.model.taxonomy import Category, Cause, FailureKind, IssueStatus
from noface.process.command import Canceller
from noface.recovery.lacking import may_supply
from noface.recovery.start import left_work

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
        rows = (row for row in self._context.reader.issues() if row.id in self._waiting)
        return [row.id for row in rows if (row.status, row.cause) == (IssueStatus.WAITING, Cause.RED_MAIN)]

    def _go_on(self, why: str) -> None:
        for issue_id in self._still_waiting():
            self._context.set_status(issue_id, IssueStatus.READY, why)
        self._waiting, self._since = set(), 0.0


def _reason(red: Failure) -> str:
    return f"waits until main is green: {red.message}"


LACKED = "main-lacked"
"""The rule of a failure that main's lack of something was to blame for, as it turned out."""


class KeptWork:
    """Knows which work was gated on which main. For the loop's thread."""

    def __init__(self, context: RunContext, jobs: Jobs, stations: Stations) -> None:
        self._context, self._jobs, self._stations = context, jobs, stations
        self._looked: dict[str, tuple[str, str]] = {}
        self._began = context.clock.now()
        self._nothing_due: tuple[str, frozenset[str]] | None = None

    def due(self, issue: Issue) -> PastAttempt | None:
        """Return the issue's newest attempt if a gate failed it, and main has come to what it may have lacked."""
        past = self._context.reader.past(issue.id)
        last = past[-1] if past else None
        failure = last.failure if last is not None else None
        if last is None or failure is None or not last.charged or not left_work(last):
            return None
        by_gate = failure.gate is not None and failure.category in (Category.CORRECTABLE, Category.UNKNOWN)
        if not (by_gate or last.outcome == FailureKind.NO_DIFF):  # its worker found it complete
            return None
        plumbing, (work, seen) = self._context.env.plumbing, self._looked.get(issue.id, ("", ""))
        since = seen if work == last.candidate else last.main
        if (main := plumbing.main()) == since:
            return None
        patch = plumbing.diff(since, main).patch.decode("utf-8", "replace") if plumbing.resolve(since) else None
        return last if patch is None or may_supply(self._red(issue, last), last.changed, patch) else None

    def blocked(self) -> tuple[Issue, PastAttempt] | None:
        """Return a blocked issue whose work may be green by now, with its newest attempt."""
        main, rows = self._context.env.plumbing.main(), frozenset(row.id for row in blocked_rows(self._context.reader))
        if not rows or self._nothing_due == (main, rows):
            return None
        for issue in self._context.issues:
            if issue.id in rows - self._jobs.issues() and (last := self.due(issue)) is not None:
                return issue, last
        self._nothing_due = main, rows
        return None

    def _red(self, issue: Issue, last: PastAttempt) -> Failure:
        past = reversed(self._context.reader.past(issue.id))
        by_gate = (each.failure for each in past if each.failure is not None and each.failure.gate is not None)
        return next(by_gate, None) or failure_of(last)

    def begin(self, issue: Issue, last: PastAttempt) -> None:
        self._stations.begin(self._gate_again(issue, last, self._red(issue, last)))

    def _look(
        self, issue: Issue, last: PastAttempt, slot: int, mains: frozenset[str], cancel: Canceller
    ) -> tuple[str, Failure | None] | None:
        """Return main's commit and how the work does on it; None if a cancel ended it, or nothing can be said."""
        context, main, work = self._context, self._context.env.plumbing.main(), str(last.candidate)
        brought = bring_onto(context.env.plumbing, main, work, mains)
        if brought.merge.tree is None:
            return None
        logs = Path(attempt_directory(context.settings.attempts_dir, issue.id, last.number)) / "again"
        token, where = f"again-{issue.id}", (brought.merge.tree, work, main, logs)
        shown = context.env.as_landed(issue, last.number, brought.merge.tree, main)
        task = GateTask(issue.id, last.number, token, str(slot), *where, context.known, shown=shown)
        gates = context.gates_for(issue)
        gated = run_gates(context.scope(cancel), task, gates)
        if gated is None or gated.failure is not None or gated.fixed:
            return None
        return main, gates_failure(gated.results, gates)

    def _gate_again(self, issue: Issue, last: PastAttempt, failure: Failure) -> Steps[None]:
        context, slot = self._context, self._jobs.take_slot()
        look = partial(self._look, issue, last, slot, context.reader.mains())
        self._looked[issue.id] = (str(last.candidate), context.env.plumbing.main())
        seen = yield from call(look, issue.id, kind=JobKind.CHECK, slot=slot)
        if seen is None:
            return
        main, today = seen
        self._looked[issue.id] = (str(last.candidate), main)
        now, journal = context.clock.now(), context.journal
        if today is not None:
            same = last.failure == failure and last.finished_at >= self._began
            if same and today.charged and today.signature != failure.signature:
                journal.attempt_overruled(now, issue.id, last.number, today)
            return
        why = "what it lacked has landed"
        lacked = replace(
            failure,
            kind=FailureKind.BASELINE_RED,
            message=f"{why}: its gates pass on main as it is now. It failed before: {failure.message}",
            rule=LACKED,
            charged=False,
            gate=failure.gate or next((gate.name for gate in context.gates_for(issue)), ""),
        )
        with context.questions.together():
            journal.attempt_overruled(now, issue.id, last.number, lacked)
            if context.reader.state(issue.id).status is IssueStatus.BLOCKED:
                journal.unblocked(now, issue.id, why)
            else:
                journal.status(now, issue.id, IssueStatus.READY, why)
        context.backlog_stale = True
