"""The pull requests of the issues: the rows of `pull_requests`, each change with its event in one transaction.

`head` is what the present intent is about and `pushed` what noface last knew its own on the branch: a kill between the
push and its record leaves two commits that may stand there, both known.
"""

import json
import secrets
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from noface.model.attempt import PastAttempt
from noface.model.codec import decode
from noface.model.gate import GateResult
from noface.model.pull_request import PullRequest
from noface.model.taxonomy import IssueStatus
from noface.model.transitions import NEW
from noface.store.database import Database, insert, update
from noface.store.journal import Journal, remember_results
from noface.store.records import PullRow, query, read, select
from noface.store.rows import dumps

_TAKEN_OVER = (
    *("number", "epoch", "model", "tier", "slot", "main", "started_at", "finished_at", "outcome"),
    *("charged", "candidate", "patch_hash", "gates_passed", "lines"),
)
"""The columns of an attempt that are told by the pull request that shows it."""


class PullStep(StrEnum):
    """How far the pull request of an issue has come: the column `state`."""

    INTENT = "intent"
    PUSHED = "pushed"
    OPEN = "open"
    MERGED = "merged"
    CLOSED = "closed"
    TAKEN = "taken"


class PullRequests:
    """Reads and writes what noface knows of its pull requests."""

    def __init__(self, database: Database, journal: Journal) -> None:
        self._db = database
        self._journal = journal

    def row(self, issue_id: str) -> PullRow | None:
        return next(iter(self._rows("WHERE issue_id = ?", issue_id)), None)

    def rows(self, *steps: PullStep) -> list[PullRow]:
        wanted = steps or tuple(PullStep)
        marks = ", ".join("?" * len(wanted))
        return self._rows(f"WHERE state IN ({marks}) ORDER BY at, issue_id", *wanted)

    def results(self, issue_id: str) -> tuple[GateResult, ...]:
        rows = self._db.rows(query("pull_results"), issue_id)
        return tuple(decode(GateResult, json.loads(row["result"])) for row in rows)

    def intended(
        self, at: float, issue_id: str, keys: tuple[str, ...], results: tuple[GateResult, ...], **columns: object
    ) -> None:
        """Record what is about to be pushed: `head`, with the proven `tree`, by the results of these keys.

        `pushed` is what is known to stand on the branch. Number, rounds and what was seen stay, for the same pull
        request.
        """
        columns |= {"gates": dumps(keys), "state": PullStep.INTENT, "at": at}
        with self._db.transaction() as connection:
            self._step(issue_id, PullStep.INTENT)
            if not update(connection, "pull_requests", columns, "issue_id = ?", issue_id):
                insert(connection, "pull_requests", issue_id=issue_id, **columns)
            remember_results(connection, keys, results, at)
            self._tell(at, issue_id)

    def pushed(self, at: float, issue_id: str, head: str) -> None:
        with self._db.transaction():
            self._set(issue_id, state=PullStep.PUSHED, pushed=head, at=at)
            self._tell(at, issue_id)

    def opened(self, at: float, issue_id: str, pull: PullRequest, more: str = "") -> None:
        with self._db.transaction():
            self._set(issue_id, state=PullStep.OPEN, number=pull.number, url=pull.url, checks="", at=at)
            self._tell(at, issue_id)
            reason = f"pull request #{pull.number} is open: {pull.url}{more}"
            self._journal.status(at, issue_id, IssueStatus.REVIEW, reason)

    def recovered(self, at: float, issue_id: str, pull: PullRequest, attempt: int, tree: str, *, head: str) -> None:
        """Record an open pull request of noface's of a lost database; `head` is "" if its commit is not noface's."""
        with self._db.transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO issues (id, present) VALUES (?, 0)", (issue_id,))
            known: dict[str, object] = {"branch": pull.branch, "head": head, "pushed": head, "base": pull.base}
            known |= {"tree": tree, "attempt": attempt, "state": PullStep.OPEN, "at": at}
            self._step(issue_id, PullStep.OPEN)
            insert(connection, "pull_requests", "REPLACE", issue_id=issue_id, **known)
            self.opened(at, issue_id, pull)

    def taken_over(
        self, at: float, issue_id: str, past: PastAttempt, directory: str, seen: Mapping[str, Any], rounds: int
    ) -> None:
        """Record the attempt that a found pull request shows, charged to nobody; `seen` is what of it was answered."""
        with self._db.transaction() as connection:
            same = {name: getattr(past, name) for name in _TAKEN_OVER}
            token = {"token": secrets.token_hex(16), "run_id": self._journal.run_id, "directory": directory}
            lists = {"notes": dumps(past.notes), "changed": dumps(past.changed)}
            work = {"start": past.main, "commit_id": past.commit}
            insert(connection, "attempts", issue_id=issue_id, **token, **same, **lists, **work)
            self._set(issue_id, seen=dumps(dict(seen)), rounds=rounds)
            self._journal.event(at, "pull_taken_over", issue_id, number=past.number, rounds=rounds)

    def seen(
        self, at: float, issue_id: str, *, seen: Mapping[str, Any] | None = None, checks: str = "", rounds: int = -1
    ) -> None:
        columns: dict[str, object] = {"seen": dumps(dict(seen))} if seen is not None else {}
        columns |= {"checks": checks} if checks else {}
        columns |= {"rounds": rounds} if rounds >= 0 else {}
        if columns:
            with self._db.transaction():
                self._set(issue_id, **columns, at=at)

    def merged(self, at: float, issue_id: str, commit: str) -> None:
        with self._db.transaction():
            self._set(issue_id, state=PullStep.MERGED, at=at)
            self._tell(at, issue_id)
            row = self.row(issue_id)
            number = f" by pull request #{row.number}" if row is not None and row.number is not None else ""
            self._journal.merged(at, issue_id, commit, number)

    def ended(self, at: float, issue_id: str, step: PullStep) -> None:
        with self._db.transaction():
            self._set(issue_id, state=step, at=at)
            self._tell(at, issue_id)

    def taken(self, at: float, issue_id: str, branch: str, head: str) -> None:
        """Record that the branch of an issue that has no pull request yet holds `head`, which is not noface's."""
        columns = {"branch": branch, "state": PullStep.TAKEN, "at": at}
        with self._db.transaction() as connection:
            self._step(issue_id, PullStep.TAKEN)
            if not update(connection, "pull_requests", columns, "issue_id = ?", issue_id):
                fresh = {"attempt": 0, "head": head, "base": "", "tree": ""}
                insert(connection, "pull_requests", issue_id=issue_id, **fresh, **columns)
            self._tell(at, issue_id)

    def adopted(self, at: float, issue_id: str, head: str) -> None:
        """Record that a person has given noface what they had pushed to the branch: `head` is its own by now."""
        with self._db.transaction():
            self._set(issue_id, state=PullStep.OPEN, head=head, pushed=head, at=at)
            self._tell(at, issue_id)

    def _set(self, issue_id: str, **columns: object) -> None:
        if "state" in columns:
            self._step(issue_id, str(columns["state"]))
        with self._db.transaction() as connection:
            update(connection, "pull_requests", columns, "issue_id = ?", issue_id)

    def _step(self, issue_id: str, state: str) -> None:
        row = self.row(issue_id)
        self._journal.step("pull_request", issue_id, row.state if row is not None else NEW, state)

    def _tell(self, at: float, issue_id: str) -> None:
        row = self.row(issue_id)
        if row is not None:
            where = {"branch": row.branch, "head": row.head, "number": row.number, "url": row.url}
            self._journal.event(at, "pull_request", issue_id, state=row.state, **where)

    def _rows(self, which: str, *values: object) -> list[PullRow]:
        return read(PullRow, self._db.rows(select(PullRow, which), *values))
