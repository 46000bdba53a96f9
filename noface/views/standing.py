"""Where an issue stands, once what it depends on and the parts it was divided into are looked at. Pure.

Rows here have the columns of the table `issues`; nothing heavier than json is imported, since `noface status` looks
through this module.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

Record = dict[str, Any]
Row = sqlite3.Row

NOT_DONE = "skipped, not done"
"""What stands for an issue that was left undone where others ask whether they may start."""

_SETTLED = ("merged", "skipped")
_STUCK = ("blocked", "approval", NOT_DONE)


def standings(rows: Sequence[Row]) -> dict[str, str]:
    """Return each issue's status by id, NOT_DONE for those that were skipped without main holding what they ask for."""
    return {row["id"]: _standing(row) for row in rows}


def effective_status(row: Row, statuses: Mapping[str, str]) -> tuple[str, str]:
    """Return an issue's status and reason, where what it depends on is looked at, too.

    `statuses` are those of `standings`. What the work turned out to need counts as what the issue names itself.
    """
    status, reason = str(row["status"]), str(row["reason"])
    if status not in ("ready", "waiting") or (row["depends_on"] == "[]" and row["needs"] == "[]"):
        return status, reason
    needed = dict.fromkeys([*json.loads(row["depends_on"]), *json.loads(row["needs"])])
    open_ones = [name for name in needed if statuses.get(name) not in _SETTLED]
    if not open_ones:
        over = status == "waiting" and row["until"] is None
        return ("ready", "what it waited for is merged") if over else (status, reason)
    stuck = [f"{name} is {statuses[name]}" for name in open_ones if statuses.get(name) in _STUCK]
    reason = f"waits for {', '.join(open_ones)} to be merged"
    return "waiting", f"{reason}; {', '.join(stuck)}" if stuck else reason


def done(record: Record) -> bool:
    """Tell whether what an issue asks for is on main; `record` has its status and `satisfied`."""
    return record["status"] == "merged" or (record["status"] == "skipped" and bool(record["satisfied"]))


def progress(parts: Sequence[Record]) -> str:
    """Return how far an epic is; "" where it has no parts."""
    if not parts:
        return ""
    return f"{sum(done(part) for part in parts)} of {len(parts)} part{'s' if len(parts) != 1 else ''} merged"


def _standing(row: Row) -> str:
    status = str(row["status"])
    return NOT_DONE if status == "skipped" and not row["satisfied"] else status
