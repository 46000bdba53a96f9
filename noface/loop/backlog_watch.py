"""The backlog as it is now: read again when the tracker's fingerprint changes."""

from collections.abc import Mapping
from dataclasses import replace

from noface.core.backlog import without_unknown_models
from noface.core.issue import Backlog, Issue, IssueState
from noface.core.masked_records import masked_backlog
from noface.core.parts import with_parts
from noface.core.taxonomy import IssueStatus
from noface.loop.context import RunContext
from noface.store.questions import Questions

_LIFTED_BY_EDITING = (IssueStatus.BLOCKED, IssueStatus.SKIPPED)


class BacklogWatch:
    """Keeps issues and issue rows up to date with what people write."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._seen: tuple[str, str] | None = None
        self.backlog = Backlog()

    def refresh(self) -> None:
        """Read the backlog again if it may have changed."""
        context = self._context
        fingerprint = context.tracker.fingerprint()
        seen = (fingerprint, context.reader.agreements())
        if seen == self._seen and not context.backlog_stale:
            return
        context.backlog_stale = False
        known = context.reader.states().values()
        merged = tuple(state.id for state in known if state.status is IssueStatus.MERGED)
        listed = without_unknown_models(context.tracker.backlog(merged), context.settings.models)
        self.backlog = replace(listed, issues=with_parts(listed.issues, context.questions.children()))
        self._seen = seen
        context.journal.sync_backlog(masked_backlog(self.backlog, context.shop.masker), fingerprint)
        states = context.reader.states()
        agreed = tuple(as_agreed(issue, states[issue.id]) for issue in self.backlog.issues)
        agreed = with_rechecks(agreed, states, context.questions)
        self.backlog = replace(self.backlog, issues=agreed)
        context.issues = agreed
        if context.at_first is None:
            context.at_first = frozenset(issue.id for issue in agreed)
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
        return tuple(issue for issue in self.backlog.issues if not only or issue.id in only or issue.parent in only)


def as_agreed(issue: Issue, state: IssueState) -> Issue:
    """Add what was agreed since the issue was written: paths a person allowed, issues the work turned out to need."""
    if not state.granted_paths and not state.needs:
        return issue
    paths = tuple(dict.fromkeys(issue.paths + state.granted_paths)) if issue.paths else ()
    return replace(issue, paths=paths, depends_on=tuple(dict.fromkeys(issue.depends_on + state.needs)))


def with_rechecks(
    issues: tuple[Issue, ...], states: Mapping[str, IssueState], questions: Questions
) -> tuple[Issue, ...]:
    """Give issues whose boundary was widened the accept commands of the merged issues that they may now break (K5)."""
    widened = [issue.id for issue in issues if states[issue.id].granted_paths]
    if not widened:
        return issues
    merged = {issue.id: issue.accept for issue in issues if states[issue.id].status is IssueStatus.MERGED}
    named = {name: [other for advice in questions.advice(name) for other in advice.recheck] for name in widened}
    return tuple(
        replace(issue, recheck=tuple(command for other in named[issue.id] for command in merged.get(other, ())))
        if issue.id in named
        else issue
        for issue in issues
    )
