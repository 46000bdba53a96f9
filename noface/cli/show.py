"""`noface show ID`: the story of an issue, with the rule and the lines that decided each attempt."""

from pathlib import Path

import typer

_LAST_LINES = 8


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("show")(show)


def show(
    issue_id: str = typer.Argument(..., metavar="ID", help="The issue."),
    as_json: bool = typer.Option(False, "--json", help="The issue and its attempts as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration, where it is not noface.toml."),
) -> None:
    """Tell the story of an issue: its attempts, why each failed, and what was done about it."""
    import time

    from noface.cli.look import look
    from noface.views import page
    from noface.views.attempt_files import tail
    from noface.views.find import find_issue
    from noface.views.rows import show_document
    from noface.views.story import story_page

    reader = look(config).reader
    row = find_issue(reader, issue_id)
    attempts = reader.attempts(row["id"])
    document = show_document(row, attempts, {each["id"]: each["status"] for each in reader.issues()})
    if as_json:
        page.show_json(document)
        return
    last = tail(Path(attempts[-1]["directory"]), _LAST_LINES) if attempts else ()
    page.show(story_page(document, last, time.time(), page.width()))
