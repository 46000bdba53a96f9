"""`noface tools classify gate`: names the failure of a gate from its recorded output."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from noface.cli.verb import grouped
from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.diagnosis.scan import ProjectRules

_HEAD_BYTES = _TAIL_BYTES = 16 * 1024 * 1024


def gate(
    stdout: str | None = typer.Option(None, "--stdout", metavar="FILE", help="What it wrote to standard output."),
    stderr: str | None = typer.Option(None, "--stderr", metavar="FILE", help="What it wrote to standard error."),
    exit_code: int = typer.Option(..., "--exit-code", metavar="N", help="Its exit code; -N if signal N killed it."),
    command: str = typer.Option("", "--command", help="The gate's command."),
    seconds: float = typer.Option(0.0, "--seconds", metavar="S", help="How long it ran."),
    limit_s: float | None = typer.Option(None, "--limit-s", metavar="S", help="Its time limit."),
    repo_files: str | None = typer.Option(None, "--repo-files", metavar="FILE", help="A list of the project's files."),
    report: str | None = typer.Option(None, "--report", metavar="FILE", help="Its JUnit XML or TAP report."),
) -> None:
    """Name the failure of a gate, or PASS."""
    from noface.diagnosis.evidence import GateEvidence
    from noface.diagnosis.gate import classify
    from noface.gates.report import read_report
    from noface.ui import page

    read, note = read_report(Path(report)) if report is not None else (None, "")
    output = _read("stdout", stdout), _read("stderr", stderr)
    files = tuple(_read("repo-files", repo_files).splitlines()) if repo_files else None
    evidence = GateEvidence(command, exit_code, *output, seconds, limit_s, repo_files=files, report=read)
    project, problem = _project_rules()
    verdict = classify(evidence, project)
    kind = verdict.kind
    # Scripts read the keys: some are added, none is renamed.
    document: dict[str, Any] = {"class": kind or "PASS", "category": None if kind is None else kind.category}
    decided = ("location", "key_line", "failing_tests", "tests_run", "rule", "message", "excerpt", "stack_trace")
    names = (*decided, "signature", "evidence", "also_matched")
    document |= {name: getattr(verdict, name) for name in names}
    page.show_json({**document, "notes": [text for text in (note, problem) if text]})


group = partial(grouped, "Name the failure of a gate by its output, as JSON.", {"gate": gate})


def _project_rules() -> "tuple[ProjectRules | None, str]":
    """Return the `[[gate_rules]]` of the repository around the current folder, and why they cannot be had.

    Output can be judged anywhere, also if there is no repository and no noface.toml.
    """
    from noface.config.load import find, parse, read
    from noface.gates.run import project_rules
    from noface.git.locate import locate

    try:
        path = find(locate(Path.cwd()).root, None)
    except UsageError:
        return None, ""
    try:
        text = read(path)
        return (project_rules(parse(text, path.name).gate_rules) if "gate_rules" in text else None), ""
    except UsageError as error:
        return None, f"the [[gate_rules]] of {path.name} are not used: {error.message}"


def _read(option: str, name: str | None) -> str:
    from noface.process.files import read_bounded

    if not name:
        return ""
    try:
        return read_bounded(Path(name), _HEAD_BYTES, _TAIL_BYTES)
    except OSError as error:
        raise UsageError(f"--{option}: cannot read {name}: {error.strerror}", "Give the path of a file.") from error
