"""Writes down how an attempt ended: what it is charged, what a person should note, what each of its steps left."""

from noface.core.attempt import AttemptOrder, AttemptReport
from noface.core.overrun import Overrun
from noface.core.partial import accumulate, steps_of
from noface.core.policy_state import charged
from noface.core.taxonomy import Category
from noface.loop.context import RunContext
from noface.loop.lifting import answers_again
from noface.system.failpoints import hit

_PATHS_SHOWN_MAX = 10


def record_attempt(
    context: RunContext, order: AttemptOrder, report: AttemptReport, *more_notes: str, over: Overrun | None = None
) -> bool:
    """Record a report; False where the attempt was fenced: somebody has settled it already (I10).

    `over` is why it was ended for money, where it was.
    """
    issue_id, settings = order.issue.id, context.settings
    epoch = context.reader.state(issue_id).epoch
    costs = charged(report, tuple(past for past in context.reader.past(issue_id) if past.epoch == epoch))
    applied = context.journal.attempt_finished(
        context.clock.now(),
        report,
        charged=costs,
        notes=(*_notes(report), *more_notes, *((over.note,) if over is not None else ())),
        partial=accumulate(steps_of(report), settings.partial_form, settings.earlier_bytes_max),
        mark=over.mark if over is not None else "",
    )
    if applied:
        hit("attempt_recorded")
    return applied


def provider_answered(context: RunContext, model: str, report: AttemptReport) -> None:
    """Close the model's circuit breaker where the attempt shows that its provider works."""
    transient = report.failure is not None and report.failure.category is Category.TRANSIENT
    if report.agent is not None and not report.interrupted and not transient:
        answers_again(context, model)


def _notes(report: AttemptReport) -> tuple[str, ...]:
    snapshot, agent = report.snapshot, report.agent
    notes = list(report.notes)
    if snapshot is not None and snapshot.protected_edits:
        notes.append(f"protected files put back: {', '.join(snapshot.protected_edits[:_PATHS_SHOWN_MAX])}")
        notes.append("what was undone is kept in undone.patch; to see it: noface logs ID N --undone")
    if agent is not None and agent.survivors_killed:
        notes.append(f"{agent.survivors_killed} process(es) the worker left behind were ended")
    if agent is not None and agent.usage.priced:
        notes.append("its cost is an estimate: priced from tokens")
    return tuple(notes)
