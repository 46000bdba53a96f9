"""Decides whether the next attempt goes on with the session of its agent, and whether the agent did. Pure.

A session is only for going on with an attempt that something other than its worker ended, or whose answer could not be
read, and that nobody was charged for: each charged retry has a fresh context (L3). The newest of the attempts at the
end that were cut off and had a session is the one, or the last if it is to be reminded of the form, if

- the next attempt has the same entry of [models] and thinks as long: nobody else knows the conversation;
- the workspace goes on from what that attempt left, or it left nothing: a session must find its files as it knows them;
- no attempt has tried that session and was refused.
"""

import re

from noface.model.attempt import PastAttempt
from noface.model.start import StartPoint, StartReason
from noface.model.taxonomy import Category, FailureKind
from noface.model.worker_run import AgentRun, EndedBy
from noface.recovery.start import cut_off, left_work

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,199}")
"""What sessions are called; an agent's output is never taken for an option."""

_KEEPS_THE_FILES = (StartReason.NOTHING_YET, StartReason.BEST_SO_FAR)


def session_to_resume(
    attempts: tuple[PastAttempt, ...], start: StartPoint, model: str, *, think: bool
) -> PastAttempt | None:
    """Return the attempt whose session the next one goes on with, None if it begins afresh."""
    last = gone_on_with(attempts)
    if last is None or (last.model, last.think) != (model, think) or not _ID.fullmatch(last.session):
        return None
    there = start.reason is StartReason.CUT_OFF or start.holds == last.number
    if not there and (left_work(last) or start.reason not in _KEEPS_THE_FILES):
        return None
    refused = {tried.session for attempt in attempts if (tried := attempt.resumed) is not None and tried.refused}
    return None if last.session in refused else last


def gone_on_with(attempts: tuple[PastAttempt, ...]) -> PastAttempt | None:
    """Return the attempt that the next one goes on with, by its session where that can be had; None if none is."""
    last = attempts[-1] if attempts else None
    if last is not None and last.outcome == FailureKind.OUTPUT_FORMAT and not last.charged:
        return last
    return next((attempt for attempt in cut_off(attempts) if attempt.session or left_work(attempt)), None)


def refusal(run: AgentRun) -> str:
    """Return why a run could not go on with its session; "" if it did, or where beginning afresh would not help.

    The agent ended by itself with an error before its model had said anything: it does not find the session, it is
    of another version, or the provider does not take the conversation. A provider that is away, or a login that is
    refused, says nothing about the session.
    """
    error = run.error
    if run.ended_by is not EndedBy.ITSELF or error is None or run.usage.tokens:
        return ""
    if error.category is Category.TRANSIENT or error.kind is FailureKind.AUTH:
        return ""
    return error.message
