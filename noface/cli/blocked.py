"""`noface blocked`: what needs a person, why, and what they can do."""

from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("blocked")(blocked)


def blocked(
    as_json: bool = typer.Option(False, "--json", help="The blocked issues as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration, where it is not noface.toml."),
) -> None:
    """Show the issues that need you, with what was tried and what to do next."""
    from noface.views import glance, page
    from noface.views.rows import blocked_records

    rows = glance.unchanged(Path.cwd(), config)
    if rows is None:
        from noface.cli.look import look

        rows = look(config).database.rows
    records = blocked_records(glance.blocked_rows(rows))
    if as_json:
        page.show_json({"blocked": records})
        return
    from noface.views.blocks import blocked_page

    page.show(blocked_page(records, page.width()))
