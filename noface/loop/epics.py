"""Looks after issues that were broken down (N9, K4): closes them when all parts have landed, takes failed parts back.

When every part is merged, the parent's own gates run on main: green closes the epic, red makes the parent an issue
again, with what is missing. When a part cannot be done and nothing else of the epic can go on, the parent is told what
failed and how far it came (P8), and its own ladder goes on.
"""

import json
from functools import partial
from pathlib import Path

from noface.core.breakdown import subtask_failure
from noface.core.issue import Issue, IssueState
from noface.core.proof import worst
from noface.core.taxonomy import IssueStatus
from noface.loop.context import RunContext
from noface.loop.gating import Gated, Task, run_gates
from noface.loop.jobs import Job, JobKind, Jobs
from noface.loop.judge import told
from noface.system.canceller import Canceller

_STUCK = (IssueStatus.BLOCKED, IssueStatus.SKIPPED)
_OPEN = (IssueStatus.READY, IssueStatus.WAITING)
_TEXT_MAX = 6000


class Epics:
    """Watches the epics, for the loop's thread."""

    def __init__(self, context: RunContext, jobs: Jobs) -> None:
        self._context = context
        self._jobs = jobs

    def ready(self) -> tuple[Issue, ...]:
        """Return the epics of which every part is merged and which are not being checked."""
        checked = self._jobs.issues(JobKind.EPIC)
        return tuple(
            issue
            for issue, parts, states in self._open()
            if parts and issue.id not in checked and all(states[part.id].done for part in parts)
        )

    def take_back(self) -> tuple[Issue, ...]:
        """Give the epics whose parts cannot all be done back to the loop; return them for a decision."""
        found = []
        for issue, parts, states in self._open():
            if not parts or all(states[part.id].done for part in parts):
                continue
            if any(self._can_go_on(part, parts, states) for part in parts):
                continue
            self._give_up_parts(issue, parts, states)
            found.append(issue)
        return tuple(found)

    def _open(self) -> list[tuple[Issue, tuple[Issue, ...], dict[str, IssueState]]]:
        context = self._context
        divided = context.reader.epics()
        if not divided:
            return []
        states = context.reader.states()
        epics = [issue for issue in context.issues if issue.id in divided]
        known = tuple(child for child in context.issues if child.parent is not None)
        return [(issue, tuple(child for child in known if child.parent == issue.id), states) for issue in epics]

    @staticmethod
    def _can_go_on(part: Issue, parts: tuple[Issue, ...], states: dict[str, IssueState]) -> bool:
        state = states[part.id]
        if state.status not in _OPEN:
            return state.status not in _STUCK and not state.done
        failed = {
            sibling.id for sibling in parts if states[sibling.id].status in _STUCK and not states[sibling.id].done
        }
        by_id = {sibling.id: sibling for sibling in parts}
        pending, seen = [part.id], {part.id}
        while pending:
            current = by_id.get(pending.pop())
            for needed in current.depends_on if current is not None else ():
                if needed in failed:
                    return False
                if needed not in seen:
                    seen.add(needed)
                    pending.append(needed)
        return True

    def _give_up_parts(self, issue: Issue, parts: tuple[Issue, ...], states: dict[str, IssueState]) -> None:
        context, now = self._context, self._context.clock.now()
        failures = [self._failure(part, states[part.id]) for part in parts if states[part.id].status in _STUCK]
        done = [part.id for part in parts if states[part.id].done]
        text = "\n".join(
            (
                f"It was divided into {len(parts)} parts. Merged and in your checkout: {', '.join(done) or 'none'}.",
                "What could not be done:",
                json.dumps(failures, indent=1)[:_TEXT_MAX],
            )
        )
        with context.questions.together():
            for part in parts:
                if not states[part.id].done:
                    reason = f"taken back: issue {issue.id} goes on without it"
                    context.journal.status(now, part.id, IssueStatus.SKIPPED, reason)
            context.questions.parts_failed(now, issue.id, text)
            context.journal.status(now, issue.id, IssueStatus.READY, "not all of its parts could be done")

    def _failure(self, part: Issue, state: IssueState) -> dict[str, object]:
        past = self._context.reader.past(part.id)
        failure = next((attempt.failure for attempt in reversed(past) if attempt.failure is not None), None)
        kind = failure.kind.value if failure is not None else state.status.value
        message = failure.message if failure is not None else state.reason
        best = max((len(attempt.changed) for attempt in past), default=0)
        partial = f"{len(past)} attempt(s); the best changed {best} file(s), kept on noface/{part.id}"
        return subtask_failure(part, kind, message, nesting_depth=part.depth, partial_output=partial)

    def begin(self, issue: Issue) -> None:
        """Run a parent's own gates on main, in a slot, which must be free."""
        slot = self._jobs.take_slot()
        self._jobs.start(Job(JobKind.EPIC, issue.id, partial(self._check, issue, slot), self._ended, slot))

    def _check(self, issue: Issue, slot: int, cancel: Canceller) -> tuple[Gated | None, str]:
        """Return what the gates said, None where that was cut short, and the commit they ran on."""
        context, plumbing = self._context, self._context.shop.plumbing
        main = plumbing.main()
        logs = Path(context.settings.attempts_dir).parent / "epics" / issue.id
        task = Task(issue.id, 0, f"epic-{issue.id}", str(slot), plumbing.tree(main), main, main, logs)
        gates = context.gates_for(issue)
        return run_gates(context.shop, task, gates, cancel, context.inbox.put, context.known), main

    def _ended(self, job: Job[tuple[Gated | None, str]]) -> None:
        """Close the epic, or give its issue back with what its gates say."""
        context, now = self._context, self._context.clock.now()
        gated, main = job.result or (None, "")
        if gated is None:
            return
        red = worst(gated.results)
        failure = gated.failure or (told(red, gated.results) if red is not None else None)
        if failure is None:
            context.journal.merged(now, job.issue_id, main, "; all its parts have landed, and its own gates pass")
            return
        text = f"All parts have landed, but the issue's own gates fail on main: {failure.message}\n\n{failure.excerpt}"
        context.questions.parts_failed(now, job.issue_id, text[:_TEXT_MAX])
        context.journal.status(now, job.issue_id, IssueStatus.READY, "all parts landed; its own gates are red")
