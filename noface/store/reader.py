"""Reads the state database: what the engine resumes from and what people see."""

import json
import sqlite3
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from noface.model.attempt import AttemptOrder, PastAttempt, as_decided
from noface.model.budget import ESTIMATED, Estimate, Spent
from noface.model.codec import decode
from noface.model.failure_document import last_output
from noface.model.gate import GateResult
from noface.model.history import Decided, Verdict
from noface.model.issue import IssueState
from noface.model.listed import UnsteadyTest
from noface.model.taxonomy import INTERRUPTED, IssueStatus, reaches_workers
from noface.recovery.schedule import Breaker, Lost, lost_to_main
from noface.store.database import Database
from noface.store.overview import Overview
from noface.store.records import UNSTEADY, AttemptRow, EventRow, GateRun, IssueRow, QuestionRow, query, value

if TYPE_CHECKING:
    from noface.integrity.inventory import Inventory
    from noface.integrity.unsteady import Known


NEWEST_MAX = 20
"""How many of a model's newest runs count for what the next one may use; older ones were other work."""
_MEMO_MAX, _TESTS_MAX = 2_000, 50
_PAST = "SELECT * FROM attempts WHERE issue_id = ? AND outcome IS NOT NULL ORDER BY number"


class EndedAttempt(NamedTuple):
    """An attempt that has ended, at `ended_at` (epoch seconds), and its folder; `merged` tells whether its issue is."""

    issue_id: str
    number: int
    directory: str
    ended_at: float
    merged: bool

    @property
    def folder(self) -> Path:
        return Path(self.directory)

    def below(self, home: Path) -> bool:
        """True if its folder is in noface's state: what else a row may name is not noface's to remove."""
        return self.folder.is_relative_to(home) and ".." not in self.folder.parts


@dataclass(frozen=True, slots=True)
class OpenLanding:
    """A landing whose intent was recorded, and nothing more."""

    id: int
    issue_id: str
    number: int
    old: str
    new: str


class Reader(Overview):
    """Queries, answered from rows that are kept up to date, few from the events."""

    def __init__(self, database: Database) -> None:
        super().__init__(database.rows)
        self._db = database
        self._states: dict[str, IssueState] = {}
        self._seen: tuple[int, int, int] | None = None

    def in_place(self) -> bool:
        """True if what is read and written is what the next run will find."""
        return self._db.in_place()

    def unsteady_tests(self) -> "dict[str, Known]":
        kept = json.loads(self.fact(UNSTEADY) or "{}")
        records = {command: [decode(UnsteadyTest, item) for item in tests] for command, tests in kept.items()}
        return {command: {record.test: record for record in tests} for command, tests in records.items()}

    def costs(self) -> tuple[float | None, int, int]:
        run, row = self.last_run(), self._db.rows(query("costs_known"), f"%{ESTIMATED}%")[0]
        spent = self._db.rows(query("spent"), run.id, run.id)[0][0] if run is not None else None
        return (spent, int(row["estimated"]), int(row["unknown"]))

    def mark(self) -> tuple[int, int, int]:
        return self._db.mark()

    def agreements(self) -> str:
        """Return, in one text, what was agreed on issues since they were written; it changes when people decide."""
        return json.dumps([tuple(row) for row in self._db.rows(query("agreements"))])

    def states(self) -> Mapping[str, IssueState]:
        mark = self.mark()
        if mark != self._seen:
            self._states = {row["id"]: _state(row) for row in self._db.rows(query("states"))}
            self._seen = mark
        return self._states

    def state(self, issue_id: str) -> IssueState:
        rows = self._db.rows(f"{query('states')} WHERE id = ?", issue_id)
        return _state(rows[0]) if rows else IssueState(issue_id)

    def epics(self) -> frozenset[str]:
        return frozenset(str(row[0]) for row in self._db.rows("SELECT id FROM issues WHERE status = 'epic'"))

    def blocked(self) -> list[IssueRow]:
        return self._records(IssueRow, "WHERE status = 'blocked' AND present = 1 ORDER BY priority, position, id")

    def attempts(self, issue_id: str) -> list[AttemptRow]:
        return self._records(AttemptRow, "WHERE issue_id = ? ORDER BY number", issue_id)

    def attempt(self, issue_id: str, number: int) -> AttemptRow | None:
        return next(iter(self._records(AttemptRow, "WHERE issue_id = ? AND number = ?", issue_id, number)), None)

    def notes(self, issue_id: str, number: int) -> tuple[str, ...]:
        row = self.attempt(issue_id, number)
        return row.notes if row is not None else ()

    def past(self, issue_id: str) -> tuple[PastAttempt, ...]:
        return as_decided(_past(row) for row in self._db.rows(_PAST, issue_id))

    def family_runs(self, issue_id: str) -> int:
        outcomes = (row["outcome"] for row in self._db.rows(query("family_outcomes"), issue_id))
        return sum(each != INTERRUPTED and reaches_workers(each, charged=False) for each in outcomes)

    def mains(self) -> frozenset[str]:
        return frozenset(row["main"] for row in self._db.rows(query("mains")))

    def outcomes(self, model: str) -> frozenset[str]:
        rows = self._db.rows("SELECT DISTINCT outcome FROM attempts WHERE model = ? AND outcome IS NOT NULL", model)
        return frozenset(row["outcome"] for row in rows)

    def lost_to_main(self) -> dict[str, Lost]:
        """Return the issues under way whose newest work conflicted with main, with where it did."""
        lost = {}
        for name, epoch in self._db.rows(query("conflicts")):
            how = lost_to_main(tuple(attempt for attempt in self.past(name) if attempt.epoch == epoch))
            if how is not None:
                lost[name] = how
        return lost

    def gates_of(self, issue_id: str, number: int) -> tuple[GateRun, ...]:
        row = self.attempt(issue_id, number)
        return row.gates if row is not None else ()

    def attempted(self) -> tuple[str, ...]:
        return tuple(str(row[0]) for row in self._db.rows("SELECT DISTINCT issue_id FROM attempts"))

    def next_number(self, issue_id: str, name: str = "") -> int:
        """Return the number of the issue's next attempt; numbers never restart.

        By `name`, what refs call the issue, the pull requests of a database that was lost are known.
        """
        rows = self._db.rows("SELECT COALESCE(MAX(number), 0) FROM attempts WHERE issue_id = ?", issue_id)
        return max(int(rows[0][0]), int(json.loads(self.fact("numbers") or "{}").get(name, 0))) + 1

    def directories(self) -> frozenset[str]:
        return frozenset(str(row[0]) for row in self._db.rows("SELECT directory FROM attempts"))

    def worked(self) -> frozenset[str]:
        return frozenset(str(row[0]) for row in self._db.rows(query("touched")))

    def kept(self) -> tuple[EndedAttempt, ...]:
        return tuple(EndedAttempt(*row) for row in self._db.rows(query("kept")))

    def open_attempts(self) -> tuple[AttemptOrder, ...]:
        return tuple(filter(None, map(_order, self._db.rows(query("open_attempts")))))

    def unreadable_attempts(self) -> list[sqlite3.Row]:
        """Return `token`, `issue_id`, `number` and `directory` of the attempts left under way whose order is not."""
        return [row for row in self._db.rows(query("open_attempts")) if _order(row) is None]

    def landed_commits(self) -> tuple[str, ...]:
        return tuple(str(row["new"]) for row in self._db.rows("SELECT new FROM landings"))

    def cut_off_before(self, run_id: str) -> bool:
        """True if the run before this one ended without a word."""
        rows = self._db.rows("SELECT exit_code FROM runs WHERE id != ? ORDER BY rowid DESC LIMIT 1", run_id)
        return bool(rows) and rows[0]["exit_code"] is None

    def deaths(self) -> dict[str, tuple[int, str]]:
        """Return the issues that may have killed noface: how often in a row, alone, and by what evidence."""
        return {row["id"]: (int(row["deaths"]), str(row["evidence"])) for row in self._db.rows(query("deaths"))}

    def repeats(self, issue_id: str, epoch: int) -> int:
        return int(self._db.rows(query("repeats"), issue_id, issue_id, epoch)[0][0])

    def open_landings(self) -> tuple[OpenLanding, ...]:
        rows = self._db.rows("SELECT id, issue_id, number, old, new FROM landings WHERE state = 'intent' ORDER BY id")
        return tuple(OpenLanding(**dict(row)) for row in rows)

    def landed_since_read(self, issue_id: str) -> tuple[OpenLanding, ...]:
        return tuple(OpenLanding(**dict(row)) for row in self._db.rows(query("landed_since_read"), issue_id))

    def waits(self) -> dict[str, Breaker]:
        rows = self._db.rows("SELECT model, until, failures, since, kind, reason FROM waits")
        return {row["model"]: Breaker(**dict(row)) for row in rows}

    def newest_memo(self) -> dict[str, GateResult]:
        rows = self._db.rows("SELECT key, result FROM gate_memo ORDER BY at DESC LIMIT ?", _MEMO_MAX)
        return {row["key"]: decode(GateResult, json.loads(row["result"])) for row in rows}

    def newest_tests(self) -> "dict[tuple[str, str], Inventory | None]":
        """Return which tests the gates of the newest results ran, by tree and command; None if that is not known."""
        rows = self._db.rows("SELECT result, tests FROM gate_memo ORDER BY at DESC LIMIT ?", _TESTS_MAX)
        from noface.integrity.inventory import Inventory  # no look at an issue needs it

        tests: dict[tuple[str, str], Inventory | None] = {}
        for row in rows:
            result = decode(GateResult, json.loads(row["result"]))
            with suppress(zlib.error, ValueError, TypeError, KeyError):
                packed = row["tests"]
                inventory = decode(Inventory, json.loads(zlib.decompress(packed))) if packed is not None else None
                tests.setdefault((result.tree, result.gate.command), inventory)
        return tests

    def events_after(self, after: int, kinds: Iterable[str]) -> list[EventRow]:
        which = "WHERE id > ? AND kind IN (SELECT value FROM json_each(?)) ORDER BY id"
        return self._records(EventRow, which, after, json.dumps([*kinds]))

    def events(self, issue_id: str, after: int = 0) -> list[EventRow]:
        return self._records(EventRow, "WHERE issue_id = ? AND id > ? ORDER BY id", issue_id, after)

    def newest_event(self) -> int:
        return int(self._db.rows("SELECT COALESCE(MAX(id), 0) FROM events")[0][0])

    def issues_since(self, event: int) -> tuple[str, ...]:
        rows = self._db.rows("SELECT DISTINCT issue_id FROM events WHERE id > ? AND issue_id IS NOT NULL", event)
        return tuple(str(row[0]) for row in rows)

    def questions(self, issue_id: str) -> list[QuestionRow]:
        return self._records(QuestionRow, "WHERE issue_id = ? ORDER BY id", issue_id)

    def spent_in(self, run_id: str) -> Spent:
        usd, tokens = self._db.rows(query("spent"), run_id, run_id)[0]
        return Spent(float(usd or 0.0), int(tokens or 0))

    def peaks(self) -> dict[str, Estimate]:
        return {row["model"]: Estimate(**row) for row in self._db.rows(query("peaks"), NEWEST_MAX)}

    def under_way(self) -> tuple[tuple[str, bool], ...]:
        """Return the models whose work has not ended, each with whether it thinks."""
        return tuple((row["model"], bool(row["think"])) for row in self._db.rows(query("under_way")))

    def decisions(self, issue_id: str) -> tuple[Decided, ...]:
        rows = self._db.rows("SELECT * FROM decisions WHERE issue_id = ? ORDER BY id", issue_id)
        return tuple(map(_decided, rows))


_OF_STATE = tuple(field.name for field in fields(IssueState) if field.name != "status")


def _state(row: sqlite3.Row) -> IssueState:
    return IssueState(**{name: value(row, name) for name in _OF_STATE}, status=IssueStatus(row["status"]))


def _decided(row: sqlite3.Row) -> Decided:
    paths, tests = (tuple(json.loads(row[name])) for name in ("paths", "tests"))
    about = (row["attempt"], Verdict(row["verdict"]), row["epoch"], row["note"], row["at"])
    return Decided(*about, paths=paths, tests=tests, work=row["work"], question=row["question"])


def _order(row: sqlite3.Row) -> AttemptOrder | None:
    with suppress(ValueError, TypeError, KeyError):
        return decode(AttemptOrder, json.loads(row["record"]))
    return None


def _past(row: sqlite3.Row) -> PastAttempt:
    same = {field.name: value(row, field.name) for field in fields(PastAttempt) if field.name not in _DERIVED}
    answer = json.loads(row["action"])["kind"] if row["action"] else ""
    counts = [row[name] for name in ("tokens_in", "tokens_out") if row[name] is not None]
    derived = {"commit": row["commit_id"], "answer": answer, "session": row["session_id"] or ""}
    derived["tokens"] = sum(counts) if counts else None
    return PastAttempt(**same, **derived, last_output=last_output(value(row, "partial")))


_DERIVED = ("commit", "answer", "tokens", "session", "last_output")
"""Fields of a past attempt that are not a column of the same name."""
