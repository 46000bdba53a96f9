"""`noface show ID`: the story of an issue, with the rule and the lines that decided each attempt."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import typer

from noface.errors import UsageError

_LAST_LINES = 8


def show(
    issue_id: str = typer.Argument(..., metavar="ID", help="The issue."),
    report: bool = typer.Option(False, "--report", help="The report of an issue that noface gave up, as JSON."),
    as_json: bool = typer.Option(False, "--json", help="The issue and its attempts as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration, where it is not noface.toml."),
) -> None:
    """Tell the story of an issue: its attempts, why each failed, and what was done about it."""
    import time

    from noface.cli.look import look
    from noface.views import page
    from noface.views.issues import find_issue
    from noface.views.logs import last_lines
    from noface.views.show import asked_rows, decided_rows, show_document, story_page

    found = look(config)
    reader, rows = found.reader, found.database.rows
    row = find_issue(reader, issue_id)
    if report:
        page.show_json(_abort_report(row))
        return
    attempts = reader.attempts(row["id"])
    asked, decided = asked_rows(rows, row["id"]), decided_rows(rows, row["id"])
    document = show_document(row, attempts, reader.issues(), asked, decided)
    if as_json:
        page.show_json(document)
        return
    newest = attempts[-1] if attempts else None
    last = last_lines(Path(newest["directory"]), newest["model"], _LAST_LINES) if newest is not None else ()
    page.show(story_page(document, last, time.time(), page.width()))


def _abort_report(row: sqlite3.Row) -> dict[str, Any]:
    """Return the report that was made when noface gave the issue up (K6)."""
    block = json.loads(row["block"]) if row["block"] else {}
    found = block.get("report")
    if not isinstance(found, dict):
        raise UsageError(
            f"issue {row['id']} is {row['status']}: there is no report, since noface has not given it up",
            f"What became of it: noface show {row['id']}",
        )
    return found
