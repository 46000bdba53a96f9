"""Reads what `noface status` and `noface blocked` show. Light, so that looking costs little more than starting."""

import json
import sqlite3
from collections.abc import Callable
from typing import Annotated, NamedTuple, TypeVar

from noface.model.description import Minimum, Timestamp
from noface.model.listed import HostState, IssueFault, UnsteadyTest, Window
from noface.store.records import UNSTEADY, AttemptRow, IssueRow, PullRow, QuestionRow, RunRow, query, read, select

Rows = Callable[..., list[sqlite3.Row]]
"""Answers a query with its values, as `Database.rows` does."""

TRACKER_AWAY = "tracker_away"
"""The fact that tells since when a tracker on another machine has not answered."""
HOSTS = "hosts"
PAUSED = "paused"
"""The fact that tells since when the run is paused (epoch seconds), empty if it is not."""
NOTIFY_AWAY = "notify_away"
QUOTA = "quota"
"""The fact that tells of the quotas of logins, as their programs told of them last."""
OVERAGE = "overage"
"""The fact that holds the run that may spend beyond its windows, and how many dollars, as a person has let it."""
_GAPS_MAX = 1000
_ORDER = "ORDER BY present DESC, priority, position, id"
_T = TypeVar("_T")


class Gap(NamedTuple):
    """Something a worker missed."""

    id: Annotated[str, "The issue."]
    attempt: Annotated[int, Minimum(1), "Who missed it first."]
    gap: Annotated[str, "What was missing."]


class Away(NamedTuple):
    """Something on another machine that did not answer when it was last tried."""

    since: Annotated[float, Timestamp, "Since when."]
    why: Annotated[str, "What came instead of an answer."]
    service: Annotated[str, "Which of [notify], without what of its address is secret; empty for the tracker."] = ""


class ModelWait(NamedTuple):
    """A model whose provider is waited for."""

    model: Annotated[str, "The entry of [models]."]
    until: Annotated[float, Timestamp, "When one issue tries it again; all others that would run it wait."]
    reason: Annotated[str, "Why."]


class LandedAt(NamedTuple):
    """A landing: the issue, the attempt whose work it is, and when."""

    issue_id: str
    number: int
    at: float


class NewestAttempt(NamedTuple):
    """An issue's newest attempt, as a list shows it."""

    issue_id: str
    number: int
    model: str
    directory: str
    started_at: float
    outcome: str | None


class Overview:
    """The rows that people look at; no query but `happened_since` scans the events."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def fact(self, name: str) -> str | None:
        rows = self._rows("SELECT value FROM facts WHERE name = ?", name)
        return str(rows[0][0]) if rows else None

    def issues(self) -> list[IssueRow]:
        return self._records(IssueRow, _ORDER)

    def listed(self) -> list[IssueRow]:
        return self._records(IssueRow, f"WHERE present = 1 OR status = 'merged' {_ORDER}")

    def merged(self) -> dict[str, str]:
        return dict(map(tuple, self._rows("SELECT id, source FROM issues WHERE status = 'merged'")))

    def where_merged(self) -> dict[str, tuple[str, str]]:
        rows = self._rows("SELECT id, status, COALESCE(merged_commit, '') FROM issues")
        return {str(row[0]): (str(row[1]), str(row[2])) for row in rows}

    def issue(self, issue_id: str) -> IssueRow | None:
        return next(iter(self._records(IssueRow, "WHERE id = ?", issue_id)), None)

    def around(self, row: IssueRow) -> list[IssueRow]:
        rows = {each.id: each for each in (row, *self._records(IssueRow, f"WHERE parent = ? {_ORDER}", row.id))}
        needed = {name for each in rows.values() for name in (*each.depends_on, *each.needs)} - rows.keys()
        return [*rows.values(), *(each for name in needed if (each := self.issue(name)) is not None)]

    def names(self) -> list[tuple[str, str, str]]:
        """Return id, title and status of the issues, as `listed` does, without the JSON that their rows hold."""
        which = f"WHERE present = 1 OR status = 'merged' {_ORDER}"
        return [tuple(row) for row in self._rows(f"SELECT id, title, status FROM issues {which}")]  # noqa: S608

    def waiting_for_a_person(self, *, edited: bool = False) -> list[IssueRow]:
        rows = self._records(IssueRow, f"WHERE status IN ('blocked', 'approval') AND present = 1 {_ORDER}")
        return [row for row in rows if row.edited == edited]

    def attempts_made(self) -> dict[str, int]:
        rows = self._rows("SELECT issue_id, COUNT(*) FROM attempts GROUP BY issue_id")
        return {str(row[0]): int(row[1]) for row in rows}

    def newest_attempts(self) -> dict[str, NewestAttempt]:
        columns = ", ".join(NewestAttempt._fields).replace("number", "MAX(number)")  # the bare ones are of that row
        rows = self._rows(f"SELECT {columns} FROM attempts GROUP BY issue_id")  # noqa: S608 - our own names
        return {row[0]: NewestAttempt(*row) for row in rows}

    def happened_since(self, at: float) -> dict[str, float]:
        return {str(row[0]): float(row[1]) for row in self._rows(query("happened_since"), at)}

    def attempts_since(self, at: float) -> list[AttemptRow]:
        return self._records(
            AttemptRow, "WHERE started_at >= ? OR finished_at >= ? ORDER BY started_at, issue_id, number", at, at
        )

    def questions_since(self, at: float) -> list[QuestionRow]:
        return self._records(QuestionRow, "WHERE asked_at >= ? ORDER BY id", at)

    def landed(self) -> list[LandedAt]:
        return [LandedAt(*row) for row in self._rows(query("landed"))]

    def in_review(self) -> list[IssueRow]:
        return self._records(IssueRow, f"WHERE status = 'review' AND present = 1 {_ORDER}")

    def left(self) -> int:
        """Return how many issues the next run goes on with, but those whose landing something is in the way of."""
        return int(self._rows(query("left"))[0][0])

    def pull_urls(self) -> dict[str, str]:
        rows = self._rows("SELECT issue_id, url FROM pull_requests WHERE url != ''")
        return {str(row[0]): str(row[1]) for row in rows}

    def pull(self, issue_id: str) -> PullRow | None:
        return next(iter(self._records(PullRow, "WHERE issue_id = ?", issue_id)), None)

    def held(self) -> list[IssueRow]:
        where = "WHERE status = 'landing' AND cause = 'held' AND present = 1"
        return self._records(IssueRow, f"{where} {_ORDER}")

    def gaps(self, run_id: str) -> list[Gap]:
        return [Gap(*row) for row in self._rows(query("gaps"), run_id, _GAPS_MAX)]

    def faults(self, name: str = "faults") -> tuple[IssueFault, ...]:
        items = json.loads(self.fact(name) or "[]")
        return tuple(IssueFault(**{key: item[key] for key in IssueFault._fields if key in item}) for item in items)

    def left_out(self) -> tuple[IssueFault, ...]:
        warnings = [each for each in self.faults("warnings") if each.id]
        here = {row[0] for row in self._rows("SELECT id FROM issues WHERE present = 1")} if warnings else set()
        return tuple(each for each in warnings if each.id not in here)

    def unsteady(self) -> list[UnsteadyTest]:
        items = [item for tests in json.loads(self.fact(UNSTEADY) or "{}").values() for item in tests]
        rows = [UnsteadyTest(**{key: item[key] for key in UnsteadyTest._fields if key in item}) for item in items]
        return sorted(rows, key=lambda row: -row.at)

    def last_run(self) -> RunRow | None:
        return next(iter(self._records(RunRow, "ORDER BY rowid DESC LIMIT 1")), None)

    def night_began(self) -> float | None:
        """Return when the newest run began, with those right before it that were cut off; None before the first."""
        began = self._rows(query("night_began"))[0][0]
        return None if began is None else float(began)

    def tracker_away(self) -> Away | None:
        known = json.loads(self.fact(TRACKER_AWAY) or "null")
        return Away(**known) if known else None

    def notify_away(self) -> tuple[Away, ...]:
        return tuple(Away(**each) for each in json.loads(self.fact(NOTIFY_AWAY) or "[]"))

    def hosts(self) -> tuple[HostState, ...]:
        return tuple(HostState(**each) for each in json.loads(self.fact(HOSTS) or "[]"))

    def paused(self) -> float | None:
        return float(self.fact(PAUSED) or 0) or None

    def quotas(self, now: float) -> tuple[Window, ...]:
        known = (Window(**each) for each in json.loads(self.fact(QUOTA) or "[]"))
        return tuple(each for each in known if each.resets_at is None or each.resets_at > now)

    def model_waits(self, now: float) -> list[ModelWait]:
        rows = self._rows("SELECT model, until, reason FROM waits WHERE until > ? ORDER BY model", now)
        return [ModelWait(*row) for row in rows]

    def _records(self, kind: type[_T], which: str, *values: object) -> list[_T]:
        return read(kind, self._rows(select(kind, which), *values))
