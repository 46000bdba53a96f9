"""What a person is told of a blocked issue (N13): what was tried, the errors, what is unclear, what to do next."""

import shlex
from typing import Any

from noface.core.actions import Block
from noface.core.model import Issue, PastAttempt
from noface.core.taxonomy import FailureKind

_ERRORS_MAX = 5

_FIRST_STEPS: dict[FailureKind, str] = {
    FailureKind.AUTH: "Log the agent in, or give it a key; then run noface again: this clears itself.",
    FailureKind.MISCONFIGURED: "Correct the model's entry in noface.toml or install its program, and run again.",
    FailureKind.ENVIRONMENT: "Mend what is missing on this machine (see the error), then run noface again.",
    FailureKind.RATE_LIMITED: "Wait for the provider, or name another model; then run noface again.",
    FailureKind.OVERLOADED: "Wait for the provider, or name another model; then run noface again.",
    FailureKind.NETWORK: "Check the network; then run noface again.",
    FailureKind.TIMEOUT: "Split the issue into smaller ones, or raise the model's timeout.",
    FailureKind.RESOURCE_EXHAUSTED: "Split the issue into smaller ones.",
    FailureKind.BOUNDARY_VIOLATION: "Widen the issue's `paths` if it wanted the right thing, or say how to do without.",
    FailureKind.GATE_TAMPERING: "Look whether the test is wrong. If so, correct it yourself; if not, say so in a note.",
    FailureKind.NO_DIFF: "Say what should change: the worker found nothing to do.",
    FailureKind.AGENT_CONFUSION: "Answer the question in the issue's text or in a note.",
}
CLEARS_ITSELF = (
    FailureKind.AUTH,
    FailureKind.MISCONFIGURED,
    FailureKind.ENVIRONMENT,
    FailureKind.BASELINE_RED,
    FailureKind.RATE_LIMITED,
    FailureKind.OVERLOADED,
    FailureKind.NETWORK,
)
"""Blocks of these kinds are lifted by the next run: their cause lies outside the issue."""


def block_document(issue: Issue, action: Block, attempts: tuple[PastAttempt, ...], branch: str) -> dict[str, Any]:
    """Return what `noface blocked --json` shows of an issue; `branch` is where its best work stands."""
    failures = [attempt.failure for attempt in attempts if attempt.failure is not None]
    last = failures[-1] if failures else None
    newest_first = dict.fromkeys(f"{f.kind}: {f.message}" for f in reversed(failures))
    errors = list(newest_first)[:_ERRORS_MAX][::-1]
    questions = list(dict.fromkeys(q for f in failures for q in f.questions))
    return {
        "kind": action.kind.value,
        "summary": _summary(action, attempts, last.message if last else ""),
        "tried": [_tried(attempt) for attempt in attempts],
        "errors": errors,
        "unclear": questions,
        "questions": questions,
        "options": ["add what is missing and unblock", "name a stronger model", "take the branch over by hand"],
        "next_steps": [
            _FIRST_STEPS.get(action.kind, "Read the last error; add to the issue what the worker could not know."),
            f"See the evidence: noface show {issue.id}",
            *([f"See the best work so far: git diff ...{branch}"] if branch else []),
        ],
        "commands": [
            f'noface unblock {issue.id} --note "…"',
            f"noface retry {issue.id}",
            f"$EDITOR {shlex.quote(issue.source)}" if issue.source else f"noface issue show {issue.id}",
        ],
    }


def _summary(action: Block, attempts: tuple[PastAttempt, ...], message: str) -> str:
    count = len(attempts)
    after = f" after {count} attempt{'s' if count != 1 else ''}" if count else ""
    return f"{action.kind}{after}: {action.reason}" + (f". Last: {message}" if message else "")


def _tried(attempt: PastAttempt) -> str:
    what = attempt.outcome if attempt.failure is None else f"{attempt.outcome}: {attempt.failure.message}"
    return f"attempt {attempt.number} with {attempt.model}: {what}"
