"""`noface blocked`: what is blocked or waits for approval, why, and what a person can do."""

from pathlib import Path

import typer


def blocked(
    as_json: bool = typer.Option(False, "--json", help="The same as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration file, if it is not noface.toml."),
) -> None:
    """Show the issues that need you, and what you can do.

    Issues that are blocked, wait for your approval, or cannot land.
    """
    from noface.cli.fast_path import overview
    from noface.ui import page
    from noface.ui.blocked import blocked_document, blocked_page

    rows = overview(Path.cwd(), config)
    document = blocked_document(rows.waiting_for_a_person(), rows.held())
    page.show_either(document, blocked_page, as_json=as_json)
