"""`noface unblock ID...`: give issues back to the loop after a person has helped."""

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.cli.look import Look

_OPENABLE = ("blocked", "skipped", "approval")


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("unblock")(unblock)


def unblock(
    issue_ids: list[str] = typer.Argument(None, metavar="ID...", help="The issues."),
    note: str = typer.Option("", "--note", "-n", help="What the next worker should know; it goes into its prompt."),
    everything: bool = typer.Option(False, "--all", help="All blocked issues."),
    as_json: bool = typer.Option(False, "--json", help="The issues given back, as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration, where it is not noface.toml."),
) -> None:
    """Let blocked or skipped issues go on; their counters start again."""
    from noface.cli.look import look
    from noface.views import page

    if bool(issue_ids) == everything:
        raise UsageError("name the issues to unblock, or say --all", "What is blocked: noface blocked")
    found = look(config)
    wanted = list(issue_ids or ())
    if everything:
        wanted = [row["id"] for row in found.reader.issues() if row["status"] == "blocked" and row["present"]]
    given = give_back(found, wanted, _refusal, note, "unblocked by a person")
    if as_json:
        page.show_json({"unblock": given})
        return
    page.show(given_lines(given) if given else ["Nothing is blocked."])


def give_back(
    found: "Look", wanted: Sequence[str], refusal: Callable[[sqlite3.Row], UsageError | None], note: str, why: str
) -> list[dict[str, str]]:
    """Give all the named issues back to the loop, or none of them; return what they are now.

    Raises UsageError where nothing has been run yet, an id is unknown, an issue's file is gone, or `refusal` finds
    a reason. A noface that is running takes them up with its next tick.
    """
    import time

    from noface.views.find import find_issue

    if not found.exists:
        raise UsageError("nothing has been run yet, so there is nothing to give back", "Begin with: noface run")
    given: dict[str, dict[str, str]] = {}
    with found.database.transaction():
        for name in wanted:
            row = find_issue(found.reader, name)
            problem = refusal(row) or _gone(row)
            if problem is not None:
                raise problem
            found.journal.unblocked(time.time(), row["id"], note.strip(), why)
            given[row["id"]] = {"id": row["id"], "title": row["title"], "status": "ready"}
    return list(given.values())


def given_lines(given: Sequence[dict[str, str]]) -> list[str]:
    """Return what a person reads after giving issues back."""
    from noface.views.page import width
    from noface.views.text import hanging

    lines = [line for issue in given for line in hanging(f"{issue['title']}: ready", width(), f"{issue['id']}  ")]
    return [*lines, "The counters start again. Next: noface run"]


def _refusal(row: sqlite3.Row) -> UsageError | None:
    status = row["status"]
    if status in _OPENABLE:
        return None
    hints = {
        "merged": f"It has landed. For more work on it, add another issue; see: noface show {row['id']}",
        "running": "A worker is on it. If no noface runs any more: noface run",
        "landing": f"What is in its way: noface show {row['id']}",
    }
    hint = hints.get(status, f"It is tried by itself; to let its counters start again: noface retry {row['id']}")
    return UsageError(f"issue {row['id']} is {status}, not blocked", hint)


def _gone(row: sqlite3.Row) -> UsageError | None:
    if row["present"]:
        return None
    return UsageError(
        f"issue {row['id']} is not in the backlog any more: its file is gone or faulty",
        f"Put {row['source'] or 'its file'} back, or see what is faulty: noface issues",
    )
