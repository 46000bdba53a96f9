"""`noface approve ID`: a person's yes to what an issue waits for (L10)."""

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from noface.core.history import Verdict
from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.cli.look import Look
    from noface.core.attempt import PastAttempt
    from noface.core.wanted import Wanted


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("approve")(approve)


def approve(
    issue_id: str = typer.Argument(..., metavar="ID", help="The issue that waits for your approval."),
    note: str = typer.Option("", "--note", "-n", help="What the next worker should know, if one is needed."),
    as_json: bool = typer.Option(False, "--json", help="What was approved, as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration, where it is not noface.toml."),
) -> None:
    """Say yes to an issue that waits for your approval: its work may land, or it may go on as it asked."""
    from noface.cli.look import look
    from noface.cli.unblock import sound_note

    said = sound_note(note)
    found = look(config)
    with found.database.transaction():
        case = open_case(found, issue_id, Verdict.APPROVED)
        if case.settled is None:
            _approve(found, case, said)
    show_verdict(case, Verdict.APPROVED, as_json=as_json)


@dataclass(frozen=True, slots=True)
class Case:
    """What a person decides on: the issue's row, the attempt, what is wanted, and which paths it is about.

    `settled` is the status the issue has by now where the same has been said before.
    """

    row: sqlite3.Row
    attempt: "PastAttempt"
    wants: "Wanted"
    paths: tuple[str, ...] = ()
    settled: str | None = None


def open_case(found: "Look", issue_id: str, verdict: Verdict) -> Case:
    """Return what an issue waits for. Raises UsageError where it waits for no approval, or for nothing any more."""
    from noface.cli.unblock import gone
    from noface.core.wanted import Wanted
    from noface.store.questions import Questions
    from noface.views.find import find_issue

    row = find_issue(found.reader, issue_id)
    past = found.reader.past(row["id"])
    if row["status"] != "approval":
        decided = Questions(found.database, found.journal).approvals(row["id"])
        if decided and past and (decided[-1].verdict, decided[-1].attempt) == (verdict, past[-1].number):
            return Case(row, past[-1], Wanted.LANDING, settled=str(row["status"]))
        raise _refusal(row)
    problem = gone(row)
    if problem is not None:
        raise problem
    if not past:
        raise UsageError(f"issue {row['id']} has no attempt to decide on", f"Give it back: noface unblock {row['id']}")
    document = json.loads(row["block"]) if row["block"] else {}
    otherwise = Wanted.LANDING if past[-1].failure is None else Wanted.GOING_ON
    wants = next((each for each in Wanted if each.value == document.get("wants")), otherwise)
    return Case(row, past[-1], wants, tuple(str(path) for path in document.get("paths", ())))


def show_verdict(case: Case, verdict: Verdict, *, as_json: bool) -> None:
    """Tell what was decided, and what follows."""
    from noface.views import page
    from noface.views.text import hanging

    row, status = case.row, case.settled or "ready"
    if as_json:
        name = "approve" if verdict is Verdict.APPROVED else "reject"
        decided: dict[str, Any] = {"id": row["id"], "title": row["title"], "status": status}
        page.show_json({name: {**decided, "attempt": case.attempt.number, "verdict": verdict.value}})
        return
    if case.settled is not None:
        page.show([f"Issue {row['id']} was {verdict.value} already; it is {status} now."])
        return
    lines = hanging(f"{row['title']}: {verdict.value}", page.width(), f"{row['id']}  ")
    if case.paths and verdict is Verdict.APPROVED:
        lines += hanging(f"it may change {', '.join(case.paths)} as well", page.width(), "   ")
    page.show([*lines, "Next: noface run"])


def _approve(found: "Look", case: Case, note: str) -> None:
    import time

    from noface.core.taxonomy import IssueStatus
    from noface.core.wanted import Wanted
    from noface.store.questions import Questions

    now, row = time.time(), case.row
    questions = Questions(found.database, found.journal)
    questions.approve(now, row["id"], case.attempt.number, epoch=row["epoch"], verdict=Verdict.APPROVED, note=note)
    if case.wants is Wanted.PATHS:
        granted = (*json.loads(row["granted_paths"]), *case.paths)
        found.journal.allowed(now, row["id"], tuple(dict.fromkeys(granted)))
    if note and case.wants is not Wanted.LANDING:
        questions.note(row["id"], note)  # another worker follows, and should know
    found.journal.status(now, row["id"], IssueStatus.READY, "approved by a person")


def _refusal(row: sqlite3.Row) -> UsageError:
    name, status = row["id"], str(row["status"])
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
