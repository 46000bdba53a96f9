"""What was said of issues where their tracker is, and what was heard there: the rows of `publications`.

A row is there from the moment something is to be said. `digest` is "" until it has been said for the first time.
"""

import json
from dataclasses import replace
from typing import Any

from noface.model.codec import view
from noface.model.publication import Publication
from noface.model.request import NOTHING_ASKED
from noface.model.taxonomy import IssueStatus
from noface.recovery.said import GONE, Standing, Worked
from noface.store.database import Database, insert
from noface.store.overview import TRACKER_AWAY
from noface.store.records import IssueRow, PullRow, query, read, select
from noface.store.rows import dumps

_SINCE = "tracker_since:"
_HEARD = ("after", "question", "problem", "author", "state")


class Publications:
    """Reads and writes what was said and heard; each write is one transaction, or part of one that is open."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def get(self, issue_id: str) -> Publication | None:
        rows = self._db.rows("SELECT * FROM publications WHERE issue_id = ?", issue_id)
        return _publication(rows[0]) if rows else None

    def all(self) -> dict[str, Publication]:
        return {row["issue_id"]: _publication(row) for row in self._db.rows("SELECT * FROM publications")}

    def commented(self, at: float, issue_id: str, digest: str, comment: int | None) -> None:
        self._put(replace(self._known(issue_id), digest=digest, comment=comment, at=at))

    def marked(self, issue_id: str, question: str, after: int) -> None:
        """Record, before a question is put, what had been written until then: only later comments answer it."""
        self._put(replace(self._known(issue_id), after=after, question=question))

    def heard(self, issue_id: str, after: int, problem: str = "", author: str = "") -> None:
        """Record that a comment has been acted on, or why it could not be: that is said, also of what is settled."""
        known = self._known(issue_id)
        rows = self._db.rows(select(IssueRow, "WHERE id = ?"), issue_id)
        state = next((self._standing(row).state for row in read(IssueRow, rows)), "")
        digest = "" if problem or known.problem else known.digest
        self._put(replace(known, digest=digest, after=after, problem=problem, author=author, state=state))

    def listened(self) -> dict[str, int]:
        return {issue_id: known.after for issue_id, known in self.all().items() if known.digest}

    def since(self, tracker: str, now: float) -> float:
        """Return since when the issues come from a tracker, now if that is new: remembered from then on.

        What had landed before came from elsewhere, and another issue may bear its id here.
        """
        rows = self._db.rows("SELECT value FROM facts WHERE name = ?", _SINCE + tracker)
        if rows:
            return float(rows[0][0])
        with self._db.transaction() as connection:
            insert(connection, "facts", name=_SINCE + tracker, value=str(now))
        return now

    def away(self, at: float, why: str) -> None:
        """Remember since when the tracker does not answer; one that was away already has been so since then."""
        with self._db.transaction() as connection:
            value = dumps({"since": at, "why": why})
            connection.execute("INSERT OR IGNORE INTO facts (name, value) VALUES (?, ?)", (TRACKER_AWAY, value))

    def back(self) -> None:
        if self._db.rows("SELECT 1 FROM facts WHERE name = ?", TRACKER_AWAY):
            with self._db.transaction() as connection:
                connection.execute("DELETE FROM facts WHERE name = ?", (TRACKER_AWAY,))

    def standings(self, since: float) -> list[Standing]:
        rows = self._db.rows(query("to_say"), f"{IssueStatus.MERGED}:%", f"{GONE}:%", since)
        return [self._standing(row) for row in read(IssueRow, rows)]

    def _standing(self, row: IssueRow) -> Standing:
        attempts = self._db.rows(query("worked"), row.id)
        parts = self._db.rows(select(IssueRow, "WHERE parent = ? ORDER BY position"), row.id)
        pulls = read(PullRow, self._db.rows(select(PullRow, "WHERE issue_id = ? AND number IS NOT NULL"), row.id))
        known = self.get(row.id)
        standing = view(
            Standing,
            row,
            issue_id=row.id,
            title="",
            attempts=tuple(Worked(*each) for each in attempts),
            request=row.block or NOTHING_ASKED,
            parts=tuple(map(_part, read(IssueRow, parts))),
            pull=next((pull.followed for pull in pulls), None),
            merged_commit=row.merged_commit or "",
        )
        if known is None or not known.problem or (known.digest and known.state != standing.state):
            return standing  # that was told, and what could not be done then may be another matter now
        return replace(standing, not_heard=known.problem, not_heard_of=known.author, heard=known.after)

    def _known(self, issue_id: str) -> Publication:
        return self.get(issue_id) or Publication(issue_id)

    def _put(self, publication: Publication) -> None:
        said = {name: getattr(publication, name) for name in ("issue_id", "digest", "comment", "at")}
        heard = dumps({name: getattr(publication, name) for name in _HEARD})
        with self._db.transaction() as connection:
            insert(connection, "publications", "REPLACE", **said, heard=heard)


def _part(row: IssueRow) -> Standing:
    request = row.block or NOTHING_ASKED
    return Standing(issue_id=row.id, status=row.status, title=row.title, epoch=row.epoch, request=request)


def _publication(row: Any) -> Publication:
    heard = json.loads(row["heard"] or "{}")
    return Publication(row["issue_id"], row["digest"], row["comment"], row["at"], **heard)
