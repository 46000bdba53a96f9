"""Who does not answer: the machines that stations ask, and providers, with one wait a model that all issues share (N1).

A run waits for an outage for `[retry] outage_max` at most, counted from when it noticed.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace

from noface.engine.context import RunContext
from noface.engine.prompt_context import history_of
from noface.errors import ForgeAwayError, NofaceError, RemoteError, SigningError
from noface.model.attempt import AttemptOrder, AttemptReport, Judged, PastAttempt, failure_of
from noface.model.history import AdviceOutcome
from noface.model.taxonomy import Cause, FailureKind, IssueStatus
from noface.process.clock import Clock
from noface.recovery.policy_state import OF_THE_MODEL, instead_of
from noface.recovery.rules_outside import may_pass
from noface.recovery.schedule import Breaker, Waiting
from noface.recovery.sudden_ends import (
    SUDDEN_S,
    as_of_the_model,
    has_worked,
    not_the_work,
    row_with,
    sudden_end,
    words_of,
)
from noface.store.decisions import OF_A_PROVIDER
from noface.store.reader import Reader
from noface.store.records import IssueRow

PUSH_PAUSES_S = (1.0, 4.0, 60.0, 300.0)
PUSH_REFUSED_S = (60.0, 300.0, 1800.0)
"""Until a refused push is tried again: a remote mostly refuses until somebody changes its settings."""
SOON_S = 15.0
"""A pause of up to this length is none that anybody need be told of."""


@dataclass(slots=True)
class Outage:
    """Calls to another machine that failed in a row: an outage is told once until it is over, a refusal once a run.

    The next try is not before the time that the other side named, and not before a pause that grows (epoch seconds).
    With `each_reason` an outage is told again with another reason, and when the next try is put off for long.
    """

    clock: Clock
    pauses_s: tuple[float, ...]
    refused_s: tuple[float, ...]
    tell: Callable[[NofaceError, float, str | None], None] = lambda _error, _until, _issue_id: None
    each_reason: bool = False
    failures: int = 0
    since: float = 0.0
    until: float = 0.0
    away: bool = False
    passing: bool = True
    reason: str = ""
    _refusals: set[str] = field(default_factory=set)

    def met(self, error: NofaceError, *, quietly: bool = False) -> None:
        """Note that a call has failed; `until` is when to try again. `quietly`: that was told already."""
        now, passing = self.clock.now(), passes(error)
        pauses = self.pauses_s if passing else self.refused_s
        pause = pauses[min(self.failures, len(pauses) - 1)]
        self.since = self.since if self.failures else now
        self.until = max(error.until if isinstance(error, ForgeAwayError) else 0.0, now + pause)
        longer = passing and self.until > now + SOON_S and self.failures < len(self.pauses_s)
        of_issue = self.each_reason and (error.reason != self.reason or longer)
        self.failures, self.passing, self.reason = self.failures + 1, passing, error.reason
        if not quietly and (of_issue or (passing and not self.away)):
            self.tell(error, self.until, None)
        elif not (quietly or passing or self.each_reason):
            self.refused(error)
        self.away = self.away or passing

    def refused(self, error: NofaceError, issue_id: str | None = None) -> None:
        remedy = error.hint or error.message
        if remedy not in self._refusals:
            self._refusals.add(remedy)
            self.tell(error, self.until, issue_id)

    def over(self) -> bool:
        was_away, self.away = self.away, False
        self.failures, self.until, self.reason = 0, 0.0, ""
        return was_away


def passes(error: NofaceError) -> bool:
    """True if what keeps a call from succeeding goes by itself; a key that signs may only be locked."""
    return isinstance(error, ForgeAwayError | SigningError) or (isinstance(error, RemoteError) and error.passing)


def blocked_rows(reader: Reader, kinds: Collection[str] | None = None) -> list[IssueRow]:
    rows = reader.blocked()
    return [row for row in rows if kinds is None or (row.block is not None and row.block.kind in kinds)]


def lift_blocks(context: RunContext, kinds: Collection[str], why: str) -> None:
    for row in blocked_rows(context.reader, kinds):
        context.journal.unblocked(context.clock.now(), row.id, why)


def ask_again(context: RunContext) -> None:
    """Ask the roles again whose absence made their questions a person's: whoever starts a run may have mended that."""
    for row in context.reader.issues():
        asked = context.questions.advice(row.id) if row.status == IssueStatus.APPROVAL and row.present else ()
        if asked and asked[-1].outcome is AdviceOutcome.UNAVAILABLE:
            context.questions.forget_absences(row.id)
            context.set_status(row.id, IssueStatus.READY, f"{asked[-1].model} was not there; it is asked again")


def provider_away(context: RunContext, model: str, last: PastAttempt | None, until: float, reason: str) -> Breaker:
    started_at, kind = (last.started_at, last.outcome) if last is not None else (context.clock.now(), "")
    return context.open_breaker(model, started_at=started_at, until=until, kind=kind, reason=reason)


def answers_again(context: RunContext, model: str, began_at: float, *, passed: bool = False) -> None:
    """Close a model's circuit breaker if work that began after its provider failed shows that it answers.

    The issues that wait for it go on. Those blocked for it try again if its work `passed`, once an issue and run: else
    two could unblock each other for ever.
    """
    breaker = context.reader.waits().get(model)
    if breaker is None or began_at < breaker.since <= context.clock.now():
        return
    context.journal.wait_over(model)
    context.away_since.pop(model, None)
    for row in context.reader.issues():
        timed = row.status == IssueStatus.WAITING and row.until is not None and row.present
        past = context.reader.past(row.id) if timed and row.cause == Cause.PROVIDER else ()
        if past and past[-1].outcome in OF_A_PROVIDER and past[-1].model == model:
            context.set_status(row.id, IssueStatus.READY, f"{model} answers again")
    for row in blocked_rows(context.reader, OF_A_PROVIDER if passed else ()):
        if row.model == model and row.id not in context.given_back:
            context.given_back.add(row.id)
            context.journal.unblocked(context.clock.now(), row.id, f"{model} answers again; tried again")


def of_its_model(context: RunContext, order: AttemptOrder, report: AttemptReport) -> AttemptReport:
    """Return a report whose failure is its model's where attempts at other issues have ended at once like this one."""
    if not isinstance(report, Judged):
        return report
    model, plumbing = order.model.name, context.env.plumbing
    unchanged = report.snapshot.candidate_tree == plumbing.tree(order.start)
    worked = has_worked(context.reader.outcomes(model))
    end = sudden_end(order.issue.id, report.agent, report.failure, worked=worked) if unchanged else None
    before = context.sudden_ends.get(model, ())
    row = context.sudden_ends[model] = row_with(before, end)
    if not_the_work(before) and end is None and report.agent.error is None:
        _give_back(context, dict(before), model)
    if report.failure is None or not not_the_work(row):
        return report
    past = history_of(context, order.issue)
    other = instead_of(model, past.current, past, context.settings.policy)
    failure = as_of_the_model(report.failure, row, other, worked=worked)
    # Nobody could know what these words say when attempts ended with them before.
    for issue_id, words in dict(before).items() if not not_the_work(before) else ():
        for attempt in context.reader.past(issue_id):
            alike = attempt.failure is not None and words_of(attempt.failure) == words
            if attempt.model == model and attempt.charged and alike:
                context.journal.attempt_overruled(context.clock.now(), issue_id, attempt.number, failure)
    return replace(report, failure=failure)


def _give_back(context: RunContext, issues: Collection[str], model: str) -> None:
    for blocked in blocked_rows(context.reader, (FailureKind.AGENT_CRASH,)):
        if blocked.id in issues and blocked.id not in context.given_back:
            context.given_back.add(blocked.id)
            context.journal.unblocked(context.clock.now(), blocked.id, f"{model} works again; tried again")


def shows_life(context: RunContext, model: str, began_at: float) -> bool:
    """True if what a model prints shows that its provider answers: one that ends at once prints its error."""
    return not not_the_work(context.sudden_ends.get(model, ())) or context.clock.now() > began_at + SUDDEN_S


def provider_answered(context: RunContext, model: str, began_at: float, report: AttemptReport) -> None:
    """Close the model's circuit breaker if the attempt's worker ended well: others crash for want of an answer."""
    if isinstance(report, Judged) and report.agent.error is None:
        answers_again(context, model, began_at, passed=report.failure is None)
        _accepted_again(context, model)


def model_is_refused(context: RunContext, model: str) -> None:
    context.refused |= {model, *context.settings.policy.same_login(model)}
    context.journal.wait_over(model)
    context.away_since.pop(model, None)


def _accepted_again(context: RunContext, model: str) -> None:
    same = {model, *context.settings.policy.same_login(model)}
    context.refused -= same
    for row in blocked_rows(context.reader, OF_THE_MODEL):
        past = context.reader.past(row.id) if row.model in same and row.id not in context.given_back else ()
        if past and may_pass(failure_of(past[-1])):
            context.given_back.add(row.id)
            context.journal.unblocked(context.clock.now(), row.id, f"{model} works again; tried again")


def too_long(context: RunContext, waiting: Waiting) -> str:
    """Say why a run does not wait for the provider that an issue waits for; "" if it does, or waits for none."""
    if not waiting.model or waiting.until is None:
        return ""
    limit_s = context.settings.policy.outage_max_s
    since = context.away_since.setdefault(waiting.model, context.clock.now())
    if waiting.until <= since + limit_s:
        return ""
    return f"stopped at the limit outage_max ({limit_s / 3600:g} h): {waiting.reason}; `noface run` goes on waiting"
