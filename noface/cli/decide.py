"""`noface approve` and `reject`: what a person decides on work that waits for them."""

from collections.abc import Sequence
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
    issue_ids: list[str] = typer.Argument(
        ..., metavar="ID...", help="The issues that wait for your approval.", autocompletion=proposed_issue
    ),
    note: str = typer.Option("", "--note", "-n", help="What the next worker should know, if one is needed."),
    as_json: bool = typer.Option(False, "--json", help="What was approved, as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration file, if it is not noface.toml."),
) -> None:
    """Approve issues that wait for you: all of these, or none. Their work may land, or go on as proposed."""
    import time

    from noface.cli.session import open_session
    from noface.model.history import Verdict
    from noface.store import decisions

    said = sound_note(note)
    session = open_session(config)
    with session.database.transaction():
        cases = _open_cases(session, issue_ids, Verdict.APPROVED)
        for case in cases:
            if case.settled is None:
                decisions.approve(time.time(), session.journal, _questions(session), case, said)
    _show_verdicts(cases, Verdict.APPROVED, as_json=as_json)


def _open_cases(session: "ReadSession", issue_ids: Sequence[str], verdict: "Verdict") -> "list[Case]":
    from noface.store.decisions import open_case
    from noface.ui.issues import find_issue

    rows = {row.id: row for row in (find_issue(session.reader, name) for name in issue_ids)}
    return [open_case(session.reader, _questions(session), row, verdict) for row in rows.values()]


def _questions(session: "ReadSession") -> "Questions":
    from noface.store.questions import Questions

    return Questions(session.database, session.journal)


def _show_verdicts(cases: "Sequence[Case]", verdict: "Verdict", *, as_json: bool) -> None:
    """Tell what was decided, and what follows; in JSON one issue stands alone, several in a list."""
    from noface.model.actions import ApprovalKind
    from noface.model.history import Verdict
    from noface.ui import page
    from noface.ui.text import hanging

    lines: list[str] = []
    decided: list[dict[str, Any]] = []
    for case in cases:
        row, closed = case.row, case.wants is ApprovalKind.DONE and verdict is Verdict.APPROVED
        status = case.settled or ("skipped" if closed else "ready")
        facts = {"id": row.id, "title": row.title, "status": status}
        decided.append({**facts, "attempt": case.attempt.number, "verdict": verdict.value})
        if case.settled is not None:
            lines.append(f"Issue {row.id} was {verdict.value} already; it is {status} now.")
            continue
        lines += hanging(f"{row.title}: {verdict.value}", page.width(), f"{row.id}  ")
        if case.paths and verdict is Verdict.APPROVED:
            lines += hanging(f"it may change {', '.join(case.paths)} as well", page.width(), "   ")
        lines += ["It is closed as done."] if closed else []
    goes_on = any(case.settled is None and each["status"] == "ready" for case, each in zip(cases, decided, strict=True))
    if as_json:
        name = "approve" if verdict is Verdict.APPROVED else "reject"
        page.show_json({name: decided[0] if len(decided) == 1 else decided})
    else:
        page.show([*lines, *(["Next: noface run"] if goes_on else [])])


def reject(
    issue_ids: list[str] = typer.Argument(
        ..., metavar="ID...", help="The issues that wait for your approval.", autocompletion=proposed_issue
    ),
    note: str = typer.Option(
        "", "--note", "-n", help="Why, and what should be done instead; the next worker reads it."
    ),
    as_json: bool = typer.Option(False, "--json", help="What was rejected, as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration file, if it is not noface.toml."),
) -> None:
    """Reject what issues propose: all of these, or none. A worker goes on with your note."""
    import time

    from noface.cli.session import open_session
    from noface.model.history import Verdict
    from noface.store import decisions

    said = sound_note(note)
    if not said:
        raise UsageError(
            "say why with --note: without a reason the next worker would do the same again",
            f'For example: noface reject {issue_ids[0][:80]} --note "Keep the old name as an alias."',
        )
    session = open_session(config)
    with session.database.transaction():
        cases = _open_cases(session, issue_ids, Verdict.REJECTED)
        for case in cases:
            if case.settled is None:
                decisions.reject(time.time(), session.journal, _questions(session), case, said)
    _show_verdicts(cases, Verdict.REJECTED, as_json=as_json)
