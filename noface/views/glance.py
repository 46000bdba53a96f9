"""Looks at the state the cheap way: plain rows and no records, so that looking costs little more than starting.

Only where the issue files are as they were when the rows were written; in every other case, be it that something
is wrong, `cli/look` looks properly, and says what is wrong.
"""

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from noface.data.trackers import DEFAULT_PLACE, DEFAULT_TRACKER, TRACKERS
from noface.git.repository import locate

Rows = Callable[..., list[sqlite3.Row]]
"""Answers a query with its values: `Database.rows`, or the same of a glance."""

SCHEMA_VERSION = 4
"""The schema these queries know: that of store/database, which takes longer to import (a test compares them)."""
_BUSY_SECONDS = 10.0
_GAPS_MAX = 1000
_CONFIG_NAMES = ("noface.toml", ".noface.toml")
_ISSUE_COLUMNS = (
    "id, status, reason, depends_on, title, attempts, model, last_kind, last_message, branch, merged_commit,"
    " cost_usd, until, priority, satisfied, needs, parent"
)


def unchanged(start: Path, config: Path | None) -> Rows | None:
    """Return the rows of the repository around `start` if they are up to date, else None.

    Raises UsageError where there is no repository, ConfigError where the configuration matters and is broken.
    """
    location = locate(start)
    path = location.state_dir / "state.db"
    if not path.exists():
        return None
    fingerprint = _fingerprint(location.root, config)
    if fingerprint is None:
        return None
    try:
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS)
        connection.row_factory = sqlite3.Row

        def rows(sql: str, *values: object) -> list[sqlite3.Row]:
            try:
                return connection.execute(sql, values).fetchall()
            except sqlite3.OperationalError:
                from noface.store.odd_text import decode

                if connection.text_factory is decode:
                    raise
                connection.text_factory = decode  # slower, and needed for text that is not UTF-8 only
                return connection.execute(sql, values).fetchall()

        known = rows("PRAGMA user_version")[0][0] == SCHEMA_VERSION
        found = rows("SELECT value FROM facts WHERE name = 'fingerprint'") if known else []
    except sqlite3.Error:
        return None
    return rows if found and found[0][0] == fingerprint else None


def issue_rows(rows: Rows) -> list[sqlite3.Row]:
    """Return what lists show of the issues, in the order they are worked."""
    return rows(
        f"SELECT {_ISSUE_COLUMNS} FROM issues WHERE present = 1 OR status = 'merged' "  # noqa: S608 - our own columns
        "ORDER BY present DESC, priority, position, id"
    )


def blocked_rows(rows: Rows) -> list[sqlite3.Row]:
    """Return the issues that are blocked or wait for approval, with what a person is told of them."""
    return rows(
        "SELECT id, title, status, reason, branch, block FROM issues"
        " WHERE status IN ('blocked', 'approval') AND present = 1 ORDER BY priority, position, id"
    )


def held_rows(rows: Rows) -> list[sqlite3.Row]:
    """Return the issues whose proven work cannot land, since something of a person's is in the way."""
    return rows(
        "SELECT id, title, reason FROM issues WHERE status = 'landing' AND reason NOT LIKE 'passed%'"
        " AND present = 1 ORDER BY priority, position, id"
    )


def gaps(rows: Rows, run_id: str) -> list[dict[str, Any]]:
    """Return what workers of a run reported as missing (L2): issue id and gap, each once, in the order reported."""
    found = rows(
        "SELECT a.issue_id, gap.value FROM attempts AS a, json_each(a.report, '$.gaps') AS gap"
        " WHERE a.run_id = ? AND a.report IS NOT NULL GROUP BY a.issue_id, gap.value"
        " ORDER BY a.issue_id, MIN(a.number), MIN(gap.id) LIMIT ?",
        run_id,
        _GAPS_MAX,
    )
    return [{"id": issue_id, "gap": gap} for issue_id, gap in found]


def faults(rows: Rows, name: str = "faults") -> list[dict[str, Any]]:
    """Return the backlog's faults (or `warnings`) as last seen: source, problem, hint."""
    facts = rows("SELECT value FROM facts WHERE name = ?", name)
    found = json.loads(facts[0][0]) if facts else []
    return [{key: fault.get(key, "") for key in ("source", "problem", "hint")} for fault in found]


def last_run(rows: Rows) -> sqlite3.Row | None:
    """Return the newest run."""
    runs = rows("SELECT * FROM runs ORDER BY started_at DESC LIMIT 1")
    return runs[0] if runs else None


def model_waits(rows: Rows, now: float) -> list[sqlite3.Row]:
    """Return the models that wait for their provider still."""
    return rows("SELECT model, until, reason FROM waits WHERE until > ? ORDER BY model", now)


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
    """Return the tracker's fingerprint; None where the configuration does not tell which tracker that is."""
    section = _tracker_section(root, config)
    entry = TRACKERS.get(str(section.get("kind", DEFAULT_TRACKER))) if section is not None else None
    if section is None or entry is None:
        return None
    return str(resolve_name(entry.fingerprint)(root, str(section.get("path", DEFAULT_PLACE))))


def _tracker_section(root: Path, config: Path | None) -> dict[str, Any] | None:
    """Return what `[tracker]` says, None where a look has to find that out.

    A file without that word is not parsed: what else is in it, or wrong with it, must not keep anyone from looking.
    """
    paths = [config] if config is not None else [path for name in _CONFIG_NAMES if (path := root / name).exists()]
    if not paths:
        return {}
    try:
        text = paths[0].read_bytes() if len(paths) == 1 else None
    except OSError:
        return None
    if text is None or b"tracker" not in text:
        return None if text is None else {}
    from noface.config import load

    section = load.tables(load.read(paths[0]), str(paths[0])).get("tracker", {})
    return section if isinstance(section, dict) else {}
