"""Questions that noface answers itself: whether dependencies are merged (K5), how a diff divides (N9)."""

from noface.core.attempt import PastAttempt
from noface.core.breakdown_files import split_by_files
from noface.core.history import Advice, AdviceOutcome, Topic
from noface.core.issue import Issue
from noface.loop.context import RunContext


def check_dependencies(context: RunContext, issue: Issue, last: PastAttempt, epoch: int) -> Advice:
    """Look at the issues that the worker's report names: those that are there and open are to be waited for."""
    named = last.report.needs if last.report is not None else ()
    states = context.reader.states()
    known = [needed for needed in dict.fromkeys(named) if needed in states and needed != issue.id]
    open_ones = tuple(
        needed for needed in known if not states[needed].done and not _waits_for(context, needed, issue.id)
    )
    merged = [needed for needed in known if states[needed].done]
    lines = [f"Issue {needed} is merged: its work is in your checkout." for needed in merged]
    lines += [f"There is no issue {needed}." for needed in named if needed not in states]
    if not named:
        lines.append("The report names no issue to wait for. Every dependency that is known is merged.")
    text = "\n".join(lines)
    return Advice(Topic.DEPENDENCY, last.number, epoch=epoch, strategy="recheck", text=text, needs=open_ones)


def _waits_for(context: RunContext, issue_id: str, target: str) -> bool:
    """Tell whether `issue_id` waits, near or far, for `target`: waiting for it in turn would never end."""
    known = {issue.id: issue for issue in context.issues}
    pending, seen = [issue_id], {issue_id}
    while pending:
        issue = known.get(pending.pop())
        for needed in issue.depends_on if issue is not None else ():
            if needed == target:
                return True
            if needed not in seen:
                seen.add(needed)
                pending.append(needed)
    return False


def split(
    context: RunContext, issue: Issue, past: tuple[PastAttempt, ...], epoch: int
) -> tuple[Advice, tuple[Issue, ...]]:
    """Divide an issue by the files of its largest diff; without two groups of files there is nothing to divide."""
    last = past[-1].number
    changed = max((attempt.changed for attempt in past if attempt.epoch == epoch), key=len, default=())
    rules = context.settings.policy.breakdown
    children = split_by_files(issue, changed, rules.children_max, frozenset(known_ids(context)))
    if not children:
        why = "the diff does not divide into parts"
        return Advice(Topic.BREAKDOWN, last, AdviceOutcome.UNUSABLE, epoch, cause=why), ()
    names = ", ".join(child.id for child in children)
    return Advice(Topic.BREAKDOWN, last, epoch=epoch, strategy="by files", text=f"divided into {names}"), children


def known_ids(context: RunContext) -> frozenset[str]:
    """Return every id that is taken: of issues that are or were there."""
    return frozenset(context.reader.states()) | frozenset(child.id for child in context.questions.children())
