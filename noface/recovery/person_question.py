"""The one question that an issue puts to a person: what exactly must be answered before it can go on (N13, L10).

Where the worker itself asked, its words are the question, quoted; else the kind of failure tells what nobody but a
person can know. The text of workers, resolvers and diagnoses is always quoted as theirs.

The report of an issue that recovery gave up on (K6): what was tried, what came of it, what a person could do.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from noface.integrity.diff_names import UnfitRule
from noface.integrity.tampering import ALTERED, MISSING
from noface.model.actions import ApprovalKind, RequestApproval, approval_kind
from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.history import Advice, AdviceOutcome, History, Topic
from noface.model.issue import Issue
from noface.model.quoting import quoted, short, some
from noface.model.taxonomy import INTERRUPTED, PASSED, Category, FailureKind
from noface.recovery.policy_state import failure_of, same_failure

_SAID_CHARS_MAX = 300
_PATHS_SHOWN = 5
_TESTS_SHOWN = 2
_NOT_ABOUT_TESTS = frozenset({"embedded-repository", *UnfitRule})
"""Rules about what must not land, of which no test and no path of the issue says anything."""


def blocked_question(issue: Issue, kind: FailureKind, history: History) -> str:
    """Return the question of a blocked issue."""
    last = _last(history)
    failure = last.failure if last is not None else None
    if kind.category is Category.BOUNDARY and last is not None and failure is not None:
        return _about_boundary(issue, history, last, failure)
    diagnosis = _newest(history, Topic.DIAGNOSIS)
    if diagnosis is not None and diagnosis.strategy == "skip_and_continue":
        return f"Can issue {issue.id} be left undone? The diagnosis says: {_said_in(diagnosis)}"
    knows_better = kind.category.external or kind.category is Category.BOUNDARY
    asked = () if knows_better else _asked(last)
    if last is not None and asked:
        more = f" (and {len(asked) - 1} more)" if len(asked) > 1 else ""
        return f"The worker of attempt {last.number} ({last.model}) asks: {quoted(asked[0], _SAID_CHARS_MAX)}{more}"
    if diagnosis is not None and diagnosis.strategy == "escalate":
        return f"The diagnosis asks for you: {_said_in(diagnosis)} What should the workers know or do?"
    tests = failure.failing_tests if failure is not None else ()
    if tests and kind.info.names_tests:
        named = some(tests, _TESTS_SHOWN)
        return f"What do the workers not know that would make {named} pass, or is that test wrong?"
    said = quoted(failure.message, _SAID_CHARS_MAX) if failure is not None else ""
    model = last.model if last is not None else "the model"
    return kind.info.question.format(id=issue.id, model=model, said=said).strip()


def approval_question(issue: Issue, action: RequestApproval, history: History) -> str:
    """Return the question of an issue that waits for approval."""
    last = _last(history)
    failure = last.failure if last is not None else None
    number = last.number if last is not None else 0
    match approval_kind(action):
        case ApprovalKind.LANDING:
            files = len(last.changed) if last is not None else 0
            changed = f" and changes {files} file{'s' if files != 1 else ''}" if files else ""
            return f"May attempt {number} of issue {issue.id} land? It passed every hard gate{changed}."
        case ApprovalKind.PATHS:
            return _may_change(issue, action.paths, _newest(history, Topic.BOUNDARY))
        case ApprovalKind.CONTRACT if last is not None and failure is not None:
            return _about_tests(issue, history, last, failure)
        case _:
            said = f": {quoted(failure.message, _SAID_CHARS_MAX)}" if failure is not None else ""
            return f"Shall noface go on with issue {issue.id} after {action.kind or 'this'}{said}?"


def _about_boundary(issue: Issue, history: History, last: PastAttempt, failure: Failure) -> str:
    advice = _newest(history, Topic.BOUNDARY)
    match failure.rule:
        case "secret-added":
            where = quoted(failure.location or "a file", 120)
            return f"Is what was added to {where} really a secret, and if so, how should the work get at it?"
        case "outside-paths":
            return _may_change(issue, failure.evidence, advice)
        case rule if rule in _NOT_ABOUT_TESTS:
            return f"May issue {issue.id} do this? noface found: {quoted(failure.message, _SAID_CHARS_MAX)}"
        case "report-boundary-violation":
            limits = f" ({some(issue.paths, _PATHS_SHOWN)})" if issue.paths else ""
            return f"May issue {issue.id} go beyond its paths{limits}? {_says(advice, failure)}"
        case _:
            return _about_tests(issue, history, last, failure)


def _may_change(issue: Issue, paths: tuple[str, ...], advice: Advice | None) -> str:
    limits = f" Its paths are {some(issue.paths, _PATHS_SHOWN)}." if issue.paths else ""
    resolver = f" The resolver says: {_said_in(advice)}" if advice is not None else ""
    return f"May issue {issue.id} also change {some(paths, _PATHS_SHOWN)}?{limits}{resolver}"


def _about_tests(issue: Issue, history: History, last: PastAttempt, failure: Failure) -> str:
    """Ask whether the test is wrong that the worker weakened, or would have to."""
    asked = _asked(last)
    if failure.rule in (ALTERED, MISSING) and not asked:
        named = some(failure.failing_tests, _TESTS_SHOWN) if failure.failing_tests else "what judges it on main"
        return (
            f"May attempt {last.number} of issue {issue.id} land, so that {named} gives way to it? noface found:"
            f" {quoted(failure.message, _SAID_CHARS_MAX)}"
        )
    said = quoted(asked[0], _SAID_CHARS_MAX) if asked else quoted(failure.message, _SAID_CHARS_MAX)
    failing = [a.failure.failing_tests for a in reversed(history.current) if a.failure and a.failure.failing_tests]
    if failing:
        return f"Is the test {some(failing[0], _TESTS_SHOWN)} wrong? The worker says: {said}"
    if failure.kind is FailureKind.GATE_TAMPERING:
        return f"Are the tests or gates wrong that issue {issue.id} weakened? noface found: {said}"
    return f"Is a test or a contract wrong that issue {issue.id} runs into? The worker says: {said}"


def _says(advice: Advice | None, failure: Failure) -> str:
    if advice is not None:
        return f"The resolver says: {_said_in(advice)}"
    return f"The worker says: {quoted(failure.message, _SAID_CHARS_MAX)}"


def _said_in(advice: Advice) -> str:
    said = " ".join(part for part in (advice.cause, advice.text) if part)
    if advice.topic is Topic.BOUNDARY:  # what comes before its guidance is what the question says itself
        said = said.partition("Guidance: ")[2] or said
    return quoted(said, _SAID_CHARS_MAX)


def _newest(history: History, topic: Topic) -> Advice | None:
    """Return the usable answer on a topic since the last attempt."""
    last = _last(history)
    advice = history.answer(topic, last.number) if last is not None else None
    return advice if advice is not None and advice.outcome is AdviceOutcome.ADVISED else None


def _last(history: History) -> PastAttempt | None:
    """Return the last attempt of this epoch that tells something."""
    return next((attempt for attempt in reversed(history.current) if attempt.outcome != INTERRUPTED), None)


def _asked(attempt: PastAttempt | None) -> tuple[str, ...]:
    if attempt is None:
        return ()
    failure = attempt.failure.questions if attempt.failure is not None else ()
    report = attempt.report.questions if attempt.report is not None else ()
    return tuple(dict.fromkeys(text for text in (short(q, 1000) for q in (*failure, *report)) if text))


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
