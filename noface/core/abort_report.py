"""The report of an issue that recovery gave up on (K6): what was tried, what came of it, what a person could do."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from noface.core.attempt import PastAttempt
from noface.core.history import Advice
from noface.core.issue import Issue
from noface.core.policy_state import failure_of, same_failure
from noface.core.taxonomy import INTERRUPTED, PASSED, FailureKind

_FIRST = "FirstAttempt"
_UNTOLD = "Retry"
"""What stands for the action that led to an attempt where none was recorded."""


def abort_report(
    issue: Issue,
    attempts: tuple[PastAttempt, ...],
    advice: tuple[Advice, ...],
    kind: FailureKind,
    reason: str,
) -> dict[str, Any]:
    """Return the report as a JSON document."""
    return {
        "id": issue.id,
        "title": issue.title,
        "status": "failed",
        "failure_kind": kind.value,
        "failure_reason": reason,
        "attempts_made": len(attempts),
        "attempts_charged": sum(attempt.charged for attempt in attempts),
        "last_error": _last_error(attempts),
        "recovery_attempted": recovery_attempted(attempts, advice),
        "recommendation": kind.info.recommendation,
        "resources": _resources(attempts, advice),
    }


def recovery_attempted(attempts: tuple[PastAttempt, ...], advice: tuple[Advice, ...]) -> list[dict[str, str]]:
    """Return what was tried, in its order: each attempt by the action that led to it, each question by its topic."""
    asked: dict[tuple[int, int], list[Advice]] = {}
    for answer in advice:
        asked.setdefault((answer.epoch, answer.after), []).append(answer)
    tried: list[dict[str, str]] = []
    before: PastAttempt | None = None
    judged: PastAttempt | None = None
    for attempt in attempts:
        tried.append({"strategy": _strategy(before, attempt), "result": _result(judged, attempt)})
        answers = asked.pop((attempt.epoch, attempt.number), [])
        tried += [{"strategy": answer.topic.value, "result": _came_of(answer)} for answer in answers]
        before = attempt
        judged = judged if attempt.outcome == INTERRUPTED else attempt
    rest = (answer for answers in asked.values() for answer in answers)
    return [*tried, *({"strategy": answer.topic.value, "result": _came_of(answer)} for answer in rest)]


def _strategy(before: PastAttempt | None, attempt: PastAttempt) -> str:
    if before is None or before.epoch != attempt.epoch:
        return _FIRST
    return before.answer or _UNTOLD


def _result(judged: PastAttempt | None, attempt: PastAttempt) -> str:
    """Say what came of an attempt, beside the last one before it that was judged."""
    if attempt.outcome == PASSED:
        return "passed"
    if attempt.outcome == INTERRUPTED:
        return "interrupted"
    if judged is None:
        return f"failed: {attempt.outcome}"
    same = same_failure((judged, attempt)) > 1
    return "same_failure" if same else f"different_failure: {attempt.outcome}"


def _came_of(answer: Advice) -> str:
    said = answer.outcome.value.lower()
    return f"{said}: {answer.strategy}" if answer.strategy else said


def _last_error(attempts: tuple[PastAttempt, ...]) -> str | None:
    last = next((attempt for attempt in reversed(attempts) if attempt.outcome not in (PASSED, INTERRUPTED)), None)
    return failure_of(last).message if last is not None else None


def _resources(attempts: tuple[PastAttempt, ...], advice: tuple[Advice, ...]) -> dict[str, Any]:
    """Return what it took (P10); an amount that nobody said is None, never 0."""
    return {
        "attempts_by_model": dict(Counter(attempt.model for attempt in attempts)),
        "questions_by_model": dict(Counter(answer.model for answer in advice if answer.model)),
        "cost_usd": _sum([*(attempt.cost_usd for attempt in attempts), *(answer.cost_usd for answer in advice)]),
        "tokens_in": None,
        "tokens_out": None,
    }


def _sum(amounts: Iterable[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known else None
