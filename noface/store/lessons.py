"""Keeps lessons in the state database: learns, looks up, counts what came of them, drops those without effect (S7).

A lesson is looked up by the failure's signature, then by its words (SQLite's FTS5, ranked by bm25). Where SQLite was
built without FTS5 only the signature is looked up.
"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import fields
from importlib.resources import files

from noface.knowledge.lessons import (
    ControlGroup,
    Lesson,
    confidence,
    cure_holds,
    fits,
    is_cure,
    query_terms,
    worth_keeping,
)
from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind
from noface.store.database import Database, insert, update
from noface.store.records import query
from noface.store.rows import dumps

_TABLES = ("lessons", "lessons_shown")
_TEXT_TABLE = "lessons_text"
_LOOKED_AT_MAX = 30
"""How many lessons with words in common are compared with a failure."""


class LessonStore:
    """Reads and writes lessons; each write is one transaction, and can be repeated harmlessly."""

    def __init__(self, database: Database, *, full_text: bool | None = None) -> None:
        """`full_text` False does without FTS5; by default it is used where SQLite has it."""
        self._db = database
        self.full_text = has_full_text(database) if full_text is None else full_text
        self._ready = False

    def ensure(self) -> None:
        """Make the tables where they are missing; writes nothing if they are there."""
        if self._ready:
            return
        there = {row[0] for row in self._db.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not there.issuperset(_TABLES):
            self._make("lessons.sql")
        elif not self._db.rows("SELECT 1 FROM pragma_table_info('lessons') WHERE name = 'parts'"):
            self._make("lesson_parts.sql")
        if self.full_text and _TEXT_TABLE not in there:
            self._make("lesson_search.sql")
        if self.full_text:
            self._fill_text()
        self._ready = True

    def learn(self, lesson: Lesson, at: float) -> int:
        """Keep a lesson and return its id.

        The same signature and strategy is one lesson: it is learnt anew, with the newer advice and more confidence;
        had it been dropped, its counts start again. What was learnt from the same attempt before changes nothing.
        """
        self.ensure()
        with self._db.transaction() as connection:
            known = self._db.rows(
                "SELECT * FROM lessons WHERE signature = ? AND strategy = ?", lesson.signature, lesson.strategy
            )
            if not known:
                return self._insert(connection, lesson, at)
            row = known[0]
            if (row["issue_id"], row["number"]) != (lesson.issue_id, lesson.number):
                self._renew(connection, row, lesson, at)
            return int(row["id"])

    def look_up(self, failure: Failure, parts: tuple[str, ...], limit: int = 3) -> tuple[Lesson, ...]:
        """Return the lessons for a failure that concerns `parts` of the project: first those of the same failure.

        Lessons that were dropped are never returned, nor those of other parts or with hardly a word in common.
        """
        self.ensure()
        rows = self._db.rows(query("lessons_by_signature"), failure.signature, _LOOKED_AT_MAX)
        if self.full_text:
            words = query_terms(failure)
            rows += self._db.rows(query("lessons_by_words"), words, failure.signature, failure.kind, _LOOKED_AT_MAX)
        lessons = [lesson for lesson in map(_lesson, rows) if fits(failure, lesson, parts)]
        return tuple(lessons[:limit])

    def cures(self, failure: Failure) -> tuple[Lesson, ...]:
        """Return the diagnoses by which the same failure passed before, the best first."""
        self.ensure()
        rows = self._db.rows(query("lessons_by_signature"), failure.signature, _LOOKED_AT_MAX)
        return tuple(_lesson(row) for row in rows if is_cure(row["strategy"]))

    def untold(self, kind: FailureKind) -> ControlGroup:
        """Count how attempts ended that read no lesson, after a failure of a kind."""
        row = self._db.rows(query("attempts_without_lessons"), kind)[0]
        return ControlGroup(row["passed"], row["again"])

    def quote(self, ids: Iterable[int], token: str, issue_id: str, number: int) -> None:
        """Record which lessons an attempt's prompt quotes; `judged` counts them."""
        self.ensure()
        with self._db.transaction() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO lessons_shown (lesson_id, issue_id, number, token) VALUES (?, ?, ?, ?)",
                [(lesson_id, issue_id, number, token) for lesson_id in ids],
            )

    def judged(self, issue_id: str, number: int, *, passed: bool, same_failure: bool, at: float) -> tuple[int, ...]:
        """Count the lessons that an attempt's prompt quoted, and return the ids of those that are dropped for it.

        It passed: they helped. It failed as before: they did not. It failed otherwise: that says nothing, and nothing
        is counted. A lesson is dropped once those that read it pass no more often than others (`ControlGroup`). Each
        attempt counts once, however often it is judged.
        """
        self.ensure()
        with self._db.transaction() as connection:
            quoted = self._db.rows(query("lessons_to_judge"), issue_id, number)
            connection.execute(
                "UPDATE lessons_shown SET judged = 1 WHERE issue_id = ? AND number = ?", (issue_id, number)
            )
            if not passed and not same_failure:
                return ()
            return tuple(row["id"] for row in quoted if self._count(connection, row, passed, at))

    def recent(self, most: int = 100) -> tuple[Lesson, ...]:
        """Return the lessons learnt last, newest first, those that were dropped as well."""
        self.ensure()
        rows = self._db.rows("SELECT * FROM lessons ORDER BY learned_at DESC, id DESC LIMIT ?", most)
        return tuple(_lesson(row) for row in rows)

    def _insert(self, connection: sqlite3.Connection, lesson: Lesson, at: float) -> int:
        columns = _columns(lesson, at, 1, 0, 0)
        names = {"signature": lesson.signature, "kind": lesson.kind, "rule": lesson.rule, "strategy": lesson.strategy}
        lesson_id = insert(connection, "lessons", **names, **columns)
        self._write_text(connection, lesson_id, lesson)
        return lesson_id

    def _renew(self, connection: sqlite3.Connection, row: sqlite3.Row, lesson: Lesson, at: float) -> None:
        again = row["dropped_at"] is not None
        counts = (1, 0, 0) if again else (row["learned"] + 1, row["hits"], row["successes"])
        columns = _columns(lesson, at, *counts) | {"dropped_at": None}
        update(connection, "lessons", columns, "id = ?", row["id"])
        self._write_text(connection, row["id"], lesson)

    def _count(self, connection: sqlite3.Connection, row: sqlite3.Row, passed: bool, at: float) -> bool:
        """Count an attempt for a lesson; tell whether it is dropped."""
        hits, successes = row["hits"] + 1, row["successes"] + passed
        if is_cure(row["strategy"]):
            keep = cure_holds(row["learned"], hits, successes)
        else:
            keep = worth_keeping(hits, successes, self.untold(FailureKind(row["kind"])))
        connection.execute(
            "UPDATE lessons SET hits = ?, successes = ?, confidence = ?,"
            " dropped_at = CASE WHEN ? THEN dropped_at ELSE COALESCE(dropped_at, ?) END WHERE id = ?",
            (hits, successes, confidence(row["learned"], hits, successes), keep, at, row["id"]),
        )
        return not keep

    def _make(self, script: str) -> None:
        text = files("noface.store").joinpath(script).read_text("utf-8")
        with self._db.transaction() as connection:
            for statement in text.split(";\n"):
                connection.execute(statement)

    def _fill_text(self) -> None:
        """Add the words of lessons that an SQLite without FTS5 has learnt."""
        missing = query("lessons_without_text")
        if self._db.rows(f"{missing} LIMIT 1"):
            with self._db.transaction() as connection:
                connection.execute(f"INSERT INTO lessons_text (rowid, message, cause, advice) {missing}")

    def _write_text(self, connection: sqlite3.Connection, lesson_id: int, lesson: Lesson) -> None:
        if self.full_text:
            connection.execute(
                "INSERT OR REPLACE INTO lessons_text (rowid, message, cause, advice) VALUES (?, ?, ?, ?)",
                (lesson_id, lesson.message, lesson.cause, lesson.advice),
            )


def has_full_text(database: Database) -> bool:
    """True if this SQLite has FTS5: not every build does, and old ones cannot say."""
    try:
        return bool(database.rows("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'"))
    except sqlite3.OperationalError:
        return False


def _columns(lesson: Lesson, at: float, learned: int, hits: int, successes: int) -> dict[str, object]:
    """Return the columns of a lesson that change when it is learnt anew."""
    return {
        "message": lesson.message,
        "cause": lesson.cause,
        "advice": lesson.advice,
        "tags": dumps(lesson.tags),
        "parts": dumps(lesson.parts),
        "confidence": confidence(learned, hits, successes),
        "learned": learned,
        "hits": hits,
        "successes": successes,
        "issue_id": lesson.issue_id,
        "number": lesson.number,
        "learned_at": at,
    }


def _lesson(row: sqlite3.Row) -> Lesson:
    read = ("kind", "tags", "parts", "dropped")
    same = {field.name: row[field.name] for field in fields(Lesson) if field.name not in read}
    tags, parts = tuple(json.loads(row["tags"])), tuple(json.loads(row["parts"]))
    dropped = row["dropped_at"] is not None
    return Lesson(**same, kind=FailureKind(row["kind"]), tags=tags, parts=parts, dropped=dropped)
