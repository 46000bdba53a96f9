"""`noface approve` and `reject`: what a person decides on work that waits for them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from noface.cli.candidates import proposed_issue
from noface.cli.give_back import sound_note
from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.cli.session import ReadSession
    from noface.model.history import Verdict
    from noface.store.decisions import Case
    from noface.store.questions import Questions


def approve(
    issue_id: str = typer.Argument(
        ..., metavar="ID", help="The issue that waits for your approval.", autocompletion=proposed_issue
    ),
    note: str = typer.Option("", "--note", "-n", help="What the next worker should know, if one is needed."),
    as_json: bool = typer.Option(False, "--json", help="What was approved, as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration file, if it is not noface.toml."),
) -> None:
    """Approve an issue that waits for you. Its work may land, or it may go on as proposed."""
    import time

    from noface.cli.session import open_session
    from noface.model.history import Verdict
    from noface.store import decisions

    said = sound_note(note)
    session = open_session(config)
    with session.database.transaction():
        case = _open_case(session, issue_id, Verdict.APPROVED)
        if case.settled is None:
            decisions.approve(time.time(), session.journal, _questions(session), case, said)
    _show_verdict(case, Verdict.APPROVED, as_json=as_json)


def _open_case(session: "ReadSession", issue_id: str, verdict: "Verdict") -> "Case":
    from noface.store.decisions import open_case
    from noface.ui.issues import find_issue

    return open_case(session.reader, _questions(session), find_issue(session.reader, issue_id), verdict)


def _questions(session: "ReadSession") -> "Questions":
    from noface.store.questions import Questions

    return Questions(session.database, session.journal)


def _show_verdict(case: "Case", verdict: "Verdict", *, as_json: bool) -> None:
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
    import time

    from noface.cli.session import open_session
    from noface.model.history import Verdict
    from noface.store import decisions

    said = sound_note(note)
    if not said:
        raise UsageError(
            "say why with --note: without a reason the next worker would do the same again",
            f'For example: noface reject {issue_id[:80]} --note "Keep the old name as an alias."',
        )
    session = open_session(config)
    with session.database.transaction():
        case = _open_case(session, issue_id, Verdict.REJECTED)
        if case.settled is None:
            decisions.reject(time.time(), session.journal, _questions(session), case, said)
    _show_verdict(case, Verdict.REJECTED, as_json=as_json)
