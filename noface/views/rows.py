"""Turns the rows of the state database into what people are shown, as JSON-able records. Pure.

`status`, `show` and `blocked` promise these shapes to scripts: add to them, never rename.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Record = dict[str, Any]
Row = sqlite3.Row

_SETTLED = ("merged", "skipped")
_BLOCK_LISTS = ("tried", "errors", "unclear", "next_steps", "questions", "options", "commands")


def issue_records(rows: Sequence[Row]) -> list[Record]:
    """Return the issues as `status --json` lists them; those that wait for another one are shown as waiting."""
    statuses = {row["id"]: row["status"] for row in rows}
    return [_issue_record(row, statuses) for row in rows]


def status_document(rows: Sequence[Row], faults: Sequence[Record], run: Record | None) -> Record:
    """Return the document of `noface status`."""
    issues = issue_records(rows)
    counts: dict[str, int] = {}
    for issue in issues:
        counts[issue["status"]] = counts.get(issue["status"], 0) + 1
    return {"issues": issues, "counts": counts, "faults": list(faults), "run": run}


def run_record(row: Row | None, *, alive: bool) -> Record | None:
    """Return a run; `alive` tells whether its process still works. None where nothing has been run yet."""
    if row is None:
        return None
    return {
        "id": row["id"],
        "pid": row["pid"],
        "started_at": row["started_at"],
        "ended_at": row["ended_at"],
        "exit_code": row["exit_code"],
        "why": row["ended_why"],
        "running": row["ended_at"] is None and alive,
    }


def effective_status(row: Row, statuses: Mapping[str, str]) -> tuple[str, str]:
    """Return an issue's status and reason, where what it depends on is looked at, too."""
    status, reason = str(row["status"]), str(row["reason"])
    if status not in ("ready", "waiting") or row["depends_on"] == "[]":
        return status, reason
    open_ones = [name for name in json.loads(row["depends_on"]) if statuses.get(name) not in _SETTLED]
    if not open_ones:
        return status, reason
    stuck = [f"{name} is {statuses[name]}" for name in open_ones if statuses.get(name) in ("blocked", "approval")]
    reason = f"waits for {', '.join(open_ones)} to be merged"
    return "waiting", f"{reason}; {', '.join(stuck)}" if stuck else reason


def show_document(row: Row, attempts: Sequence[Row], statuses: Mapping[str, str]) -> Record:
    """Return the document of `noface show ID`: the issue, and all its attempts, oldest first."""
    status, reason = effective_status(row, statuses)
    return {
        "id": row["id"],
        "title": row["title"],
        "status": status,
        "reason": reason,
        "until": row["until"],
        "priority": row["priority"],
        "source": row["source"],
        "depends_on": json.loads(row["depends_on"]),
        "model": row["model"],
        "branch": row["branch"],
        "merged_commit": row["merged_commit"],
        "cost_usd": row["cost_usd"],
        "charged_attempts": row["attempts"],
        "note": row["note"],
        "block": blocked_record(row) if row["block"] else None,
        "attempts": [attempt_record(attempt) for attempt in attempts],
    }


def attempt_record(row: Row) -> Record:
    """Return one attempt; outcome and seconds are None while it is under way."""
    finished = row["finished_at"]
    return {
        "number": row["number"],
        "model": row["model"],
        "outcome": row["outcome"],
        "failure": _failure_record(json.loads(row["failure"])) if row["failure"] else None,
        "commit": row["commit_id"],
        "started_at": row["started_at"],
        "seconds": None if finished is None else round(finished - row["started_at"], 3),
        "cost_usd": row["cost_usd"],
        "action": json.loads(row["action"]) if row["action"] else None,
        "charged": bool(row["charged"]),
        "gates": json.loads(row["gates"]),
        "notes": json.loads(row["notes"]),
    }


def blocked_records(rows: Iterable[Row]) -> list[Record]:
    """Return the blocked issues as `blocked --json` lists them."""
    return [blocked_record(row) for row in rows]


def blocked_record(row: Row) -> Record:
    """Return what a person needs to know of a blocked issue (N13)."""
    block = json.loads(row["block"]) if row["block"] else {}
    return {
        "id": row["id"],
        "title": row["title"],
        "kind": str(block.get("kind", "UNKNOWN")),
        "summary": str(block.get("summary") or row["reason"]),
        **{name: [str(item) for item in block.get(name, ())] for name in _BLOCK_LISTS},
    }


def _issue_record(row: Row, statuses: Mapping[str, str]) -> Record:
    status, reason = effective_status(row, statuses)
    kind = row["last_kind"]
    return {
        "id": row["id"],
        "title": row["title"],
        "status": status,
        "attempts": row["attempts"],
        "model": row["model"],
        "last_failure": {"kind": kind, "message": row["last_message"] or ""} if kind else None,
        "branch": row["branch"],
        "merged_commit": row["merged_commit"],
        "cost_usd": row["cost_usd"],
        "reason": reason,
        "until": row["until"],
        "priority": row["priority"],
    }


def _failure_record(failure: Record) -> Record:
    from noface.core.taxonomy import FailureKind  # not needed by `status`

    return {
        "kind": failure["kind"],
        "category": FailureKind(failure["kind"]).category.value,
        "message": failure.get("message", ""),
        "location": failure.get("location"),
        "rule": failure.get("rule", ""),
        "evidence": list(failure.get("evidence", ())),
        "failing_tests": list(failure.get("failing_tests", ())),
        "gate": failure.get("gate"),
    }
