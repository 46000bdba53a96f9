"""`noface blocked`: what is blocked or waits for approval, why, and what a person can do."""

from pathlib import Path

import typer


def blocked(
    as_json: bool = typer.Option(False, "--json", help="The same as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration, where it is not noface.toml."),
) -> None:
    """Show the issues that need you, wait for your approval, or cannot land: what is asked, and what you can do."""
    from noface.views import glance, page
    from noface.views.blocked import blocked_records

    rows = glance.unchanged(Path.cwd(), config)
    if rows is None:
        from noface.cli.look import look

        rows = look(config).database.rows
    records = blocked_records(glance.blocked_rows(rows))
    held = [dict(row) for row in glance.held_rows(rows)]
    if as_json:
        page.show_json({"blocked": records, "held": held})
        return
    from noface.views.blocked import blocked_page

    page.show(blocked_page(records, held, page.width()))
