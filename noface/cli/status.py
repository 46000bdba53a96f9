"""`noface status`: where every issue stands, and what needs a person."""

from pathlib import Path

import typer


def status(
    everything: bool = typer.Option(False, "--all", help="Show every issue, however many are ready or merged."),
    as_json: bool = typer.Option(False, "--json", help="The whole status as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration, where it is not noface.toml."),
) -> None:
    """Show where every issue stands."""
    import gc
    import time

    gc.disable()  # the process is over before collecting could pay

    from noface.views import glance, page
    from noface.views.status import run_record, status_document

    rows = glance.unchanged(Path.cwd(), config)
    if rows is None:
        from noface.cli.look import look

        rows = look(config).database.rows
    run = glance.last_run(rows)
    alive = run is not None and run["ended_at"] is None and glance.alive(run["pid"])
    gaps = glance.gaps(rows, run["id"]) if run is not None else []
    document = status_document(glance.issue_rows(rows), glance.faults(rows), run_record(run, alive=alive), gaps)
    if as_json:
        page.show_json(document)
        return
    from noface.views.status import status_page

    now = time.time()
    waits = [dict(row) for row in glance.model_waits(rows, now)]
    page.show(status_page(document, waits, now, page.width(), everything=everything))
