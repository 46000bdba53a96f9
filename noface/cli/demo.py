"""`noface demo`: make a small real project with bugs, and run noface over it with the built-in worker."""

from pathlib import Path

import typer


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("demo")(demo)


def demo(
    directory: Path | None = typer.Argument(None, help="An empty or new folder; without it, a temporary one."),
    seed: int | None = typer.Option(None, "--seed", help="Draw other bugs from the catalogue."),
    json: bool = typer.Option(False, "--json", help="One event a line, as JSON."),
) -> None:
    """Show noface at work on a small sample project: no key, no network, nothing canned."""
    from noface.cli.demo_show import show

    raise typer.Exit(show(directory, seed, as_json=json))
