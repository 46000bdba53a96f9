"""`noface tools demo`: makes a small project with real bugs, runs noface on it with a scripted worker, and sums up."""

import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from noface.store.reader import Reader
    from noface.store.records import AttemptRow, IssueRow

_WIDTH = 80
_LOG_LINES = 14


def demo(
    directory: Path | None = typer.Argument(None, help="An empty or new folder; without it, a temporary one."),
    seed: int | None = typer.Option(None, "--seed", help="Draw other bugs from the catalogue."),
    json: bool = typer.Option(False, "--json", help="One event a line, as JSON."),
) -> None:
    """Show noface at work on a small sample project.

    The worker is scripted: no key, no network.
    """
    from noface.cli.run_session import run_project
    from noface.cli.wiring import RunOptions
    from noface.errors import EXIT_ATTENTION, EXIT_DONE

    repository, issue_count = _make_sample(directory, seed)
    if not json:
        _introduce(repository, issue_count)
    code = run_project(repository, None, RunOptions(), as_json=json)
    if not json:
        _sum_up(repository)
    # An issue of the demonstration is meant to end blocked, so that "needs a person" is its success.
    raise typer.Exit(EXIT_DONE if code == EXIT_ATTENTION else code)


def _make_sample(directory: Path | None, seed: int | None) -> tuple[Path, int]:
    """Return the folder of the new project, and how many issues it has."""
    from noface.demo.sample import build
    from noface.errors import NofaceError, UsageError

    target = directory or Path(tempfile.mkdtemp(prefix="noface-demo-")) / "oddments"
    try:
        sample = build(target.absolute(), seed, sys.executable)
    except ValueError as error:
        raise UsageError(str(error), "For example: noface tools demo /tmp/oddments") from error
    except RuntimeError as error:
        raise NofaceError(f"the sample project could not be made: {error}") from error
    return sample.directory, len(sample.issues)


def _introduce(repository: Path, issue_count: int) -> None:
    typer.echo(f"A small library with {issue_count} reported bugs stands in {repository}")
    typer.echo("Its tests are green; each issue brings the failing test that reproduces its bug.")
    typer.echo("The worker is a scripted stand-in, no language model: it plays back edits, not")
    typer.echo("all of them right. What noface does with it, it would do with Claude Code.\n")


def _sum_up(repository: Path) -> None:
    from noface.git.locate import locate
    from noface.store.database import Database
    from noface.store.reader import Reader

    database = Database.open(locate(repository).state_dir / "state.db")
    try:
        for line in _story(Reader(database)):
            typer.echo(line)
    finally:
        database.close()
    typer.echo("\nmain in git:")
    log = ("log", "--first-parent", f"-{_LOG_LINES}", "--format=  %h %s", "main")
    done = subprocess.run(["git", *log], cwd=repository, capture_output=True, text=True, check=False)
    typer.echo(done.stdout.rstrip())
    command = "noface" if shutil.which("noface") else str(Path(sys.argv[0]).absolute())
    typer.echo(f"\nLook around:\n  cd {repository}")
    for words in ("status", "blocked", "show ID"):
        typer.echo(f"  {command} {words}")


_Tell = Callable[["IssueRow", "list[AttemptRow]"], str | None]
"""What is told of an issue that showed something, None of one that did not."""


def _story(reader: "Reader") -> Iterator[str]:
    """Yield a line for each thing worth seeing, with the issue that showed it; nothing knows which bugs were drawn."""
    tales: tuple[tuple[str, _Tell], ...] = (
        ("merged at the first attempt", lambda row, tries: row.title if _merged(row) and len(tries) == 1 else None),
        ("merged after feedback, same model", _after_feedback),
        ("merged after moving up to the stronger model", _after_escalation),
        (
            "waited for the issue it depends on",
            lambda row, _: (
                f"{row.title}: after {', '.join(row.depends_on)}" if row.depends_on and _merged(row) else None
            ),
        ),
        ("a wrong change that a red gate kept off main", _kept_out),
        (
            "ended blocked, with the reason",
            lambda row, _: f"{row.title}: {row.block.summary}" if row.status == "blocked" and row.block else None,
        ),
    )
    yield "\nWhat you have just seen:"
    stories = [(row, reader.attempts(row.id)) for row in reader.issues() if row.present]
    for what, tell in tales:
        yield from _first(what, [(row, text) for row, tries in stories if (text := tell(row, tries)) is not None])


def _first(what: str, matches: "list[tuple[IssueRow, str]]") -> Iterator[str]:
    from noface.ui.narrate import printable

    if not matches:
        yield f"  (none this time: {what})"
        return
    row, text = matches[0]
    yield f"  {what}{f' (and {len(matches) - 1} more)' if len(matches) > 1 else ''}"
    indent = " " * 6
    yield from textwrap.wrap(f"{row.id}: {printable(text)}", _WIDTH, initial_indent=indent, subsequent_indent=indent)


def _merged(row: "IssueRow") -> bool:
    return row.status == "merged"


def _after_feedback(row: "IssueRow", attempts: "list[AttemptRow]") -> str | None:
    if not _merged(row) or len(attempts) < 2 or attempts[-1].tier > attempts[0].tier:  # noqa: PLR2004 - a retry
        return None
    return f"{row.title}: attempt 1 ended {attempts[0].outcome}, attempt {len(attempts)} passed"


def _after_escalation(row: "IssueRow", attempts: "list[AttemptRow]") -> str | None:
    if not _merged(row) or attempts[-1].tier <= attempts[0].tier:
        return None
    return f"{row.title}: {attempts[-1].model} did it in attempt {len(attempts)}"


def _kept_out(_row: "IssueRow", attempts: "list[AttemptRow]") -> str | None:
    for attempt in attempts:
        failure = attempt.failure
        if failure is not None and failure.gate and not failure.gate.startswith("accept"):
            return f"attempt {attempt.number}: {failure.message}"
    return None
