"""Turns the rows of issues that wait for a person into records, as `noface blocked --json` lists them. Pure.

Scripts read these shapes: add to them, never rename.
"""

import json
from collections.abc import Iterable

from noface.views.standing import Record, Row

LISTS = ("tried", "errors", "unclear", "next_steps", "questions", "options", "commands")


def blocked_records(rows: Iterable[Row]) -> list[Record]:
    """Return the issues that wait for a person, the blocked ones before those that wait for approval."""
    return [blocked_record(row) for row in sorted(rows, key=lambda row: row["status"] == "approval")]


def blocked_record(row: Row) -> Record:
    """Return what a person needs to know of an issue that is blocked, or waits for approval (N13, L10).

    `options` and `commands` belong together, one by one. Those that wait for approval have `wants`, `attempt`, `paths`
    and what the attempt changed as well, blocked ones the report of K6.
    """
    block = json.loads(row["block"]) if row["block"] else {}
    record = {
        "id": row["id"],
        "title": row["title"],
        "status": row["status"],
        "kind": str(block.get("kind", "UNKNOWN")),
        "summary": str(block.get("summary") or row["reason"]),
        "question": str(block.get("question", "")),
        **{name: [str(item) for item in block.get(name, ())] for name in LISTS},
        "parts_failed": str(block.get("parts_failed", "")),
    }
    if row["status"] == "approval":
        return record | {
            "wants": str(block.get("wants", "")),
            "attempt": block.get("attempt"),
            "branch": row["branch"],
            "paths": [str(path) for path in block.get("paths", ())],
            "changed": [str(path) for path in block.get("changed", ())],
            "changed_files": block.get("changed_files", 0),
            "changed_lines": block.get("changed_lines", 0),
        }
    return record | {"report": block.get("report")}
