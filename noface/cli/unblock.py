"""`noface unblock ID...`: give issues back to the loop after a person has helped."""

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.cli.look import Look

NOTE_CHARS_MAX = 10_000
ATTEMPTS_MAX = 50
_OPENABLE = ("blocked", "skipped", "approval")
_GOES_ON_WITHOUT = ("ready", "waiting", "running", "landing")


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("unblock")(unblock)


def unblock(
    issue_ids: list[str] = typer.Argument(None, metavar="ID...", help="The issues."),
    note: str = typer.Option("", "--note", "-n", help="What the next worker should know; it goes into its prompt."),
    model: str | None = typer.Option(None, "--model", "-m", help="Begin with this model of noface.toml."),
    attempts: int | None = typer.Option(None, "--attempts", help=f"Allow so many attempts, 1 to {ATTEMPTS_MAX}."),
    everything: bool = typer.Option(False, "--all", help="All blocked issues."),
    as_json: bool = typer.Option(False, "--json", help="The issues given back, as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration, where it is not noface.toml."),
) -> None:
    """Let blocked or skipped issues go on; their counters start again."""
    from noface.cli.look import look
    from noface.views import page

    if bool(issue_ids) == everything:
        raise UsageError("name the issues to unblock, or say --all", "What is blocked: noface blocked")
    if attempts is not None and not 1 <= attempts <= ATTEMPTS_MAX:
        raise UsageError(f"--attempts takes 1 to {ATTEMPTS_MAX}, not {attempts}", "Nothing was changed.")
    found = look(config)
    if model is not None:
        _require_model(found.location.root, config, model)
    wanted = list(issue_ids or ())
    if everything:
        wanted = [row["id"] for row in found.reader.issues() if row["status"] == "blocked" and row["present"]]
    given = give_back(found, wanted, _refusal, note, "unblocked by a person", model, attempts)
    if as_json:
        page.show_json({"unblock": given})
        return
    page.show(given_lines(given) if given else ["Nothing is blocked."])


def give_back(
    found: "Look",
    wanted: Sequence[str],
    refusal: Callable[[sqlite3.Row], UsageError | None],
    note: str,
    why: str,
    model: str | None = None,
    attempts: int | None = None,
) -> list[dict[str, Any]]:
    """Give all the named issues back to the loop, or none of them; return what they are now.

    `model` and `attempts` hold for them until they are given back again. Raises UsageError where nothing has been run
    yet, an id is unknown, an issue's file is gone, or `refusal` finds a reason. A noface that is running takes them
    up with its next tick.
    """
    import time

    from noface.views.find import find_issue

    if not found.exists:
        raise UsageError("nothing has been run yet, so there is nothing to give back", "Begin with: noface run")
    said = sound_note(note)
    given: dict[str, dict[str, Any]] = {}
    more = {"model": model, "attempts": attempts}
    with found.database.transaction():
        for name in wanted:
            row = find_issue(found.reader, name)
            problem = refusal(row) or gone(row) or _taken_back(found, row)
            if problem is not None:
                raise problem
            found.journal.give_branch(row["id"], given=True)
            found.journal.unblocked(time.time(), row["id"], said, why, model, attempts)
            record = {"id": row["id"], "title": row["title"], "status": "ready"}
            given[row["id"]] = record | {key: value for key, value in more.items() if value is not None}
    return list(given.values())


def given_lines(given: Sequence[dict[str, Any]]) -> list[str]:
    """Return what a person reads after giving issues back."""
    from noface.views.page import width
    from noface.views.text import count, hanging

    lines: list[str] = []
    for issue in given:
        attempts = f"up to {count(issue['attempts'], 'attempt')}" if "attempts" in issue else ""
        more = [f"with {issue['model']}" if "model" in issue else "", attempts]
        state = ", ".join(["ready", *(text for text in more if text)])
        lines += hanging(f"{issue['title']}: {state}", width(), f"{issue['id']}  ")
    return [*lines, "The counters start again. Next: noface run"]


def sound_note(note: str) -> str:
    """Return a note as it can be kept; raise UsageError for one that is too long to be told to a worker."""
    text = note.strip().encode("utf-8", "replace").decode()
    if len(text) > NOTE_CHARS_MAX:
        raise UsageError(
            f"the note has {len(text):,} characters; at most {NOTE_CHARS_MAX:,} are told to a worker",
            "Say the point in the note, and put the rest into the issue's file.",
        )
    return text


def gone(row: sqlite3.Row) -> UsageError | None:
    """Return the refusal for an issue that the backlog no longer holds, None for one that is there."""
    if row["present"]:
        return None
    return UsageError(
        f"issue {row['id']} is not in the backlog any more: its file is gone or faulty",
        f"Put {row['source'] or 'its file'} back, or see what is faulty: noface issues",
    )


def _require_model(root: Path, config: Path | None, model: str) -> None:
    from noface.config.keys import did_you_mean
    from noface.config.load import load

    known = load(root, config).models
    if model not in known:
        raise UsageError(f"noface.toml has no model {model[:80]}; {did_you_mean(model[:80], known)}", _MODELS_HINT)


_MODELS_HINT = "All of them, with the built-in ones: noface config show"


def _refusal(row: sqlite3.Row) -> UsageError | None:
    status = row["status"]
    if status in _OPENABLE:
        return None
    hints = {
        "merged": f"It has landed. For more work on it, add another issue; see: noface show {row['id']}",
        "running": "A worker is on it. If no noface runs any more: noface run",
        "landing": f"What is in its way: noface show {row['id']}",
        "epic": f"Its parts do the work; unblock one of them. Which there are: noface show {row['id']}",
    }
    hint = hints.get(status, f"It is tried by itself; to let its counters start again: noface retry {row['id']}")
    return UsageError(f"issue {row['id']} is {status}, not blocked", hint)


def _taken_back(found: "Look", row: sqlite3.Row) -> UsageError | None:
    """Refuse a part that its parent does without: both would do the same work."""
    parent = found.reader.issue(row["parent"]) if row["parent"] is not None and row["status"] == "skipped" else None
    if parent is None or row["satisfied"]:
        return None
    name = parent["id"]
    if parent["status"] == "merged":
        return UsageError(f"issue {name}, of which {row['id']} was a part, has landed without it", _ADD_ANOTHER)
    if parent["status"] in _GOES_ON_WITHOUT:
        return UsageError(
            f"issue {row['id']} was taken back: issue {name}, of which it was a part, goes on without it",
            f"What becomes of it: noface show {name}",
        )
    return None


_ADD_ANOTHER = 'For what is still missing, add another issue: noface issue add "What should be done"'
