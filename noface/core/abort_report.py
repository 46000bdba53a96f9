"""The report of an issue that recovery gave up on (K6): what was tried, what came of it, what a person could do."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from noface.core.attempt import PastAttempt
from noface.core.history import Advice
from noface.core.issue import Issue
from noface.core.streaks import failure_of, same_failure
from noface.core.taxonomy import INTERRUPTED, PASSED, FailureKind
from noface.core.worker_run import Usage

_FIRST = "FirstAttempt"
_UNTOLD = "Retry"
"""What stands for the action that led to an attempt where none was recorded."""

RECOMMENDATIONS: dict[FailureKind, str] = {
    FailureKind.SYNTAX_ERROR: "Name a stronger model; the code it left does not even parse.",
    FailureKind.RUNTIME_ERROR: "Look at the stack trace on the issue's branch: the cause may lie outside the issue.",
    FailureKind.TEST_FAILURE: "Look whether tests and issue ask for the same; the design may need another approach.",
    FailureKind.LINT_FAILURE: "Look whether the rule that fails makes sense here, or can be met at all.",
    FailureKind.NO_TESTS: "Correct the test command: it runs no tests on this work.",
    FailureKind.NO_DIFF: "Say in the issue what should change; perhaps nothing has to.",
    FailureKind.REVIEW_REJECTED: "Decide between reviewer and worker: read what was objected to last.",
    FailureKind.OUTPUT_FORMAT: "Name another model: this one does not keep to the form of answers.",
    FailureKind.AGENT_CRASH: "Look at the agent's log; update the agent, or name another model.",
    FailureKind.MERGE_CONFLICT: "Let the other changes land first, then try again.",
    FailureKind.AGENT_CONFUSION: "Answer the questions in the issue's text or in a note.",
    FailureKind.AGENT_REFUSED: "Word the issue differently, or do it by hand.",
    FailureKind.TIMEOUT: "Split the issue into smaller ones, or raise the time limits.",
    FailureKind.RESOURCE_EXHAUSTED: "Split the issue into smaller ones.",
    FailureKind.BOUNDARY_VIOLATION: "Widen the issue's paths, or say how to do without.",
    FailureKind.GATE_TAMPERING: "Look whether the test that was weakened is wrong; if not, say so in a note.",
    FailureKind.RATE_LIMITED: "Wait for the provider, or name a model of another one.",
    FailureKind.OVERLOADED: "Wait for the provider, or name a model of another one.",
    FailureKind.NETWORK: "Mend the network, then run again.",
    FailureKind.AUTH: "Log in, or give the agent a valid key, then run again.",
    FailureKind.MISCONFIGURED: "Correct noface.toml or install what is missing, then run again.",
    FailureKind.ENVIRONMENT: "Mend what is missing on this machine, then run again.",
    FailureKind.BASELINE_RED: "Make main's own gates green first.",
    FailureKind.NO_PROGRESS: "Nothing new comes from trying again: rewrite the issue, or change the design by hand.",
    FailureKind.UNKNOWN: "Read the evidence of the last attempt; the cause is not known.",
}


def abort_report(
    issue: Issue,
    attempts: tuple[PastAttempt, ...],
    advice: tuple[Advice, ...],
    kind: FailureKind,
    reason: str,
    usages: tuple[Usage, ...] = (),
) -> dict[str, Any]:
    """Return the report; `usages` are those of the attempts, as far as they are known."""
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
        "recommendation": RECOMMENDATIONS[kind],
        "resources": _resources(attempts, advice, usages),
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


def _resources(
    attempts: tuple[PastAttempt, ...], advice: tuple[Advice, ...], usages: tuple[Usage, ...]
) -> dict[str, Any]:
    """Return what it took (P10); an amount that nobody said is None, never 0."""
    return {
        "attempts_by_model": dict(Counter(attempt.model for attempt in attempts)),
        "questions_by_model": dict(Counter(answer.model for answer in advice if answer.model)),
        "cost_usd": _sum([*(attempt.cost_usd for attempt in attempts), *(answer.cost_usd for answer in advice)]),
        "tokens_in": _sum(usage.tokens_in for usage in usages),
        "tokens_out": _sum(usage.tokens_out for usage in usages),
    }


def _sum(amounts: Iterable[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known else None
