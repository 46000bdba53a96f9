"""`noface approve` and `reject`: what a person decides on work that waits for them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from noface.cli.candidates import proposed_issue
from noface.cli.give_back import gone, sound_note
from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.cli.session import ReadSession
    from noface.model.actions import ApprovalKind
    from noface.model.attempt import PastAttempt
    from noface.model.failure import Failure
    from noface.model.history import Verdict
    from noface.store.records import IssueRow


def approve(
    issue_id: str = typer.Argument(
        ..., metavar="ID", help="The issue that waits for your approval.", autocompletion=proposed_issue
    ),
    note: str = typer.Option("", "--note", "-n", help="What the next worker should know, if one is needed."),
    as_json: bool = typer.Option(False, "--json", help="What was approved, as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration file, if it is not noface.toml."),
) -> None:
    """Approve an issue that waits for you. Its work may land, or it may go on as proposed."""
    from noface.cli.session import open_session
    from noface.model.history import Verdict

    said = sound_note(note)
    session = open_session(config)
    with session.database.transaction():
        case = open_case(session, issue_id, Verdict.APPROVED)
        if case.settled is None:
            _approve(session, case, said)
    show_verdict(case, Verdict.APPROVED, as_json=as_json)


@dataclass(frozen=True, slots=True)
class Case:
    """What a person decides on: the issue's row, the attempt, what is wanted, and which paths it is about.

    `settled` is the status the issue has by now where the same has been said before.
    """

    row: "IssueRow"
    attempt: "PastAttempt"
    wants: "ApprovalKind"
    paths: tuple[str, ...] = ()
    settled: str | None = None


def open_case(session: "ReadSession", issue_id: str, verdict: "Verdict") -> Case:
    """Return what an issue waits for. Raises UsageError where it waits for no approval, or for nothing any more."""
    from noface.model.actions import ApprovalKind
    from noface.store.questions import Questions
    from noface.ui.issues import find_issue

    row = find_issue(session.reader, issue_id)
    past = session.reader.past(row.id)
    if row.status != "approval":
        decided = Questions(session.database, session.journal).approvals(row.id)
        if decided and past and (decided[-1].verdict, decided[-1].attempt) == (verdict, past[-1].number):
            return Case(row, past[-1], ApprovalKind.LANDING, settled=str(row.status))
        raise _no_approval(row)
    problem = gone(row)
    if problem is not None:
        raise problem
    if not past:
        raise UsageError(f"issue {row.id} has no attempt to decide on", f"Unblock it: noface unblock {row.id}")
    document = row.block or {}
    otherwise = ApprovalKind.LANDING if past[-1].failure is None else ApprovalKind.GOING_ON
    wants = next((each for each in ApprovalKind if each.value == document.get("wants")), otherwise)
    return Case(row, past[-1], wants, tuple(str(path) for path in document.get("paths", ())))


def show_verdict(case: Case, verdict: "Verdict", *, as_json: bool) -> None:
    """Tell what was decided, and what follows."""
    from noface.model.actions import ApprovalKind
    from noface.model.history import Verdict
    from noface.ui import page
    from noface.ui.text import hanging

    closed = case.wants is ApprovalKind.DONE and verdict is Verdict.APPROVED
    row, status = case.row, case.settled or ("skipped" if closed else "ready")
    if as_json:
        name = "approve" if verdict is Verdict.APPROVED else "reject"
        decided: dict[str, Any] = {"id": row.id, "title": row.title, "status": status}
        page.show_json({name: {**decided, "attempt": case.attempt.number, "verdict": verdict.value}})
        return
    if case.settled is not None:
        page.show([f"Issue {row.id} was {verdict.value} already; it is {status} now."])
        return
    lines = hanging(f"{row.title}: {verdict.value}", page.width(), f"{row.id}  ")
    if case.paths and verdict is Verdict.APPROVED:
        lines += hanging(f"it may change {', '.join(case.paths)} as well", page.width(), "   ")
    page.show([*lines, "It is closed as done." if closed else "Next: noface run"])


def _approve(session: "ReadSession", case: Case, note: str) -> None:
    import time

    from noface.model.actions import ApprovalKind
    from noface.model.history import Verdict
    from noface.model.taxonomy import IssueStatus
    from noface.store.questions import Questions

    now, row = time.time(), case.row
    questions = Questions(session.database, session.journal)
    questions.approve(now, row.id, case.attempt.number, epoch=row.epoch, verdict=Verdict.APPROVED, note=note)
    if case.wants is ApprovalKind.PATHS:
        granted = (*row.granted_paths, *case.paths)
        session.journal.allowed(now, row.id, tuple(dict.fromkeys(granted)))
    if note and case.wants is not ApprovalKind.LANDING:
        questions.note(row.id, note)  # another worker follows, and should know
    if case.wants is ApprovalKind.DONE:
        reason = "done already, as a person confirmed"
        session.journal.status(now, row.id, IssueStatus.SKIPPED, reason, satisfied=True)
        return
    session.journal.status(now, row.id, IssueStatus.READY, "approved by a person")


def _no_approval(row: "IssueRow") -> UsageError:
    name, status = row.id, str(row.status)
    hints = {
        "blocked": f"It needs more than a yes or no: noface blocked. To let it go on: noface unblock {name}",
        "merged": f"It has landed; see: noface show {name}",
        "running": "A worker is on it; whether it needs you is not known yet. To look: noface status",
        "landing": f"It has passed and needs no approval; what is in its way: noface show {name}",
        "epic": f"Its parts do the work; which there are: noface show {name}",
        "skipped": f"To let it be worked on after all: noface unblock {name}",
    }
    hint = hints.get(status, "It is worked on by itself: noface run")
    return UsageError(f"issue {name} is {status}; it does not wait for approval", hint)


_MESSAGE_CHARS_MAX = 300


def reject(
    issue_id: str = typer.Argument(
        ..., metavar="ID", help="The issue that waits for your approval.", autocompletion=proposed_issue
    ),
    note: str = typer.Option(
        "", "--note", "-n", help="Why, and what should be done instead; the next worker reads it."
    ),
    as_json: bool = typer.Option(False, "--json", help="What was rejected, as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration file, if it is not noface.toml."),
) -> None:
    """Reject what an issue proposes; a worker goes on with your note."""
    from noface.cli.session import open_session
    from noface.model.history import Verdict

    said = sound_note(note)
    if not said:
        raise UsageError(
            "say why with --note: without a reason the next worker would do the same again",
            f'For example: noface reject {issue_id[:80]} --note "Keep the old name as an alias."',
        )
    session = open_session(config)
    with session.database.transaction():
        case = open_case(session, issue_id, Verdict.REJECTED)
        if case.settled is None:
            _reject(session, case, said)
    show_verdict(case, Verdict.REJECTED, as_json=as_json)


def _reject(session: "ReadSession", case: "Case", note: str) -> None:
    import time

    from noface.model.history import Verdict
    from noface.model.taxonomy import PASSED, IssueStatus
    from noface.store.questions import Questions

    now, name, number = time.time(), case.row.id, case.attempt.number
    questions = Questions(session.database, session.journal)
    questions.approve(now, name, number, epoch=case.row.epoch, verdict=Verdict.REJECTED, note=note)
    if case.attempt.outcome == PASSED:
        session.journal.attempt_overruled(now, name, number, _rejection(note))
    questions.note(name, note)
    session.journal.status(now, name, IssueStatus.READY, "rejected by a person")


def _rejection(note: str) -> "Failure":
    """Return the failure of work that a person turned down; another note is another failure, no mere repetition."""
    import hashlib

    from noface.model.failure import Failure
    from noface.model.quoting import short
    from noface.model.taxonomy import FailureKind

    digest = hashlib.sha256(note.encode()).hexdigest()[:12]
    return Failure(
        FailureKind.REVIEW_REJECTED,
        f"rejected by a person: {short(note, _MESSAGE_CHARS_MAX)}",
        rule="person-rejected",
        signature=f"person-rejected:{digest}",
        evidence=(short(note, _MESSAGE_CHARS_MAX),),
        excerpt=note,
    )
