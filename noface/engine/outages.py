"""Providers that are away: one wait a model, shared by all issues, and how long a run waits (N1).

`recovery/schedule` says who starts while a model's circuit breaker is open, or half-open: here it is opened, and closed
once the provider answers. A run waits for an outage for `[retry] outage_max` at most, counted from when it noticed.
"""

from collections.abc import Collection

from noface.engine.context import RunContext
from noface.model.attempt import AttemptReport, Judged, PastAttempt
from noface.model.taxonomy import IssueStatus
from noface.recovery.schedule import Breaker, Waiting
from noface.store.decisions import OF_A_PROVIDER
from noface.store.records import IssueRow


def blocked_rows(context: RunContext, kinds: Collection[str] | None = None) -> list[IssueRow]:
    """Return the blocked issues that are still in the backlog; with `kinds` only those blocked for one of them."""
    rows = (row for row in context.reader.issues() if row.status == IssueStatus.BLOCKED and row.present)
    return [row for row in rows if kinds is None or blocked_detail(row, "kind") in kinds]


def blocked_detail(row: IssueRow, key: str) -> str:
    """Return a text of what is told of a blocked issue, "" where it is not there."""
    return str(row.block.get(key, "")) if row.block is not None else ""


def provider_away(context: RunContext, model: str, last: PastAttempt | None, until: float, reason: str) -> Breaker:
    """Let all issues wait for a model whose provider is away, as the `last` attempt has shown."""
    started_at, kind = (last.started_at, last.outcome) if last is not None else (context.clock.now(), "")
    return context.open_breaker(model, started_at=started_at, until=until, kind=kind, reason=reason)


def answers_again(context: RunContext, model: str, began_at: float, *, passed: bool = False) -> None:
    """Close a model's circuit breaker, where work that began at `began_at` shows that its provider answers.

    Work from before the provider failed shows nothing. The issues that wait for it go on. Those that are blocked for it
    try again where its work `passed`, once an issue and run: else two issues could unblock each other for ever while a
    provider answers now and then.
    """
    breaker = context.reader.waits().get(model)
    if breaker is None or began_at < breaker.since <= context.clock.now():
        return
    context.journal.wait_over(model)
    context.away_since.pop(model, None)
    for row in context.reader.issues():
        if (
            row.status == IssueStatus.WAITING
            and row.until is not None
            and row.present
            and _waits_for(context, row, model)
        ):
            context.set_status(row.id, IssueStatus.READY, f"{model} answers again")
    for row in blocked_rows(context, OF_A_PROVIDER if passed else ()):
        if row.model == model and row.id not in context.given_back:
            context.given_back.add(row.id)
            context.journal.unblocked(context.clock.now(), row.id, "", f"{model} answers again; tried again")


def _waits_for(context: RunContext, row: IssueRow, model: str) -> bool:
    """Tell whether an issue's last attempt failed for the provider of `model`, which it waits for."""
    past = context.reader.past(row.id)
    return bool(past) and past[-1].outcome in OF_A_PROVIDER and past[-1].model == model


def provider_answered(context: RunContext, model: str, began_at: float, report: AttemptReport) -> None:
    """Close the model's circuit breaker where the attempt shows that its provider works: its worker ended well.

    Of others what they do shows that (`Engine._breakers_close`): a command may crash because nobody answers it.
    """
    if isinstance(report, Judged) and report.agent.error is None:
        answers_again(context, model, began_at, passed=report.failure is None)


def notice_waits(context: RunContext) -> None:
    """Note at the start of a run which providers an earlier one was waiting for."""
    for model in context.reader.waits():
        context.away_since.setdefault(model, context.clock.now())


def too_long(context: RunContext, waiting: Waiting) -> str:
    """Say why a run does not wait for the provider that an issue waits for; "" where it does, or waits for no provider.

    An outage that an earlier run has waited for counts from the start of this one.
    """
    if not waiting.model or waiting.until is None:
        return ""
    limit_s = context.settings.policy.outage_max_s
    since = context.away_since.setdefault(waiting.model, context.clock.now())
    if waiting.until <= since + limit_s:
        return ""
    return f"stopped at the limit outage_max ({limit_s / 3600:g} h): {waiting.reason}; `noface run` goes on waiting"
