"""`noface issues`: the backlog as the tracker sees it, in the order it would be worked."""

from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("issues")(issues)


def issues(
    as_json: bool = typer.Option(False, "--json", help="The backlog as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration, where it is not noface.toml."),
) -> None:
    """List the backlog in the order it would be worked, with what is wrong in it."""
    from noface.cli.look import look, merged_ids
    from noface.views import page
    from noface.views.backlog import backlog_document, backlog_page
    from noface.views.rows import issue_records

    found = look(config)
    backlog = found.tracker.backlog(merged_ids(found.reader))
    document = backlog_document(backlog, {each["id"]: each["status"] for each in issue_records(found.reader.issues())})
    if as_json:
        page.show_json(document)
    else:
        page.show(backlog_page(document, page.width()))
