"""`noface reject ID --note TEXT`: a person's no to what an issue waits for, with the reason the next worker needs."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.cli.approve import Case
    from noface.cli.look import Look
    from noface.core.failure import Failure

_MESSAGE_CHARS_MAX = 300


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("reject")(reject)


def reject(
    issue_id: str = typer.Argument(..., metavar="ID", help="The issue that waits for your approval."),
    note: str = typer.Option("", "--note", "-n", help="Why, and what should be done instead; the next worker is told."),
    as_json: bool = typer.Option(False, "--json", help="What was rejected, as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration, where it is not noface.toml."),
) -> None:
    """Say no to an issue that waits for your approval; a worker goes on with what you say."""
    from noface.cli.approve import open_case, show_verdict
    from noface.cli.look import look
    from noface.cli.unblock import sound_note
    from noface.core.history import Verdict

    said = sound_note(note)
    if not said:
        raise UsageError(
            "say why with --note: without a reason the next worker would do the same again",
            f'For example: noface reject {issue_id[:80]} --note "Keep the old name as an alias."',
        )
    found = look(config)
    with found.database.transaction():
        case = open_case(found, issue_id, Verdict.REJECTED)
        if case.settled is None:
            _reject(found, case, said)
    show_verdict(case, Verdict.REJECTED, as_json=as_json)


def _reject(found: "Look", case: "Case", note: str) -> None:
    import time

    from noface.core.history import Verdict
    from noface.core.taxonomy import PASSED, IssueStatus
    from noface.store.questions import Questions

    now, name, number = time.time(), case.row["id"], case.attempt.number
    questions = Questions(found.database, found.journal)
    questions.approve(now, name, number, epoch=case.row["epoch"], verdict=Verdict.REJECTED, note=note)
    if case.attempt.outcome == PASSED:
        found.journal.attempt_overruled(now, name, number, _rejection(note))
    questions.note(name, note)
    found.journal.status(now, name, IssueStatus.READY, "rejected by a person")


def _rejection(note: str) -> "Failure":
    """Return the failure of work that a person turned down; another note is another failure, no mere repetition."""
    import hashlib

    from noface.core.excerpts import short
    from noface.core.failure import Failure
    from noface.core.taxonomy import FailureKind

    digest = hashlib.sha256(note.encode()).hexdigest()[:12]
    return Failure(
        FailureKind.REVIEW_REJECTED,
        f"rejected by a person: {short(note, _MESSAGE_CHARS_MAX)}",
        rule="person-rejected",
        signature=f"person-rejected:{digest}",
        evidence=(short(note, _MESSAGE_CHARS_MAX),),
        excerpt=note,
    )
