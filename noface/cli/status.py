"""`noface status`: where every issue stands, and what needs a person."""

from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("status")(status)


def status(
    everything: bool = typer.Option(False, "--all", help="Show every issue, however many are ready or merged."),
    as_json: bool = typer.Option(False, "--json", help="The whole status as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration, where it is not noface.toml."),
) -> None:
    """Show where every issue stands."""
    import time

    from noface.views import glance, page
    from noface.views.rows import run_record, status_document

    database = glance.unchanged(Path.cwd(), config)
    if database is None:
        from noface.cli.look import look

        database = look(config).database
    run = glance.last_run(database)
    alive = run is not None and run["ended_at"] is None and glance.alive(run["pid"])
    document = status_document(glance.issue_rows(database), glance.faults(database), run_record(run, alive=alive))
    if as_json:
        page.show_json(document)
        return
    from noface.views.status import status_page

    now = time.time()
    waits = [dict(row) for row in glance.model_waits(database, now)]
    page.show(status_page(document, waits, now, page.width(), everything=everything))
