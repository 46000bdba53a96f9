"""`noface tools demo`: makes a small project with real bugs, and runs noface on it with a scripted worker."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import typer

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
        typer.echo(f"A small library with {issue_count} reported bugs stands in {repository}")
        typer.echo("Its tests are green; each issue brings the failing test that reproduces its bug.")
        typer.echo("The worker is a scripted stand-in, no language model: it plays back edits, not")
        typer.echo("all of them right. What noface does with it, it would do with Claude Code.\n")
    code = run_project(repository, None, RunOptions(), as_json=json)
    if not json:
        typer.echo("\nmain in git:")
        log = ("log", "--first-parent", f"-{_LOG_LINES}", "--format=  %h %s", "main")
        done = subprocess.run(["git", *log], cwd=repository, capture_output=True, text=True, check=False)
        typer.echo(done.stdout.rstrip())
        command = "noface" if shutil.which("noface") else str(Path(sys.argv[0]).absolute())
        typer.echo(f"\nLook around:\n  cd {repository}")
        for words in ("report", "status", "blocked", "show ID"):
            typer.echo(f"  {command} {words}")
    # An issue of the demonstration is meant to end blocked, so that "needs a person" is its success.
    raise typer.Exit(EXIT_DONE if code == EXIT_ATTENTION else code)


def _make_sample(directory: Path | None, seed: int | None) -> tuple[Path, int]:
    from noface.demo.sample import build
    from noface.errors import NofaceError, UsageError

    target = directory or Path(tempfile.mkdtemp(prefix="noface-demo-")) / "oddments"
    try:
        issues = build(target.absolute(), seed, sys.executable)
    except ValueError as error:
        raise UsageError(str(error), "For example: noface tools demo /tmp/oddments") from error
    except RuntimeError as error:
        raise NofaceError(f"the sample project could not be made: {error}") from error
    return target.absolute(), len(issues)
