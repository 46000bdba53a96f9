"""Turns verdicts into the documents of `noface classify`. Scripts read them: add keys, never rename."""

from collections.abc import Sequence

from noface.diagnosis.agent_errors import AgentVerdict
from noface.diagnosis.evidence import AlsoMatched, GateVerdict
from noface.model.worker_run import Usage
from noface.ui.page import Record


def gate_document(verdict: GateVerdict, notes: Sequence[str] = ()) -> Record:
    """Return what `noface classify gate` prints: PASS or a kind, and what decided."""
    return {
        "class": "PASS" if verdict.kind is None else verdict.kind.value,
        "category": None if verdict.kind is None else verdict.kind.category.value,
        "location": verdict.location,
        "key_line": verdict.key_line,
        "failing_tests": list(verdict.failing_tests),
        "tests_run": verdict.tests_run,
        "rule": verdict.rule,
        "message": verdict.message,
        "excerpt": verdict.excerpt,
        "stack_trace": verdict.stack_trace,
        "signature": verdict.signature,
        "evidence": list(verdict.evidence),
        "also_matched": _also(verdict.also_matched),
        "notes": list(notes),
    }


def agent_document(verdict: AgentVerdict, usage: Usage, last_words: str) -> Record:
    """Return what `noface classify agent` prints: SUCCESS or a kind, and what decided."""
    counted = usage.tokens_in is not None or usage.tokens_out is not None
    return {
        "class": "SUCCESS" if verdict.kind is None else verdict.kind.value,
        "category": None if verdict.kind is None else verdict.kind.category.value,
        "location": None,
        "key_line": verdict.key_line,
        "failing_tests": [],
        "rule": verdict.rule,
        "message": verdict.message,
        "excerpt": verdict.excerpt,
        "signature": verdict.signature,
        "evidence": list(verdict.evidence),
        "also_matched": _also(verdict.also_matched),
        "retry_at": verdict.retry_at,
        "resource": verdict.resource,
        "questions": list(verdict.questions),
        "cost_usd": usage.cost_usd,
        "tokens": {"in": usage.tokens_in, "out": usage.tokens_out} if counted else None,
        "session_id": usage.session_id,
        "last_words": last_words,
    }


def _also(matched: Sequence[AlsoMatched]) -> list[Record]:
    return [{"rule": also.rule, "line": also.line, "why": also.why} for also in matched]
