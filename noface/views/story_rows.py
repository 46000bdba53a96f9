"""Turns the rows about one issue into the document of `noface show ID`. Scripts read it: add keys, never rename."""

import json
from collections.abc import Sequence
from typing import Any

from noface.core.taxonomy import FailureKind
from noface.views.block_rows import blocked_record
from noface.views.glance import Rows
from noface.views.standing import Record, Row, effective_status, progress, standings

_FOR_A_PERSON = ("blocked", "approval")
_REPORT_LISTS = ("risks", "gaps", "questions", "needs")


def asked_rows(rows: Rows, issue_id: str) -> list[Row]:
    """Return what was asked about an issue between its attempts, oldest first; open questions too."""
    return rows(
        "SELECT after, topic, model, asked_at, answered_at, outcome, answer, cost_usd FROM advice"
        " WHERE issue_id = ? ORDER BY id",
        issue_id,
    )


def decided_rows(rows: Rows, issue_id: str) -> list[Row]:
    """Return what people decided on an issue, oldest first."""
    return rows("SELECT attempt, verdict, note, at FROM approvals WHERE issue_id = ? ORDER BY id", issue_id)


def show_document(
    row: Row, attempts: Sequence[Row], issues: Sequence[Row], asked: Sequence[Row] = (), decided: Sequence[Row] = ()
) -> Record:
    """Return the issue, and all its attempts, oldest first. `issues` are the rows of the whole backlog."""
    statuses = standings(issues)
    status, reason = effective_status(row, statuses)
    records = [attempt_record(attempt) for attempt in attempts]
    parts = [_part(each, *effective_status(each, statuses)) for each in issues if each["parent"] == row["id"]]
    return {
        "id": row["id"],
        "title": row["title"],
        "status": status,
        "reason": reason,
        "until": row["until"],
        "satisfied": bool(row["satisfied"]),
        "priority": row["priority"],
        "source": row["source"],
        "depends_on": json.loads(row["depends_on"]),
        "needs": json.loads(row["needs"]),
        "parent": row["parent"],
        "parts": parts,
        "progress": progress(parts),
        "granted_paths": json.loads(row["granted_paths"]),
        "wanted_model": row["wanted_model"],
        "wanted_attempts": row["wanted_attempts"],
        "model": row["model"],
        "branch": row["branch"],
        "merged_commit": row["merged_commit"],
        "cost_usd": row["cost_usd"],
        "charged_attempts": row["attempts"],
        "note": row["note"],
        "block": blocked_record(row) if row["block"] and row["status"] in _FOR_A_PERSON else None,
        "attempts": records,
        "asked": [_asked(each) for each in asked],
        "approvals": [dict(each) for each in decided],
        "gaps": _gaps(records),
    }


def attempt_record(row: Row) -> Record:
    """Return one attempt; outcome and seconds are None while it is under way."""
    finished = row["finished_at"]
    return {
        "number": row["number"],
        "model": row["model"],
        "think": bool(row["think"]),
        "outcome": row["outcome"],
        "failure": _failure(json.loads(row["failure"])) if row["failure"] else None,
        "commit": row["commit_id"],
        "started_at": row["started_at"],
        "seconds": None if finished is None else round(finished - row["started_at"], 3),
        "cost_usd": row["cost_usd"],
        "tokens_in": row["tokens_in"],
        "tokens_out": row["tokens_out"],
        "session_id": row["session_id"],
        "action": json.loads(row["action"]) if row["action"] else None,
        "charged": bool(row["charged"]),
        "gates": json.loads(row["gates"]),
        "notes": json.loads(row["notes"]),
        "changed": json.loads(row["changed"]),
        "lines": row["lines"],
        "report": _report(json.loads(row["report"])) if row["report"] else None,
        "partial": json.loads(row["partial"]) if row["partial"] else None,
        "task_failure": _task_failure(row) if row["failure"] else None,
    }


def _task_failure(row: Row) -> Record:
    """Return the failure with all that is known of it: reason, details, what the steps left, metrics (P2, P10)."""
    from noface.core.codec import decode
    from noface.core.failure import Failure
    from noface.core.task_failure import task_failure

    metrics = {name: row[name] for name in ("cost_usd", "tokens_in", "tokens_out") if row[name] is not None}
    if row["finished_at"] is not None:
        metrics["seconds"] = round(row["finished_at"] - row["started_at"], 3)
    partial = json.loads(row["partial"]) if row["partial"] else None
    return task_failure(decode(Failure, json.loads(row["failure"])), partial=partial, metrics=metrics)


def _part(row: Row, status: str, reason: str) -> Record:
    satisfied = bool(row["satisfied"])
    return {"id": row["id"], "title": row["title"], "status": status, "reason": reason, "satisfied": satisfied}


def _asked(row: Row) -> Record:
    answer: dict[str, Any] = json.loads(row["answer"]) if row["answer"] else {}
    return {
        "after": row["after"],
        "topic": row["topic"],
        "model": row["model"],
        "asked_at": row["asked_at"],
        "answered_at": row["answered_at"],
        "outcome": row["outcome"],
        "cause": str(answer.get("cause", "")),
        "recoverable": str(answer.get("recoverable", "")),
        "strategy": str(answer.get("strategy", "")),
        "text": str(answer.get("text", "")),
        "paths": list(answer.get("paths", ())),
        "needs": list(answer.get("needs", ())),
        "cost_usd": row["cost_usd"],
    }


def _report(report: Record) -> Record:
    """Return what the worker says of its work itself."""
    return {
        "status": report.get("status", ""),
        "summary": report.get("summary", ""),
        "confidence": report.get("confidence"),
        "blocked_reason": report.get("blocked_reason"),
        **{name: list(report.get(name, ())) for name in _REPORT_LISTS},
    }


def _gaps(attempts: Sequence[Record]) -> list[Record]:
    """Return what workers found missing (L2), each gap once, with the first attempt that reported it."""
    found: dict[str, Record] = {}
    for attempt in attempts:
        for gap in attempt["report"]["gaps"] if attempt["report"] is not None else ():
            found.setdefault(str(gap), {"attempt": attempt["number"], "gap": str(gap)})
    return list(found.values())


def _failure(failure: Record) -> Record:
    return {
        "kind": failure["kind"],
        "category": FailureKind(failure["kind"]).category.value,
        "message": failure.get("message", ""),
        "location": failure.get("location"),
        "rule": failure.get("rule", ""),
        "evidence": list(failure.get("evidence", ())),
        "failing_tests": list(failure.get("failing_tests", ())),
        "gate": failure.get("gate"),
        "questions": list(failure.get("questions", ())),
    }
