"""Gates kept work again once main has moved: what was red may be green now, since it lacked what has landed meanwhile.

That costs a run of the gates and no call, before a worker is paid again or a blocked issue stays with a person.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

from noface.attempt.gate_session import GateTask
from noface.attempt.gating import gates_failure, run_gates
from noface.engine.context import RunContext
from noface.engine.jobs import JobKind, Jobs
from noface.engine.outages import blocked_rows
from noface.engine.prompt_context import attempt_directory
from noface.engine.stations import Stations, Steps, call
from noface.git.taken_back import bring_onto
from noface.model.attempt import PastAttempt, failure_of
from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.taxonomy import Category, FailureKind, IssueStatus
from noface.process.command import Canceller
from noface.recovery.lacking import may_supply
from noface.recovery.start import left_work

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
        """Return the issue's newest attempt if a gate failed it on another main than today's."""
        past = self._context.reader.past(issue.id)
        last = past[-1] if past else None
        failure = last.failure if last is not None else None
        if last is None or failure is None or not last.charged or not left_work(last):
            return None
        by_gate = failure.gate is not None and failure.category in (Category.CORRECTABLE, Category.UNKNOWN)
        if not (by_gate or last.outcome == FailureKind.NO_DIFF):  # its worker found it complete
            return None
        return last if self._context.env.plumbing.main() != self._gated_on(issue, last) else None

    def _gated_on(self, issue: Issue, last: PastAttempt) -> str:
        work, main = self._looked.get(issue.id, ("", ""))
        return main if work == last.candidate else last.main

    def blocked(self) -> tuple[Issue, PastAttempt] | None:
        """Return a blocked issue whose work may be green by now, with its newest attempt."""
        main, rows = self._context.env.plumbing.main(), frozenset(row.id for row in blocked_rows(self._context.reader))
        if not rows or self._nothing_due == (main, rows):
            return None
        for issue in self._context.issues:
            last = self.due(issue) if issue.id in rows - self._jobs.issues() else None
            if last is None:
                continue
            plumbing, since = self._context.env.plumbing, self._gated_on(issue, last)
            patch = plumbing.diff(since, main).patch.decode("utf-8", "replace") if plumbing.resolve(since) else None
            if patch is None or may_supply(self._red(issue, last), last.changed, patch):
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
        task = GateTask(issue.id, last.number, token, str(slot), *where, context.known)
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
                journal.unblocked(now, issue.id, "", why)
            else:
                journal.status(now, issue.id, IssueStatus.READY, why)
        context.backlog_stale = True
