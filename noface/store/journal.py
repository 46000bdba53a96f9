"""Writes what happens: each method is one transaction that appends an event and moves the rows people look at."""

import json
from collections.abc import Callable
from typing import Any

from noface.core.actions import Action, kind_of
from noface.core.codec import encode
from noface.core.model import AttemptOrder, AttemptReport, Backlog, Failure, GateResult, Issue
from noface.core.taxonomy import IssueStatus
from noface.store.database import Database

Announce = Callable[[str, str | None, dict[str, object]], None]
"""Tells views what happens: kind, issue id, data."""


def dumps(value: object) -> str:
    """Return compact JSON in ASCII: file names that are not UTF-8 survive as escapes."""
    return json.dumps(encode(value), separators=(",", ":"))


class Journal:
    """The one writer of a repository's state. `run_id` marks the events of this process."""

    def __init__(self, database: Database, run_id: str = "", announce: Announce | None = None) -> None:
        self._db = database
        self._run_id = run_id
        self._announce = announce

    def event(self, at: float, kind: str, issue_id: str | None = None, **data: object) -> None:
        """Append an event; inside another method's transaction it becomes part of it."""
        with self._db.transaction() as connection:
            connection.execute(
                "INSERT INTO events (at, run_id, kind, issue_id, data) VALUES (?, ?, ?, ?, ?)",
                (at, self._run_id, kind, issue_id, dumps(data)),
            )
        if self._announce is not None:
            self._announce(kind, issue_id, data)

    def run_started(self, at: float, pid: int) -> None:
        """Record that this run began; runs that never ended are marked as cut off."""
        with self._db.transaction() as connection:
            connection.execute(
                "UPDATE runs SET ended_at = ?, ended_why = 'cut off' WHERE ended_at IS NULL AND id != ?",
                (at, self._run_id),
            )
            connection.execute("INSERT INTO runs (id, pid, started_at) VALUES (?, ?, ?)", (self._run_id, pid, at))
            self.event(at, "run_started", pid=pid)

    def run_ended(self, at: float, exit_code: int, why: str) -> None:
        """Record how this run ended."""
        with self._db.transaction() as connection:
            connection.execute(
                "UPDATE runs SET ended_at = ?, exit_code = ?, ended_why = ? WHERE id = ?",
                (at, exit_code, why, self._run_id),
            )
            self.event(at, "run_ended", exit_code=exit_code, why=why)

    def sync_backlog(self, backlog: Backlog, fingerprint: str) -> None:
        """Bring the issue rows up to the tracker's state; rows of vanished issues stay, marked as gone."""
        with self._db.transaction() as connection:
            connection.execute("UPDATE issues SET present = 0 WHERE present = 1")
            connection.executemany(
                "INSERT INTO issues (id, position, title, priority, source, content_hash, depends_on)"
                " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET present = 1,"
                " position = excluded.position, title = excluded.title, priority = excluded.priority,"
                " source = excluded.source, content_hash = excluded.content_hash, depends_on = excluded.depends_on",
                [_issue_row(position, issue) for position, issue in enumerate(backlog.issues)],
            )
            for name, value in (("faults", backlog.faults), ("warnings", backlog.warnings)):
                self.fact(name, dumps(value))
            self.fact("fingerprint", fingerprint)

    def fact(self, name: str, value: str) -> None:
        """Remember a small fact."""
        with self._db.transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", (name, value))

    def status(self, at: float, issue_id: str, status: IssueStatus, reason: str, until: float | None = None) -> None:
        """Move an issue to another status, with the reason a person reads."""
        with self._db.transaction() as connection:
            connection.execute(
                "UPDATE issues SET status = ?, reason = ?, until = ? WHERE id = ?", (status, reason, until, issue_id)
            )
            self.event(at, f"issue_{status}", issue_id, reason=reason, until=until)

    def blocked(self, at: float, issue_id: str, reason: str, block: dict[str, Any]) -> None:
        """Block an issue; `block` is what `noface blocked` shows (N13)."""
        with self._db.transaction() as connection:
            connection.execute(
                "UPDATE issues SET block = ?, blocked_hash = content_hash WHERE id = ?", (dumps(block), issue_id)
            )
            self.status(at, issue_id, IssueStatus.BLOCKED, reason)

    def unblocked(self, at: float, issue_id: str, note: str, why: str) -> None:
        """Give an issue back to the loop: the counters start again, the note goes into the next prompt (N14)."""
        with self._db.transaction() as connection:
            connection.execute(
                "UPDATE issues SET epoch = epoch + 1, attempts = 0, block = NULL, blocked_hash = '',"
                " note = CASE WHEN ? = '' THEN note ELSE ? END WHERE id = ?",
                (note, note, issue_id),
            )
            self.status(at, issue_id, IssueStatus.READY, why)

    def attempt_started(self, at: float, order: AttemptOrder, *, epoch: int, prompt_hash: str, branch: str) -> None:
        """Record the intent to run a worker, before anything is done for it."""
        with self._db.transaction() as connection:
            connection.execute(
                "INSERT INTO attempts (token, issue_id, number, epoch, run_id, model, tier, slot, main, start,"
                " directory, prompt_hash, started_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    order.token,
                    order.issue.id,
                    order.number,
                    epoch,
                    self._run_id,
                    order.model.name,
                    order.model.tier,
                    order.slot,
                    order.main,
                    order.start,
                    order.directory,
                    prompt_hash,
                    at,
                ),
            )
            connection.execute(
                "UPDATE issues SET model = ?, branch = ? WHERE id = ?", (order.model.name, branch, order.issue.id)
            )
            self.status(at, order.issue.id, IssueStatus.RUNNING, f"attempt {order.number} with {order.model.name}")

    def attempt_finished(self, at: float, report: AttemptReport, *, charged: bool, notes: tuple[str, ...]) -> None:
        """Record what came of an attempt. A token that is no longer open is stored nowhere: it was fenced."""
        failure = report.failure
        usage = report.agent.usage if report.agent is not None else None
        snapshot = report.snapshot
        passed = sum(result.passed for result in report.gates)
        failing = {test for result in report.gates for test in result.failing_tests}
        with self._db.transaction() as connection:
            connection.execute(
                "UPDATE attempts SET finished_at = ?, outcome = ?, charged = ?, commit_id = ?, candidate = ?,"
                " patch_hash = ?, signature = ?, gates_passed = ?, failing_tests = ?, cost_usd = ?, tokens_in = ?,"
                " tokens_out = ?, failure = ?, gates = ?, notes = ? WHERE token = ? AND outcome IS NULL",
                (
                    at,
                    report.outcome,
                    charged,
                    snapshot.commit if snapshot else None,
                    snapshot.candidate if snapshot else None,
                    report.patch_hash,
                    failure.signature if failure else "",
                    passed,
                    len(failing) if report.gates else None,
                    usage.cost_usd if usage else None,
                    usage.tokens_in if usage else None,
                    usage.tokens_out if usage else None,
                    dumps(failure) if failure else None,
                    dumps([_gate_row(result) for result in report.gates]),
                    dumps(notes),
                    report.token,
                ),
            )
            connection.execute(
                "UPDATE issues SET attempts = attempts + ?, last_kind = ?, last_message = ?,"
                " cost_usd = CASE WHEN ? IS NULL THEN cost_usd ELSE COALESCE(cost_usd, 0) + ? END WHERE id = ?",
                (
                    charged,
                    failure.kind if failure else None,
                    failure.message if failure else None,
                    usage.cost_usd if usage else None,
                    usage.cost_usd if usage else None,
                    report.issue_id,
                ),
            )
            self.event(
                at,
                "attempt_finished",
                report.issue_id,
                number=report.number,
                outcome=report.outcome,
                charged=charged,
                message=failure.message if failure else "",
            )

    def attempt_overruled(self, at: float, issue_id: str, number: int, failure: Failure) -> None:
        """Record that an attempt that passed alone failed on the merge with the present main."""
        with self._db.transaction() as connection:
            connection.execute(
                "UPDATE issues SET last_kind = ?, last_message = ?, attempts = attempts + ? -"
                " (SELECT charged FROM attempts WHERE issue_id = ? AND number = ?) WHERE id = ?",
                (failure.kind, failure.message, failure.charged, issue_id, number, issue_id),
            )
            connection.execute(
                "UPDATE attempts SET outcome = ?, charged = ?, failure = ?, signature = ? WHERE issue_id = ? AND"
                " number = ?",
                (failure.kind, failure.charged, dumps(failure), failure.signature, issue_id, number),
            )
            self.event(at, "attempt_overruled", issue_id, number=number, outcome=failure.kind, message=failure.message)

    def action(self, at: float, issue_id: str, number: int | None, action: Action) -> None:
        """Record a decision with its reason, on the attempt that led to it."""
        with self._db.transaction() as connection:
            connection.execute(
                "UPDATE attempts SET action = ? WHERE issue_id = ? AND number = ?",
                (dumps({"kind": kind_of(action), "reason": action.reason}), issue_id, number),
            )
            self.event(at, "action", issue_id, number=number, action=kind_of(action), reason=action.reason)

    def gate_recorded(self, at: float, key: str, result: GateResult) -> None:
        """Remember a gate's result on a tree."""
        with self._db.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO gate_memo (key, tree, gate, result, at) VALUES (?, ?, ?, ?, ?)",
                (key, result.tree, result.gate.name, dumps(result), at),
            )

    def wait(self, model: str, until: float, failures: int, kind: str, reason: str) -> None:
        """Let every issue wait for a model's provider until `until`."""
        with self._db.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO waits (model, until, failures, kind, reason) VALUES (?, ?, ?, ?, ?)",
                (model, until, failures, kind, reason),
            )

    def landing_intent(
        self, at: float, issue_id: str, number: int, *, old: str, new: str, tree: str, gates: tuple[str, ...]
    ) -> int:
        """Record that main is about to move from `old` to `new`; return the landing's id."""
        with self._db.transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO landings (issue_id, number, old, new, tree, gates, state, at)"
                " VALUES (?, ?, ?, ?, ?, ?, 'intent', ?)",
                (issue_id, number, old, new, tree, dumps(gates), at),
            )
            return int(cursor.lastrowid or 0)

    def landing_dropped(self, landing_id: int) -> None:
        """Record that a landing did not take place."""
        with self._db.transaction() as connection:
            connection.execute("UPDATE landings SET state = 'dropped' WHERE id = ?", (landing_id,))

    def landed(self, at: float, landing_id: int, issue_id: str, commit: str) -> None:
        """Record that main holds the issue."""
        with self._db.transaction() as connection:
            connection.execute("UPDATE landings SET state = 'landed' WHERE id = ?", (landing_id,))
            self.merged(at, issue_id, commit)

    def merged(self, at: float, issue_id: str, commit: str) -> None:
        """Mark an issue as merged; also for what main's history tells after a lost database."""
        with self._db.transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO issues (id, present) VALUES (?, 0)", (issue_id,))
            connection.execute("UPDATE issues SET merged_commit = ?, block = NULL WHERE id = ?", (commit, issue_id))
            self.status(at, issue_id, IssueStatus.MERGED, f"merged as {commit[:12]}")


def _issue_row(position: int, issue: Issue) -> tuple[object, ...]:
    return (
        issue.id,
        position,
        issue.title,
        issue.priority,
        issue.source,
        issue.content_hash,
        dumps(issue.depends_on),
    )


def _gate_row(result: GateResult) -> dict[str, object]:
    return {
        "name": result.gate.name,
        "passed": result.passed,
        "hard": result.gate.hard,
        "seconds": round(result.seconds, 3),
        "kind": result.failure.kind if result.failure else None,
        "memo": result.memo,
    }
