"""Turns the rows of the state database into what `noface status` and `noface issues` list, as JSON-able records. Pure.

`status` promises these shapes to scripts: add to them, never rename.
"""

from collections.abc import Mapping, Sequence

from noface.views.standing import Record, Row, effective_status, standings

__all__ = ["Record", "Row", "effective_status", "issue_records", "run_record", "status_document"]


def issue_records(rows: Sequence[Row]) -> list[Record]:
    """Return the issues as `status --json` lists them; those that wait for another one are shown as waiting."""
    statuses = standings(rows)
    parts: dict[str, list[str]] = {}
    for row in rows:
        if row["parent"] is not None:
            parts.setdefault(row["parent"], []).append(row["id"])
    return [_issue_record(row, statuses, parts.get(row["id"], [])) for row in rows]


def status_document(
    rows: Sequence[Row], faults: Sequence[Record], run: Record | None, gaps: Sequence[Record] = ()
) -> Record:
    """Return the document of `noface status`. `gaps` are what workers of the newest run found missing (L2)."""
    issues = issue_records(rows)
    if run is None or not run["running"]:
        issues = [_cut_off(issue) for issue in issues]
    counts: dict[str, int] = {}
    for issue in issues:
        counts[issue["status"]] = counts.get(issue["status"], 0) + 1
    return {"issues": issues, "counts": counts, "faults": list(faults), "gaps": list(gaps), "run": run}


def _cut_off(issue: Record) -> Record:
    """Return an issue as it stands where nobody is at work: what was cut off is ready to go on."""
    if issue["status"] != "running":
        return issue
    return issue | {"status": "ready", "reason": f"{issue['reason']} was cut off; it goes on with the next run"}


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


def _issue_record(row: Row, statuses: Mapping[str, str], parts: list[str]) -> Record:
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
        "satisfied": bool(row["satisfied"]),
        "parent": row["parent"],
        "parts": parts,
    }
