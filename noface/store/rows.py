"""Turns records into the rows that the journal writes."""

import json
import sqlite3

from noface.core.attempt import AttemptReport
from noface.core.codec import encode
from noface.core.gate import GateResult
from noface.core.issue import Issue

_CHANGED_MAX = 2000
_SESSION_CHARS_MAX = 200


def dumps(value: object) -> str:
    """Return compact JSON in ASCII: file names that are not UTF-8 survive as escapes."""
    return json.dumps(encode(value), separators=(",", ":"))


def issue_row(position: int, issue: Issue) -> tuple[object, ...]:
    """Return the columns id, position, title, priority, source, content_hash, depends_on, parent."""
    return (
        issue.id,
        position,
        issue.title,
        issue.priority,
        issue.source,
        issue.content_hash,
        dumps(issue.depends_on),
        issue.parent,
    )


def outcome_row(at: float, report: AttemptReport, *, charged: bool, notes: tuple[str, ...]) -> dict[str, object]:
    """Return the columns of an attempt that its end sets. Only hard gates count as passed or failing."""
    failure, snapshot = report.failure, report.snapshot
    usage = report.agent.usage if report.agent is not None else None
    hard = [result for result in report.gates if result.gate.hard]
    failing = {test for result in hard for test in result.failing_tests}
    unnamed = sum(not result.passed and not result.failing_tests for result in hard)
    return {
        "finished_at": at,
        "outcome": report.outcome,
        "charged": charged,
        "commit_id": snapshot.commit if snapshot else None,
        "candidate": snapshot.candidate if snapshot else None,
        "patch_hash": report.patch_hash,
        "signature": failure.signature if failure else "",
        "gates_passed": sum(result.passed for result in hard),
        "failing_tests": len(failing) + unnamed if report.gates else None,
        "cost_usd": usage.cost_usd if usage else None,
        "tokens_in": usage.tokens_in if usage else None,
        "tokens_out": usage.tokens_out if usage else None,
        "session_id": (usage.session_id or "")[:_SESSION_CHARS_MAX] or None if usage else None,
        "failure": dumps(failure) if failure else None,
        "gates": dumps([_gate_row(result) for result in report.gates]),
        "notes": dumps(notes),
        "changed": dumps([change.path for change in snapshot.changes[:_CHANGED_MAX]] if snapshot else []),
        "lines": sum((c.added or 0) + (c.deleted or 0) for c in snapshot.changes) if snapshot else 0,
        "report": dumps(report.worker) if report.worker else None,
        "record": None,
        "doubts": dumps(report.doubts),
    }


def counted_flaky(connection: sqlite3.Connection, run_id: str, gate: str) -> dict[str, object]:
    """Return how often each gate was flaky in a run, with one more for `gate`."""
    row = connection.execute("SELECT value FROM facts WHERE name = 'flaky'").fetchone()
    counted = json.loads(row[0]) if row else {}
    gates = counted.get("gates", {}) if counted.get("run") == run_id else {}
    return {"run": run_id, "gates": gates | {gate: gates.get(gate, 0) + 1}}


def _gate_row(result: GateResult) -> dict[str, object]:
    return {
        "name": result.gate.name,
        "passed": result.passed,
        "hard": result.gate.hard,
        "seconds": round(result.seconds, 3),
        "kind": result.failure.kind if result.failure else None,
        "memo": result.memo,
        "flaky": result.flaky,
    }
