"""Reads from the database what a check of noface's state holds against git, and has SQLite check the file."""

import json
import sqlite3

from noface.integrity.fsck_facts import AttemptRow, DatabaseFacts, GateRow, IssueRow, LandingRow
from noface.model.codec import decode
from noface.model.gate import GateResult
from noface.store.database import Database
from noface.store.reader import Reader

_PROBLEMS_MAX = 10
_ISSUES = """
    SELECT id, status, merged_commit, attempts, cost_usd,
        (SELECT COALESCE(SUM(charged), 0) FROM attempts a
         WHERE a.issue_id = issues.id AND a.epoch = issues.epoch AND a.outcome IS NOT NULL) AS charged,
        (SELECT SUM(cost_usd) FROM (
            SELECT cost_usd FROM attempts a WHERE a.issue_id = issues.id
            UNION ALL SELECT cost_usd FROM advice q WHERE q.issue_id = issues.id)) AS spent
    FROM issues ORDER BY id
"""


def database_facts(database: Database) -> DatabaseFacts:
    """Return what the database holds. Raises StoreError where it cannot be read at all."""
    damage = [*_damage(database)]
    gates: dict[str, GateRow] = {}
    for row in database.rows("SELECT key, result FROM gate_memo"):
        try:
            gates[str(row["key"])] = _gate(row)
        except (ValueError, TypeError, KeyError) as error:
            damage.append(f"the gate result {row['key'][:12]} cannot be read: {error}")
    reader = Reader(database)
    runs = database.rows("SELECT id, started_at, ended_at FROM runs ORDER BY started_at")
    proofs_from = reader.fact("proofs_from")
    return DatabaseFacts(
        damage=tuple(damage),
        first_run_at=float(runs[0]["started_at"]) if runs else None,
        open_runs=tuple(str(row["id"]) for row in runs if row["ended_at"] is None),
        open_questions=int(database.rows("SELECT COUNT(*) FROM advice WHERE outcome IS NULL")[0][0]),
        proofs_from=int(proofs_from) if proofs_from is not None else None,
        merged_known=reader.fact("merged_known") is not None,
        released={str(name): int(number) for name, number in json.loads(reader.fact("released") or "{}").items()},
        issues=tuple(_issue(row) for row in database.rows(_ISSUES)),
        attempts=tuple(_attempt(row) for row in database.rows("SELECT * FROM attempts ORDER BY issue_id, number")),
        landings=tuple(_landing(row) for row in database.rows("SELECT * FROM landings ORDER BY id")),
        gates=gates,
    )


def _damage(database: Database) -> tuple[str, ...]:
    """Return what SQLite's own check finds, and which tables or columns of the schema are missing."""
    said = [str(row[0]) for row in database.rows(f"PRAGMA integrity_check({_PROBLEMS_MAX})")]
    found = [line for line in said if line != "ok"]
    found += [f"a row of {row[0]} refers to nothing" for row in database.rows("PRAGMA foreign_key_check")]
    present, wanted = _columns(database), _columns(Database.memory())
    found += [f"there is no {table}.{column}" for table, column in sorted(wanted - present)]
    return tuple(found)


def _columns(database: Database) -> set[tuple[str, str]]:
    rows = database.rows(
        "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'"
    )
    return {(str(table), str(column)) for table, column in rows if not str(table).startswith("sqlite_")}


def _issue(row: sqlite3.Row) -> IssueRow:
    merged = str(row["merged_commit"] or "")
    cost, spent = row["cost_usd"], row["spent"]
    return IssueRow(str(row["id"]), str(row["status"]), merged, row["attempts"], row["charged"], cost, spent)


def _attempt(row: sqlite3.Row) -> AttemptRow:
    return AttemptRow(
        issue=str(row["issue_id"]),
        number=int(row["number"]),
        outcome=str(row["outcome"] or ""),
        commit=str(row["commit_id"] or ""),
        candidate=str(row["candidate"] or ""),
        directory=str(row["directory"]),
    )


def _landing(row: sqlite3.Row) -> LandingRow:
    return LandingRow(
        id=int(row["id"]),
        issue=str(row["issue_id"]),
        old=str(row["old"]),
        new=str(row["new"]),
        tree=str(row["tree"]),
        gates=tuple(json.loads(row["gates"])),
        state=str(row["state"]),
        at=float(row["at"]),
    )


def _gate(row: sqlite3.Row) -> GateRow:
    result = decode(GateResult, json.loads(row["result"]))
    return GateRow(result.tree, result.gate.name, result.gate.hard, result.passed)
