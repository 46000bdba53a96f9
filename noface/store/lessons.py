"""Keeps lessons in the state database: learns, looks up, counts what came of them, drops those without effect (S7).

A lesson is looked up by the failure's signature, then, of those of its kind, by its words.
"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import fields

from noface.knowledge.lessons import CURES, ControlGroup, Lesson, alike, cure_holds, fits, worth_keeping
from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind
from noface.store.database import Database, insert, update
from noface.store.records import query
from noface.store.rows import dumps

_LOOKED_AT_MAX = 200


class LessonStore:
    """Reads and writes lessons; each write is one transaction, and can be repeated harmlessly."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def learn(self, lesson: Lesson, at: float) -> int:
        """Keep a lesson and return its id. The same signature and strategy is one lesson: it is learnt anew.

        Had it been dropped, its counts start again. What was learnt from the same attempt before changes nothing.
        """
        with self._db.transaction() as connection:
            known = self._db.rows(
                "SELECT * FROM lessons WHERE signature = ? AND strategy = ?", lesson.signature, lesson.strategy
            )
            if not known:
                same = {name: getattr(lesson, name) for name in ("signature", "kind", "rule", "strategy")}
                return insert(connection, "lessons", **same, **_columns(lesson, at, 1, 0, 0))
            row = known[0]
            if (row["issue_id"], row["number"]) != (lesson.issue_id, lesson.number):
                again = row["dropped_at"] is not None
                counts = (1, 0, 0) if again else (row["learned"] + 1, row["hits"], row["successes"])
                columns = _columns(lesson, at, *counts) | {"dropped_at": None}
                update(connection, "lessons", columns, "id = ?", row["id"])
            return int(row["id"])

    def look_up(self, failure: Failure, parts: tuple[str, ...], limit: int = 3) -> tuple[Lesson, ...]:
        others = map(_lesson, self._db.rows(query("lessons_of_kind"), failure.kind, failure.signature, _LOOKED_AT_MAX))
        alike_first = sorted(others, key=lambda lesson: alike(failure, lesson), reverse=True)
        lessons = [*self._same(failure), *alike_first]
        return tuple(lesson for lesson in lessons if fits(failure, lesson, parts))[:limit]

    def cures(self, failure: Failure) -> tuple[Lesson, ...]:
        return tuple(lesson for lesson in self._same(failure) if lesson.strategy in CURES)

    def _same(self, failure: Failure) -> list[Lesson]:
        return [*map(_lesson, self._db.rows(query("lessons_by_signature"), failure.signature, _LOOKED_AT_MAX))]

    def untold(self, kind: FailureKind) -> ControlGroup:
        row = self._db.rows(query("attempts_without_lessons"), kind)[0]
        return row["passed"], row["again"]

    def quote(self, ids: Iterable[int], token: str, issue_id: str, number: int) -> None:
        with self._db.transaction() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO lessons_shown (lesson_id, issue_id, number, token) VALUES (?, ?, ?, ?)",
                [(lesson_id, issue_id, number, token) for lesson_id in ids],
            )

    def judged(self, issue_id: str, number: int, *, passed: bool, same_failure: bool, at: float) -> tuple[int, ...]:
        """Count the lessons that an attempt's prompt quoted, and return the ids of those that are dropped for it.

        It passed: they helped. It failed as before: they did not. It failed otherwise: nothing is counted. Each attempt
        counts once, however often it is judged.
        """
        with self._db.transaction() as connection:
            quoted = self._db.rows(query("lessons_to_judge"), issue_id, number)
            connection.execute(
                "UPDATE lessons_shown SET judged = 1 WHERE issue_id = ? AND number = ?", (issue_id, number)
            )
            if not passed and not same_failure:
                return ()
            return tuple(row["id"] for row in quoted if self._count(connection, row, passed, at))

    def forget(self, issue_id: str, at: float) -> None:
        """Drop what was learnt from an issue whose work a person took back from main."""
        with self._db.transaction() as connection:
            update(connection, "lessons", {"dropped_at": at}, "issue_id = ?", issue_id)

    def recent(self, most: int = 100) -> tuple[Lesson, ...]:
        rows = self._db.rows("SELECT * FROM lessons ORDER BY learned_at DESC, id DESC LIMIT ?", most)
        return tuple(_lesson(row) for row in rows)

    def _count(self, connection: sqlite3.Connection, row: sqlite3.Row, passed: bool, at: float) -> bool:
        hits, successes = row["hits"] + 1, row["successes"] + passed
        if row["strategy"] in CURES:
            keep = cure_holds(row["learned"], hits, successes)
        else:
            keep = worth_keeping(hits, successes, self.untold(FailureKind(row["kind"])))
        connection.execute(
            "UPDATE lessons SET hits = ?, successes = ?,"
            " dropped_at = CASE WHEN ? THEN dropped_at ELSE COALESCE(dropped_at, ?) END WHERE id = ?",
            (hits, successes, keep, at, row["id"]),
        )
        return not keep


def _columns(lesson: Lesson, at: float, learned: int, hits: int, successes: int) -> dict[str, object]:
    same = {name: getattr(lesson, name) for name in ("message", "cause", "advice", "issue_id", "number")}
    counts = {"learned": learned, "hits": hits, "successes": successes}
    return {**same, **counts, "parts": dumps(lesson.parts), "learned_at": at}


def _lesson(row: sqlite3.Row) -> Lesson:
    read = ("kind", "parts", "dropped")
    same = {field.name: row[field.name] for field in fields(Lesson) if field.name not in read}
    parts, dropped = tuple(json.loads(row["parts"])), row["dropped_at"] is not None
    return Lesson(**same, kind=FailureKind(row["kind"]), parts=parts, dropped=dropped)
