"""What was asked about issues and what people decided on them: the rows of `advice`, `decisions` and `children`."""

import json
from contextlib import AbstractContextManager

from noface.model.budget import EndedFor, Spent, ended_at
from noface.model.codec import decode, encode
from noface.model.history import Advice, AdviceOutcome, Decided, History, PartFailure, Topic, Verdict
from noface.model.issue import Issue, IssueState
from noface.model.taxonomy import INTERRUPTED
from noface.model.worker_run import Usage
from noface.store.database import Database, insert
from noface.store.journal import Journal
from noface.store.reader import Reader
from noface.store.records import query
from noface.store.rows import dumps


class Questions:
    """Reads and writes questions, decisions and children; each write is one transaction with its event."""

    def __init__(self, database: Database, journal: Journal) -> None:
        self._db = database
        self._journal = journal

    def together(self) -> AbstractContextManager[object]:
        return self._db.transaction()

    def asked(
        self, at: float, issue_id: str, topic: Topic, *, after: int, epoch: int, model: str, run_id: str, directory: str
    ) -> int:
        """Record that a question is about to be asked; return its id."""
        with self._db.transaction() as connection:
            self._journal.event(at, "asked", issue_id, topic=topic, model=model, after=after)
            return insert(
                connection,
                "advice",
                issue_id=issue_id,
                after=after,
                epoch=epoch,
                topic=topic,
                model=model,
                run_id=run_id,
                asked_at=at,
                directory=directory,
            )

    def answered(self, at: float, question: int, issue_id: str, advice: Advice) -> None:
        """Record an answer, or that there was none worth the name."""
        with self._db.transaction() as connection:
            connection.execute(
                "UPDATE advice SET answered_at = ?, outcome = ?, answer = ?, cost_usd = ? WHERE id = ?",
                (at, advice.outcome, dumps(advice), advice.cost_usd, question),
            )
            self._journal.recount(issue_id)
            data = {"topic": advice.topic, "outcome": advice.outcome, "strategy": advice.strategy}
            self._journal.event(at, "answered", issue_id, model=advice.model, text=advice.text[:500], **data)

    def open(self) -> tuple[tuple[int, str, str], ...]:
        rows = self._db.rows("SELECT id, model, directory FROM advice WHERE outcome IS NULL ORDER BY id")
        return tuple((int(row[0]), str(row[1]), str(row[2])) for row in rows)

    def cut_short(
        self, at: float, question: int, used: Usage, *, cause: str = "", mark: str = "", keep: bool = False
    ) -> None:
        """Drop a question that was never answered: it is asked again. Where it cost something, that stays counted.

        `mark` says which budget ended it, and `cause` says it for people. `keep`: it stays though nobody knows its
        cost.
        """
        with self._db.transaction() as connection:
            if not used.cost_usd and not used.tokens and not mark and not keep:
                connection.execute("DELETE FROM advice WHERE id = ? AND outcome IS NULL", (question,))
                return
            sql = "SELECT issue_id, topic, after FROM advice WHERE id = ?"
            for issue_id, topic, after in connection.execute(sql, (question,)).fetchall():
                answer = {"topic": topic, "after": after, "tokens": used.tokens, "cause": cause, "mark": mark}
                connection.execute(query("interrupt"), (at, dumps(answer), used.cost_usd, question))
                self._journal.recount(issue_id)

    def forget_absences(self, issue_id: str) -> None:
        with self._db.transaction() as connection:
            forgotten = (INTERRUPTED, issue_id, AdviceOutcome.UNAVAILABLE)
            connection.execute("UPDATE advice SET outcome = ? WHERE issue_id = ? AND outcome = ?", forgotten)

    def ends_at_run(self, issue_id: str, topic: Topic, *, after: int, epoch: int) -> int:
        rows = self._db.rows(query("marks"), issue_id, topic, after, epoch)
        return sum(ended_at(row["mark"] or "") is EndedFor.RUN for row in rows)

    def unanswered(self, issue_id: str, epoch: int) -> Spent:
        rows = self._db.rows(query("interrupted"), issue_id, epoch)
        return Spent(float(rows[0]["usd"] or 0.0), int(rows[0]["tokens"] or 0))

    def advice(self, issue_id: str) -> tuple[Advice, ...]:
        rows = self._db.rows(
            "SELECT answer FROM advice WHERE issue_id = ? AND outcome != ? ORDER BY id", issue_id, INTERRUPTED
        )
        return tuple(decode(Advice, json.loads(row["answer"])) for row in rows)

    def parts_failed(self, at: float, issue_id: str, text: str, parts: tuple[PartFailure, ...] = ()) -> None:
        with self._db.transaction():
            self.divided(issue_id, AdviceOutcome.PARTS_FAILED, text=text, parts=encode(parts))
            self._journal.event(at, "parts_failed", issue_id, text=text[:500])

    def divided(self, issue_id: str, outcome: AdviceOutcome, **changes: object) -> None:
        with self._db.transaction() as connection:
            for question, answer in connection.execute(query("breakdown"), (issue_id,)).fetchall():
                changed = json.loads(answer) | {"outcome": outcome.value, **changes}
                connection.execute(
                    "UPDATE advice SET outcome = ?, answer = ? WHERE id = ?", (outcome, dumps(changed), question)
                )

    def decided(self, issue_id: str, what: Decided) -> None:
        """Record what a person decided."""
        verdict = what.verdict
        with self._db.transaction() as connection:
            scope = {"paths": dumps(what.paths), "tests": dumps(what.tests)}
            insert(connection, "decisions", issue_id=issue_id, **encode(what) | scope)
            if verdict is not Verdict.NOTED:
                self._journal.event(what.at, verdict.value, issue_id, attempt=what.attempt, note=what.note)
            if what.paths:
                self._journal.event(what.at, "paths_allowed", issue_id, paths=what.paths)

    def add_children(self, at: float, parent: str, children: tuple[Issue, ...]) -> None:
        with self._db.transaction() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO children (id, parent, position, issue, at) VALUES (?, ?, ?, ?, ?)",
                [(child.id, parent, position, dumps(child), at) for position, child in enumerate(children)],
            )
            self._journal.event(at, "broken_down", parent, children=[child.id for child in children])

    def children(self) -> tuple[Issue, ...]:
        rows = self._db.rows("SELECT issue FROM children ORDER BY parent, position")
        return tuple(decode(Issue, json.loads(row["issue"])) for row in rows)


def recorded_history(reader: Reader, questions: Questions, issue: Issue, state: IssueState | None) -> History:
    """Return an issue's history as it was recorded; `state` is None for an issue that noface has not seen yet."""
    state = state or IssueState(issue.id)
    return History(
        issue,
        reader.past(issue.id),
        state.epoch,
        questions.advice(issue.id),
        reader.decisions(issue.id),
        state.wanted_model,
        state.wanted_attempts,
        questions.unanswered(issue.id, state.epoch),
        reader.family_runs(issue.id),
    )
