"""Writes what happens: each method is one transaction that appends an event and moves the rows people look at."""

import json
import sqlite3
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from noface.model.actions import Action
from noface.model.attempt import BESIDE, AttemptOrder, AttemptReport, Interrupted, Judged, noted
from noface.model.codec import encode
from noface.model.failure import Failure
from noface.model.gate import GateResult
from noface.model.issue import Backlog
from noface.model.request import PersonRequest
from noface.model.taxonomy import Cause, IssueStatus
from noface.model.transitions import UNEXPECTED_STEPS, unexpected
from noface.model.worker_run import Resumed
from noface.recovery.schedule import Breaker
from noface.store.database import Database, insert, update
from noface.store.records import UNSTEADY, query
from noface.store.rows import dumps, outcome_row

if TYPE_CHECKING:
    from noface.integrity.inventory import Inventory
    from noface.integrity.unsteady import Known


_STEPS_MAX = 20
_LONG_S = 300.0
"""A shorter wait for a provider passes before anybody could do something."""
_TESTS_TOLD_MAX = 20
_OF_ORDER = ("token", "number", "slot", "main", "start", "directory", "think")
"""The columns of an attempt that its order has."""
Announce = Callable[[str, str | None, dict[str, object]], None]
"""Tells views what happens: kind, issue id, data."""


class Journal:
    """The one writer of a repository's state. `run_id` marks the events of this process."""

    def __init__(self, database: Database, run_id: str = "", announce: Announce | None = None) -> None:
        self._db = database
        self._run_id = run_id
        self._announce = announce

    def event(self, at: float, kind: str, issue_id: str | None = None, **data: object) -> None:
        """Append an event; inside another method's transaction it becomes part of it. Announced once it is on disk."""
        with self._db.transaction() as connection:
            insert(connection, "events", at=at, run_id=self._run_id, kind=kind, issue_id=issue_id, data=dumps(data))
            announce = self._announce
            if announce is not None:
                self._db.after_commit(lambda: announce(kind, issue_id, data))

    @property
    def run_id(self) -> str:
        return self._run_id

    def run_started(self, at: float, pid: int) -> None:
        with self._db.transaction() as connection:
            self.runs_cut_off(at)
            insert(connection, "runs", id=self._run_id, pid=pid, started_at=at)
            self.event(at, "run_started", pid=pid)

    def runs_cut_off(self, at: float) -> None:
        with self._db.transaction() as connection:
            columns = {"ended_at": at, "ended_why": "cut off"}
            update(connection, "runs", columns, "ended_at IS NULL AND id != ?", self._run_id)

    def run_ended(self, at: float, exit_code: int, why: str) -> None:
        with self._db.transaction() as connection:
            columns = {"ended_at": at, "exit_code": exit_code, "ended_why": why}
            update(connection, "runs", columns, "id = ?", self._run_id)
            self.event(at, "run_ended", exit_code=exit_code, why=why)

    def sync_backlog(self, backlog: Backlog, fingerprint: str) -> None:
        """Bring the issue rows up to the tracker's state; rows of vanished issues stay, marked as gone."""
        with self._db.transaction() as connection:
            known = {row[0]: tuple(row) for row in connection.execute(query("present_issues"))}
            rows = [
                (one.id, at, one.title, one.priority, one.source, one.content_hash, dumps(one.depends_on), one.parent)
                for at, one in enumerate(backlog.issues)
            ]
            gone = known.keys() - {row[0] for row in rows}
            connection.executemany("UPDATE issues SET present = 0 WHERE id = ?", [(each,) for each in sorted(gone)])
            connection.executemany(query("put_issue"), [row for row in rows if known.get(str(row[0])) != row])
            for name, value in (("faults", backlog.faults), ("warnings", backlog.warnings)):
                self.fact(name, dumps(value))
            self.fact("fingerprint", fingerprint)

    def released(self, newest: Mapping[str, int]) -> None:
        """Remember up to which attempt the refs of issues went, or fsck would take their work for lost."""
        with self._db.transaction() as connection:
            known = connection.execute("SELECT value FROM facts WHERE name = 'released'").fetchone()
            self.fact("released", json.dumps(json.loads(known[0] if known else "{}") | dict(newest)))

    def fact(self, name: str, value: str) -> None:
        with self._db.transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", (name, value))

    def status(
        self,
        at: float,
        issue_id: str,
        status: IssueStatus,
        reason: str,
        until: float | None = None,
        *,
        satisfied: bool = False,
        cause: Cause = Cause.NONE,
    ) -> None:
        """Move an issue to another status, with the reason a person reads, and its cause, which programs read.

        `satisfied` belongs to `skipped`: main holds already what the issue asks for.
        """
        with self._db.transaction() as connection:
            before = connection.execute("SELECT status FROM issues WHERE id = ?", (issue_id,)).fetchone()
            if before is not None:
                self.step("issue", issue_id, before[0], status)
            _set(connection, issue_id, status=status, reason=reason, until=until, satisfied=satisfied, cause=cause)
            if status in (IssueStatus.BLOCKED, IssueStatus.SKIPPED):
                connection.execute(
                    "UPDATE issues SET blocked_hash = content_hash WHERE id = ? AND blocked_hash = ''", (issue_id,)
                )
            self.event(at, f"issue_{status}", issue_id, reason=reason, until=until)

    def step(self, of: str, name: str, before: str, after: str) -> None:
        """Record, for fsck, a change of state that the table of transitions does not have; it takes place."""
        step = unexpected(of, name, before, after)
        if step is not None:
            with self._db.transaction() as connection:
                known = connection.execute("SELECT value FROM facts WHERE name = ?", (UNEXPECTED_STEPS,)).fetchone()
                steps = json.loads(known[0]) if known is not None else []
                self.fact(UNEXPECTED_STEPS, dumps([*steps, step][-_STEPS_MAX:]))

    def blocked(self, at: float, issue_id: str, reason: str, request: PersonRequest, cause: Cause = Cause.NONE) -> None:
        with self._db.transaction() as connection:
            _set(connection, issue_id, block=dumps(request))
            self.status(at, issue_id, IssueStatus.BLOCKED, reason, cause=cause)

    def approval_requested(self, at: float, issue_id: str, reason: str, request: PersonRequest) -> None:
        with self._db.transaction() as connection:
            _set(connection, issue_id, block=dumps(request))
            self.status(at, issue_id, IssueStatus.APPROVAL, reason)
            self.person_asked(at, issue_id, reason, request)

    def person_asked(self, at: float, issue_id: str, reason: str, request: PersonRequest) -> None:
        asked = {"question": request.question, "attempts": request.tried}
        self.event(at, "approval_requested", issue_id, reason=reason, **asked)

    def unblocked(
        self, at: float, issue_id: str, why: str, model: str | None = None, attempts: int | None = None
    ) -> None:
        """Give an issue back to the loop: the counters start again (N14)."""
        with self._db.transaction() as connection:
            connection.execute(query("unblock"), (model, attempts, issue_id))
            connection.execute("UPDATE pull_requests SET rounds = 0 WHERE issue_id = ?", (issue_id,))
            self.status(at, issue_id, IssueStatus.READY, why)

    def give_branch(self, issue_id: str, *, given: bool) -> None:
        self.fact(f"branch_given:{issue_id}", "1" if given else "")

    def attempt_started(
        self, at: float, order: AttemptOrder, *, epoch: int, branch: str, alone: str = "", more: str = ""
    ) -> None:
        """Record the intent to run a worker, before anything is done for it.

        `alone` names the files for whose sake nothing else may move main meanwhile. `more` is said of it besides.
        """
        session = order.session
        with self._db.transaction() as connection:
            insert(
                connection,
                "attempts",
                **{name: getattr(order, name) for name in _OF_ORDER},
                issue_id=order.issue.id,
                epoch=epoch,
                run_id=self._run_id,
                model=order.model.name,
                tier=order.model.tier,
                started_at=at,
                record=dumps(_kept(order)),
                resumed=dumps(Resumed(session.id, session.attempt)) if session is not None else None,
            )
            issue = order.issue
            _set(connection, issue.id, model=order.model.name, branch=branch, blocked_hash=issue.content_hash)
            on = f", in its session of attempt {session.attempt}" if session is not None else ""
            on += f", alone ({alone})" if alone else ""
            on += f"; {more}" if more else ""
            self.status(at, issue.id, IssueStatus.RUNNING, f"attempt {order.number} with {order.model.name}{on}")
            who = {"model": order.model.name, "tier": order.model.tier, "think": order.think}
            resumes = session.attempt if session is not None else None
            self.event(at, "attempt_started", issue.id, number=order.number, resumes=resumes, **who)

    def attempt_finished(
        self,
        at: float,
        report: AttemptReport,
        *,
        charged: bool,
        notes: tuple[str, ...],
        partial: Mapping[str, object] | None = None,
        mark: str = "",
    ) -> bool:
        """Record what came of an attempt; True if it was applied. `partial` is what its steps left (P4).

        `mark` replaces a failure's signature: which budget ended it (`model.budget`), or beside which candidate it
        stood. An attempt whose token is no longer open was fenced (I10): an event says so, and nothing else changes.
        """
        row = outcome_row(at, report, charged=charged, notes=notes)
        row["partial"] = dumps(partial) if partial is not None else None
        row["signature"] = mark or row["signature"]
        with self._db.transaction() as connection:
            open_attempt = "token = ? AND outcome IS NULL"
            if not update(connection, "attempts", row, open_attempt, report.token):
                self.event(at, "attempt_fenced", report.issue_id, number=report.number, outcome=report.outcome)
                return False
            failure = None if isinstance(report, Interrupted) else report.failure
            if not isinstance(report, Interrupted):
                self._last_failure(report.issue_id, failure)
            worker = report.agent.error if isinstance(report, Judged) and failure is None else None
            self.recount(report.issue_id)
            self.event(
                at,
                "attempt_finished",
                report.issue_id,
                number=report.number,
                outcome=report.outcome,
                charged=charged,
                worker=worker.kind if worker is not None else None,
                message=failure.message if failure else noted(notes, BESIDE),
                gate=failure.gate if failure else None,
                location=failure.location if failure else None,
                tests=failure.failing_tests[:_TESTS_TOLD_MAX] if failure else (),
            )
        return True

    def attempt_overruled(self, at: float, issue_id: str, number: int, failure: Failure) -> None:
        """Record that an attempt that passed alone failed on the merge with the present main."""
        with self._db.transaction() as connection:
            values = (failure.kind, failure.charged, dumps(failure), failure.signature, issue_id, number)
            connection.execute(query("overrule"), values)
            self._last_failure(issue_id, failure)
            self.recount(issue_id)
            tests = failure.failing_tests[:_TESTS_TOLD_MAX]
            told = {"message": failure.message, "gate": failure.gate, "location": failure.location, "tests": tests}
            self.event(at, "attempt_overruled", issue_id, number=number, outcome=failure.kind, **told)

    def attempt_accepted(self, at: float, issue_id: str, number: int, note: str) -> None:
        with self._db.transaction() as connection:
            connection.execute(query("accept"), (note, issue_id, number))
            self._last_failure(issue_id, None)
            self.recount(issue_id)
            self.event(at, "attempt_accepted", issue_id, number=number, why=note)

    def attempt_excused(self, at: float, issue_id: str, number: int, failure: Failure) -> None:
        """Record that something other than the worker is to blame for an attempt's failure, as it turned out."""
        with self._db.transaction() as connection:
            connection.execute(
                "UPDATE attempts SET charged = 0, failure = ? WHERE issue_id = ? AND number = ?",
                (dumps(failure), issue_id, number),
            )
            self.recount(issue_id)
            self.event(at, "attempt_excused", issue_id, number=number, outcome=failure.kind)

    def _last_failure(self, issue_id: str, failure: Failure | None) -> None:
        kind, message = (failure.kind, failure.message) if failure is not None else (None, None)
        with self._db.transaction() as connection:
            _set(connection, issue_id, last_kind=kind, last_message=message)

    def recount(self, issue_id: str) -> None:
        with self._db.transaction() as connection:
            connection.execute(query("recount"), (issue_id,))

    def action(self, at: float, issue_id: str, number: int | None, action: Action) -> None:
        with self._db.transaction() as connection:
            connection.execute(
                "UPDATE attempts SET action = ? WHERE issue_id = ? AND number = ?",
                (dumps({"kind": action.name, "reason": action.reason}), issue_id, number),
            )
            self.event(at, "action", issue_id, number=number, action=action.name, reason=action.reason)

    def gate_recorded(self, at: float, key: str, result: GateResult, tests: "Inventory | None" = None) -> None:
        packed = zlib.compress(dumps(tests).encode()) if tests is not None else None
        with self._db.transaction() as connection:
            insert(connection, "gate_memo", "REPLACE", **_memo(key, result, at), tests=packed)

    def unsteady(
        self, at: float, issue_id: str, gate: str, tests: tuple[str, ...], known: "Mapping[str, Known]"
    ) -> None:
        with self._db.transaction():
            self.fact(UNSTEADY, dumps({command: list(tests.values()) for command, tests in known.items() if tests}))
            if tests:
                self.event(at, "unsteady", issue_id or None, gate=gate, tests=list(tests))

    def wait(self, breaker: Breaker) -> None:
        """Let every issue wait for a model's provider until it answers; a wait that has become long is told."""
        with self._db.transaction() as connection:
            known = connection.execute("SELECT until - since FROM waits WHERE model = ?", (breaker.model,)).fetchone()
            insert(connection, "waits", "REPLACE", **encode(breaker))
            if breaker.until - breaker.since >= _LONG_S > (known[0] if known else 0.0):
                about = {"model": breaker.model, "until": breaker.until, "text": breaker.reason}
                self.event(breaker.since, "provider_away", None, **about)

    def wait_over(self, model: str) -> None:
        with self._db.transaction() as connection:
            connection.execute("DELETE FROM waits WHERE model = ?", (model,))

    def depends(self, at: float, issue_id: str, needs: tuple[str, ...]) -> None:
        with self._db.transaction() as connection:
            _set(connection, issue_id, needs=dumps(needs))
            self.event(at, "dependency_found", issue_id, needs=needs)

    def landing_intents(
        self,
        at: float,
        attempts: tuple[tuple[str, int], ...],
        *,
        old: str,
        new: str,
        tree: str,
        gates: tuple[str, ...],
        results: tuple[GateResult, ...] = (),
    ) -> tuple[int, ...]:
        """Record that main is about to move from `old` to `new` with these attempts of issues; return a row's id each.

        `results` are those of the gates by the keys `gates`: what proves a landing is there whenever the landing is.
        """
        with self._db.transaction() as connection:
            facts = {"old": old, "new": new, "tree": tree, "gates": dumps(gates), "state": "intent", "at": at}
            landings = tuple(
                insert(connection, "landings", issue_id=issue_id, number=number, **facts)
                for issue_id, number in attempts
            )
            remember_results(connection, gates, results, at)
            return landings

    def landing_dropped(self, landing_id: int) -> None:
        with self._db.transaction() as connection:
            self._move_landing(connection, landing_id, "dropped")

    def _move_landing(self, connection: sqlite3.Connection, landing_id: int, state: str) -> None:
        row = connection.execute("SELECT issue_id, state FROM landings WHERE id = ?", (landing_id,)).fetchone()
        if row is not None:
            self.step("landing", row[0], row[1], state)
            update(connection, "landings", {"state": state}, "id = ?", landing_id)

    def landed(
        self,
        at: float,
        landing_id: int,
        issue_id: str,
        commit: str,
        flaky: tuple[str, ...] = (),
        *,
        unfinished: bool = False,
        changed_tests: bool = False,
    ) -> None:
        """Record that main holds the issue; `flaky` are the gates whose part of the proof took another run.

        `unfinished`: its worker did not finish; `changed_tests`: main's tests contradict it, and its issue asks for
        that.
        """
        with self._db.transaction() as connection:
            self._move_landing(connection, landing_id, "landed")
            more = ", with main's tests changed" if changed_tests else ""
            more += ", though its worker did not finish" if unfinished else ""
            self.merged(
                at, issue_id, commit, f"{more}; passed only when run again: {', '.join(flaky)}" if flaky else more
            )

    def merged(self, at: float, issue_id: str, commit: str, more: str = "") -> None:
        with self._db.transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO issues (id, present) VALUES (?, 0)", (issue_id,))
            _set(connection, issue_id, merged_commit=commit, block=None)
            self.status(at, issue_id, IssueStatus.MERGED, f"merged as {commit[:12]}{more}")


def remember_results(
    connection: sqlite3.Connection, keys: tuple[str, ...], results: tuple[GateResult, ...], at: float
) -> None:
    for key, result in zip(keys, results, strict=False):
        insert(connection, "gate_memo", "INSERT OR IGNORE", **_memo(key, result, at))


def _set(connection: sqlite3.Connection, issue_id: str, **columns: object) -> None:
    update(connection, "issues", columns, "id = ?", issue_id)


def _kept(order: AttemptOrder) -> AttemptOrder:
    """Return what is kept of an order: its variables may be secrets, and its prompt lies with the attempt."""
    session = replace(order.session, prompt="") if order.session is not None else None
    return replace(order, prompt="", session=session, model=replace(order.model, env=()))


def _memo(key: str, result: GateResult, at: float) -> dict[str, object]:
    return {"key": key, "tree": result.tree, "gate": result.gate.name, "result": dumps(result), "at": at}
