"""Reads from the database what a check of noface's state holds against git, and has SQLite check the file."""

import json

from noface.errors import StoreError
from noface.integrity.state.fsck_facts import AttemptFacts, DatabaseFacts, IssueFacts, LandingFacts
from noface.model.codec import decode
from noface.model.gate import GateResult
from noface.model.transitions import UNEXPECTED_STEPS, UnexpectedStep
from noface.store.database import Database
from noface.store.reader import Reader
from noface.store.records import LEARNED, query

_PROBLEMS_MAX = 10


def database_facts(database: Database) -> DatabaseFacts:
    """Return what the database holds. Raises StoreError if it cannot be read at all."""
    both = (Database.memory(), database)
    wanted, present = ({str(row[0]) for row in each.rows(query("columns"))} for each in both)
    if missing := sorted(wanted - present):
        raise StoreError(f"The state database is damaged: there is no {', '.join(missing[:_PROBLEMS_MAX])}.")
    reader = Reader(database)
    lines = [str(row[0]) for row in database.rows("PRAGMA integrity_check")]
    damage = [line for line in lines if line != "ok"][:_PROBLEMS_MAX]
    damage += [f"a row of {row[0]} refers to nothing" for row in database.rows("PRAGMA foreign_key_check")]
    for row in reader.unreadable_attempts():
        damage.append(f"the order of attempt {row['number']} of {row['issue_id']} cannot be read")
    gates: dict[str, GateResult] = {}
    for row in database.rows("SELECT key, result FROM gate_memo"):
        try:
            gates[str(row["key"])] = decode(GateResult, json.loads(row["result"]))
        except (ValueError, TypeError, KeyError) as error:
            damage.append(f"the gate result {row['key'][:12]} cannot be read: {error}")
    steps = json.loads(reader.fact(UNEXPECTED_STEPS) or "[]")
    runs = database.rows("SELECT id, started_at, ended_at FROM runs ORDER BY started_at")
    return DatabaseFacts(
        damage=tuple(damage),
        first_run_at=float(runs[0]["started_at"]) if runs else None,
        open_runs=tuple(str(row["id"]) for row in runs if row["ended_at"] is None),
        open_questions=int(database.rows("SELECT COUNT(*) FROM advice WHERE outcome IS NULL")[0][0]),
        learned=frozenset(json.loads(reader.fact(LEARNED) or "[]")),
        released={str(name): int(number) for name, number in json.loads(reader.fact("released") or "{}").items()},
        issues=tuple(IssueFacts(**dict(row)) for row in database.rows(query("issue_facts"))),
        attempts=tuple(AttemptFacts(**dict(row)) for row in database.rows(query("attempt_facts"))),
        landings=tuple(
            LandingFacts(**(dict(row) | {"gates": tuple(json.loads(row["gates"]))}))
            for row in database.rows(query("landing_facts"))
        ),
        gates=gates,
        unexpected_steps=tuple(decode(UnexpectedStep, each) for each in steps),
    )
