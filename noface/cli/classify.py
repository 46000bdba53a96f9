"""`noface tools classify`: names the failure of a gate or a worker from its recorded output; also for many at once."""

from functools import partial
from pathlib import Path
from typing import Any

import typer

from noface.cli.verb import grouped
from noface.errors import EXIT_USAGE, UsageError

_LINE_BYTES_MAX = 16 * 1024 * 1024
_BATCH = typer.Option(None, "--batch", metavar="FILE", help="Many cases, one JSON object a line; - is standard input.")
_STDOUT = typer.Option(None, "--stdout", metavar="FILE", help="What it wrote to standard output.")
_STDERR = typer.Option(None, "--stderr", metavar="FILE", help="What it wrote to standard error.")
_EXIT_CODE = typer.Option(None, "--exit-code", metavar="N", help="Its exit code; -N if signal N killed it.")


_KINDS = typer.Option(None, "--batch", metavar="FILE", help='Many cases, each with a "kind": gate or agent.')


def _any(batch: str | None = _KINDS) -> None:
    if batch is None:
        raise UsageError("gate, agent, or --batch FILE is missing", "See: noface tools classify --help")
    _answer_all(batch, None)


def gate(
    stdout: str | None = _STDOUT,
    stderr: str | None = _STDERR,
    exit_code: int | None = _EXIT_CODE,
    command: str = typer.Option("", "--command", help="The gate's command."),
    seconds: float = typer.Option(0.0, "--seconds", help="How long it ran."),
    limit_s: float | None = typer.Option(None, "--limit-s", help="Its time limit in seconds."),
    repo_files: str | None = typer.Option(
        None, "--repo-files", metavar="FILE", help="The project's paths, one a line."
    ),
    report: str | None = typer.Option(None, "--report", metavar="FILE", help="Its JUnit XML or TAP report."),
    batch: str | None = _BATCH,
) -> None:
    """Name the failure of a gate, or PASS."""
    _answer("gate", locals())


def agent(
    agent: str = typer.Option(
        "", "--agent", metavar="NAME", help="As in [models.NAME] agent: claude, codex, gemini, …"
    ),
    stdout: str | None = _STDOUT,
    stderr: str | None = _STDERR,
    exit_code: int | None = _EXIT_CODE,
    edited: bool = typer.Option(False, "--edited", help="The worker changed something."),
    ended_by: str = typer.Option("itself", "--ended-by", help="How it ended: itself, timeout, idle or lost."),
    now: float | None = typer.Option(None, "--now", help="When it ended, in epoch seconds; by default now."),
    zone: str | None = typer.Option(None, "--zone", help="The time zone of its clock; by default the local one."),
    batch: str | None = _BATCH,
) -> None:
    """Name the failure of a worker run, or SUCCESS.

    SUCCESS: it ended well and changed something.
    """
    _answer("agent", locals())


group = partial(
    grouped, "Name the failure of a gate or worker by its output, as JSON.", {"gate": gate, "agent": agent}, _any
)


def _answer(kind: str, options: dict[str, Any]) -> None:
    from noface.cli.cases import judge
    from noface.ui import page

    case = {key: value for key, value in options.items() if key != "batch"}
    if options["batch"] is not None:
        _answer_all(options["batch"], kind)
        return
    if case["exit_code"] is None:
        raise UsageError("--exit-code is missing", "Give the exit code, or many cases at once with --batch FILE.")
    page.show_json(judge(kind, case))


def _answer_all(batch: str, kind: str | None) -> None:
    """Answer each line of a file with a line, in order; a faulty one with its error. Exits with 2 if there was any."""
    import sys
    from contextlib import nullcontext

    from noface.ui import page

    faults = number = 0
    try:
        with nullcontext(sys.stdin.buffer) if batch == "-" else Path(batch).open("rb") as source:
            while raw := source.readline(_LINE_BYTES_MAX):
                number += 1
                if raw.strip():
                    answer = _answer_line(raw, number, kind)
                    faults += "error" in answer
                    page.show_json(answer)
    except (IsADirectoryError, FileNotFoundError) as error:
        raise UsageError(
            f"cannot read {batch}: {error.strerror}", "Give a file with one JSON object a line."
        ) from error
    if faults:
        raise typer.Exit(EXIT_USAGE)


def _answer_line(raw: bytes, number: int, kind: str | None) -> dict[str, Any]:
    import json

    from noface.cli.cases import judge

    try:
        case = json.loads(raw)
    except (ValueError, RecursionError) as error:
        return {"id": None, "line": number, "error": f"line {number} is no JSON: {error}"}
    if not isinstance(case, dict):
        return {"id": None, "line": number, "error": f"line {number} is no JSON object"}
    name = case.get("id")
    try:
        return {"id": name, **judge(kind or str(case.get("kind", "")), case)}
    except UsageError as error:
        return {"id": name, "line": number, "error": f"{error.message}. {error.hint}".strip()}
