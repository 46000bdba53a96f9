"""Decides whether the next attempt goes on with the session of its agent, and whether the agent did. Pure.

Only an attempt that something other than its worker ended, or whose answer could not be read, is gone on with: each
charged retry has a fresh context (L3). Model and thinking must be the same, the workspace must hold what the session
knows, and nobody may have tried it and been refused.
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
    """Return why a run could not go on with its session: an error of its own before its model had said anything."""
    error = run.error
    if run.ended_by is not EndedBy.ITSELF or error is None or run.usage.tokens:
        return ""
    if error.category is Category.TRANSIENT or error.kind is FailureKind.AUTH:
        return ""
    return error.message
