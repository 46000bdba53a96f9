"""`noface retry ID...`: try issues again from the first rung of the ladder."""

import sqlite3
from pathlib import Path

import typer

from noface.errors import UsageError


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("retry")(retry)


def retry(
    issue_ids: list[str] = typer.Argument(..., metavar="ID...", help="The issues."),
    as_json: bool = typer.Option(False, "--json", help="The issues given back, as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration, where it is not noface.toml."),
) -> None:
    """Try issues again: their attempts are counted from the start, their best work so far is kept."""
    from noface.cli.look import look
    from noface.cli.unblock import give_back, given_lines
    from noface.views import page

    given = give_back(look(config), issue_ids, _refusal, "", "retried by a person")
    if as_json:
        page.show_json({"retry": given})
    else:
        page.show(given_lines(given))


def _refusal(row: sqlite3.Row) -> UsageError | None:
    name, status = row["id"], row["status"]
    refusals = {
        "merged": (f"issue {name} is merged already", "For more work on it, add another issue: noface issue add"),
        "running": (f"issue {name} is running", "Wait for its attempt to end. If no noface runs any more: noface run"),
        "landing": (f"issue {name} has passed and waits to land", f"What is in its way: noface show {name}"),
        "epic": (f"issue {name} was divided; its parts do the work", f"Retry one of them; see: noface show {name}"),
    }
    return UsageError(*refusals[status]) if status in refusals else None
