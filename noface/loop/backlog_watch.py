"""The backlog as it is now: read again when the tracker's fingerprint changes."""

from noface.core.backlog import without_unknown_models
from noface.core.model import Backlog, Issue
from noface.core.taxonomy import IssueStatus
from noface.loop.context import RunContext

_LIFTED_BY_EDITING = (IssueStatus.BLOCKED, IssueStatus.SKIPPED)


class BacklogWatch:
    """Keeps issues and issue rows up to date with what people write."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._fingerprint: str | None = None
        self.backlog = Backlog()

    def refresh(self) -> None:
        """Read the backlog again if it may have changed."""
        context = self._context
        fingerprint = context.tracker.fingerprint()
        if fingerprint == self._fingerprint:
            return
        states = context.reader.states().values()
        merged = tuple(state.id for state in states if state.status is IssueStatus.MERGED)
        self.backlog = without_unknown_models(context.tracker.backlog(merged), context.settings.models)
        self._fingerprint = fingerprint
        context.journal.sync_backlog(self.backlog, fingerprint)
        self.lift_edited()

    def lift_edited(self) -> None:
        """Let blocked and skipped issues whose text a person has edited go on (N14)."""
        context = self._context
        states = context.reader.states()
        for issue in self.backlog.issues:
            state = states[issue.id]
            if state.status in _LIFTED_BY_EDITING and state.content_hash != issue.content_hash:
                context.journal.unblocked(context.clock.now(), issue.id, "", "its text was edited")

    def issue(self, issue_id: str) -> Issue | None:
        """Return a sound issue by id."""
        return next((issue for issue in self.backlog.issues if issue.id == issue_id), None)

    def wanted(self) -> tuple[Issue, ...]:
        """Return the issues this run is about: all of them, or those the person named."""
        only = self._context.settings.only_issues
        return tuple(issue for issue in self.backlog.issues if not only or issue.id in only)
