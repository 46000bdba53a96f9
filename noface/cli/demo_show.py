"""Runs the demonstration: the sample project, the ordinary run over it, and what came of it."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import typer

from noface.cli.night import run_night
from noface.cli.wiring import RunOptions
from noface.demo.sample import Sample, build
from noface.errors import EXIT_ATTENTION, EXIT_DONE, NofaceError, UsageError
from noface.git.locate import locate
from noface.store.database import Database
from noface.store.reader import Reader
from noface.views.demo_story import lines

_LOG_LINES = 14


def show(directory: Path | None, seed: int | None, *, as_json: bool) -> int:
    """Make the project, run noface over it, tell what happened; return the exit code.

    An issue of the demonstration is meant to end blocked, so that "needs a person" is its success.
    """
    made = _sample(directory, seed)
    if not as_json:
        _introduce(made)
    code = run_night(made.directory, None, RunOptions(), as_json=as_json)
    if not as_json:
        _tell(made)
    return EXIT_DONE if code == EXIT_ATTENTION else code


def _sample(directory: Path | None, seed: int | None) -> Sample:
    target = directory or Path(tempfile.mkdtemp(prefix="noface-demo-")) / "oddments"
    try:
        return build(target.absolute(), seed, sys.executable)
    except ValueError as error:
        raise UsageError(str(error), "For example: noface demo /tmp/oddments") from error
    except RuntimeError as error:
        raise NofaceError(f"the sample project could not be made: {error}") from error


def _introduce(made: Sample) -> None:
    typer.echo(f"A small library with {len(made.issues)} reported bugs stands in {made.directory}")
    typer.echo("Its tests are green; each issue brings the failing test that reproduces its bug.")
    typer.echo("The worker is a search for small edits, no language model: tier1 looks a little,")
    typer.echo("tier2 looks further. noface does with it what it would do with Claude Code.\n")


def _tell(made: Sample) -> None:
    database = Database.open(locate(made.directory).state_dir / "state.db")
    try:
        for line in lines(Reader(database)):
            typer.echo(line)
    finally:
        database.close()
    typer.echo("\nmain, as git tells it:")
    log = ("log", "--first-parent", f"-{_LOG_LINES}", "--format=  %h %s", "main")
    done = subprocess.run(["git", *log], cwd=made.directory, capture_output=True, text=True, check=False)
    typer.echo(done.stdout.rstrip())
    command = "noface" if shutil.which("noface") else str(Path(sys.argv[0]).absolute())
    typer.echo(f"\nLook around:\n  cd {made.directory}")
    for words in ("status", "blocked", "show ID"):
        typer.echo(f"  {command} {words}")
