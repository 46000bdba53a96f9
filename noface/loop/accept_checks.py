"""Runs the issues' `accept` commands on main before their first attempt, in threads, one a slot."""

import shlex
from concurrent.futures import ThreadPoolExecutor

from noface.core.issue import Issue
from noface.core.taxonomy import IssueStatus
from noface.loop.context import RunContext
from noface.loop.precheck import UNCOMMITTED, AcceptChecked, check_accept
from noface.system.supervise import Canceller


class AcceptChecks:
    """Knows which issues' commands were found red. What it starts ends with an AcceptChecked in the inbox."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._pool = ThreadPoolExecutor(context.settings.workers, thread_name_prefix="accept")
        self._cancel = Canceller()
        self._slots: dict[str, int] = {}
        self._failing: dict[tuple[str, str], int] = {}

    @property
    def issues(self) -> frozenset[str]:
        """The issues being checked."""
        return frozenset(self._slots)

    def needed(self, issue: Issue) -> bool:
        """Tell whether an issue must be checked before it is worked on."""
        known = (issue.id, issue.content_hash) in self._failing
        return bool(issue.accept) and not known and not self._context.reader.past(issue.id)

    def failing(self, issue: Issue) -> int | None:
        """Return how many tests of the issue's commands fail on main, None where it has no commands."""
        return self._failing.get((issue.id, issue.content_hash), 1) if issue.accept else None

    def begin(self, issue: Issue, slot: int) -> None:
        """Check an issue in a slot."""
        self._slots[issue.id] = slot
        self._pool.submit(self._check, issue, slot)

    def _check(self, issue: Issue, slot: int) -> None:
        checked = AcceptChecked(issue.id, interrupted=True)
        try:
            checked = check_accept(self._context, issue, slot, self._cancel)
        except Exception as error:  # noqa: BLE001 - whatever broke, the loop must hear of it and end the run
            checked = AcceptChecked(issue.id, interrupted=True, broken=error)
        finally:
            self._context.inbox.put(checked)

    def ended(self, checked: AcceptChecked, issue: Issue | None) -> int:
        """Record what a check found; return the slot it held."""
        slot = self._slots.pop(checked.issue_id)
        journal, now = self._context.journal, self._context.clock.now()
        if issue is None or checked.interrupted:
            return slot
        if checked.failure is not None:
            reason = f"its accept command cannot be run: {checked.failure.message}"
            journal.blocked(now, issue.id, reason, _block(issue, checked))
        elif checked.failing == 0:
            reason = "already satisfied: its accept commands pass on main"
            journal.status(now, issue.id, IssueStatus.SKIPPED, reason, satisfied=True)
        else:
            self._failing[issue.id, issue.content_hash] = checked.failing
        return slot

    def stop(self, *, urgent: bool) -> None:
        """End what is being checked."""
        self._cancel.cancel(urgent=urgent)

    def close(self) -> None:
        """End what is being checked, and wait for it."""
        self._cancel.cancel()
        self._pool.shutdown(wait=True)


def _block(issue: Issue, checked: AcceptChecked) -> dict[str, object]:
    failure = checked.failure
    assert failure is not None  # noqa: S101 - the caller looked
    uncommitted = failure.rule == UNCOMMITTED
    todo = f"Correct `accept` in {issue.source}, or install what it calls; then run noface again."
    return {
        "kind": failure.kind.value,
        "summary": f"{failure.kind}: its accept command cannot be run: {failure.message}",
        "tried": [],
        "errors": [failure.message, *failure.evidence[-3:]],
        "unclear": [],
        "questions": [],
        "options": ["commit the file"] if uncommitted else ["correct the command", "install what it needs"],
        "next_steps": ["Commit the file; noface goes on with the next run." if uncommitted else todo],
        "question": f"What should issue {issue.id} be accepted by?",
        "commands": ["git status", f"$EDITOR {shlex.quote(issue.source)}", f"noface retry {issue.id}"],
    }
