"""Looks at the state the cheap way: plain rows and no records, so that looking costs little more than starting.

Only where the issue files are as they were when the rows were written; otherwise the backlog must be read again,
which is `cli/look`'s business.
"""

import hashlib
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

from noface.git.locate import locate
from noface.store.database import Database

_ISSUE_COLUMNS = (
    "id, present, title, priority, depends_on, status, reason, until, attempts, model, last_kind, last_message,"
    " branch, merged_commit, cost_usd"
)


def unchanged(start: Path, config: Path | None) -> Database | None:
    """Open the state of the repository around `start` if its issue rows are up to date, else return None.

    Raises UsageError, ConfigError or StoreError.
    """
    location = locate(start)
    path = location.state_dir / "state.db"
    if not path.exists():
        return None
    fingerprint = _fingerprint(location.root, config)
    if fingerprint is None:
        return None
    database = Database.open(path)
    rows = database.rows("SELECT value FROM facts WHERE name = 'fingerprint'")
    if rows and rows[0][0] == fingerprint:
        return database
    database.close()
    return None


def issue_rows(database: Database) -> list[sqlite3.Row]:
    """Return what lists show of the issues, in the order they are worked."""
    return database.rows(
        f"SELECT {_ISSUE_COLUMNS} FROM issues WHERE present = 1 OR status = 'merged' "  # noqa: S608 - our own columns
        "ORDER BY present DESC, priority, position, id"
    )


def blocked_rows(database: Database) -> list[sqlite3.Row]:
    """Return the blocked issues with what a person is told of them."""
    return database.rows(
        "SELECT id, title, reason, block FROM issues WHERE status = 'blocked' AND present = 1"
        " ORDER BY priority, position, id"
    )


def faults(database: Database, name: str = "faults") -> list[dict[str, Any]]:
    """Return the backlog's faults (or `warnings`) as last seen: source, problem, hint."""
    rows = database.rows("SELECT value FROM facts WHERE name = ?", name)
    found = json.loads(rows[0][0]) if rows else []
    return [{key: fault.get(key, "") for key in ("source", "problem", "hint")} for fault in found]


def last_run(database: Database) -> sqlite3.Row | None:
    """Return the newest run."""
    rows = database.rows("SELECT * FROM runs ORDER BY started_at DESC LIMIT 1")
    return rows[0] if rows else None


def model_waits(database: Database, now: float) -> list[sqlite3.Row]:
    """Return the models that wait for their provider still."""
    return database.rows("SELECT model, until, reason FROM waits WHERE until > ? ORDER BY model", now)


def alive(pid: int) -> bool:
    """Tell whether such a process runs here (a reused pid cannot be told apart)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _fingerprint(root: Path, config: Path | None) -> str | None:
    """Make the fingerprint of the tracker "files" as trackers/files.py does; None where that is not the tracker.

    Should the two ever differ, the rows merely seem out of date and are made again.
    """
    from noface.config import load
    from noface.errors import ConfigError
    from noface.trackers.folder import scan

    try:
        found = load.find(root, config)
    except ConfigError:
        if config is not None:
            raise
        section = None
    else:
        section = load.tables(load.read(found), str(found)).get("tracker")
    section = section if isinstance(section, dict) else {}
    if section.get("kind", "files") != "files":
        return None
    try:
        entries = scan(root / str(section.get("path", "issues")))
    except OSError:
        return None
    return (
        "missing" if entries is None else hashlib.sha256(repr(entries).encode("utf-8", "surrogateescape")).hexdigest()
    )
