"""`noface tools classify`: names the failure of a gate or a worker from its recorded output; also for many at once."""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from noface.cli.verb import grouped
from noface.errors import EXIT_USAGE, UsageError

if TYPE_CHECKING:
    from noface.diagnosis.scan import ProjectRules
    from noface.model.taxonomy import FailureKind

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


_HEAD_BYTES = _TAIL_BYTES = 16 * 1024 * 1024
_STDERR_TAIL_BYTES = 256 * 1024
_CHUNK_BYTES = 1 << 20
_FILES_MAX = 1_000_000
_ENDINGS = ("itself", "timeout", "idle", "lost")
_NUMBER_MAX = 1e11
_TYPES = {str: "text", float: "a number", int: "a whole number", bool: "true or false", list: "a list or a file"}
_OUTPUT = {"stdout": str, "stderr": str, "exit_code": int}
_KEYS: dict[str, dict[str, type]] = {
    "gate": {**_OUTPUT, "command": str, "seconds": float, "limit_s": float, "repo_files": list, "report": str},
    "agent": {**_OUTPUT, "agent": str, "edited": bool, "ended_by": str, "now": float, "zone": str},
}
"""What a case of a kind may have, and of what type; null is taken for each."""

Case = Mapping[str, Any]


def judge(kind: str, case: Case) -> dict[str, Any]:
    """Return the document of one case of `kind` "gate" or "agent". Raises UsageError for a faulty case."""
    if kind not in _KEYS:
        hint = 'Add "kind", or name it: noface tools classify gate'
        raise UsageError(f'kind is {kind!r}; expected "gate" or "agent"', hint)
    for key, value in case.items():
        if key in ("id", "kind"):
            continue
        if key not in _KEYS[kind]:
            raise UsageError(f"unknown key {key!r}", f"A case of a {kind} may have: {', '.join(_KEYS[kind])}.")
        wanted, got = _KEYS[kind][key], type(value)
        sound = got is wanted or (wanted, got) in ((list, str), (float, int))
        if value is not None and (not sound or (isinstance(value, int | float) and not abs(value) <= _NUMBER_MAX)):
            raise UsageError(f"{key} is {value!r}; expected {_TYPES[wanted]}")
    if "exit_code" not in case:
        raise UsageError("exit_code is missing", "Use null if it never started or noface ended it, -N for a signal N.")
    return _judge_gate(case) if kind == "gate" else _judge_agent(case)


def _judge_gate(case: Case) -> dict[str, Any]:
    from noface.diagnosis.evidence import GateEvidence
    from noface.diagnosis.gate import classify
    from noface.gates.report import read_report

    report, note = read_report(Path(case["report"])) if case.get("report") is not None else (None, "")
    files = case.get("repo_files")
    if isinstance(files, str):
        files = [line for line in _read(case, "repo_files").splitlines() if line]
    evidence = GateEvidence(
        command=case.get("command") or "",
        exit_code=case["exit_code"],
        stdout=_read(case, "stdout"),
        stderr=_read(case, "stderr"),
        seconds=float(case.get("seconds") or 0.0),
        limit_s=case.get("limit_s"),
        repo_files=tuple(each for each in files[:_FILES_MAX] if isinstance(each, str)) if files is not None else None,
        report=report,
    )
    project, problem = _project_rules()
    verdict = classify(evidence, project)
    decided = ("location", "key_line", "failing_tests", "tests_run", "rule", "message", "excerpt", "stack_trace")
    notes = [text for text in (note, problem) if text]
    return {**_class(verdict.kind, "PASS"), **_fields(verdict, *decided), "notes": notes}


@cache
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


def _judge_agent(case: Case) -> dict[str, Any]:
    from dataclasses import replace

    from noface.agents.base import AGENTS
    from noface.agents.json_stream import LineReader, local_clock
    from noface.cli.verb import meant
    from noface.diagnosis.agent import classify
    from noface.model.worker_run import EndedBy

    if not case.get("agent"):
        raise UsageError("agent is missing", "See noface tools classify --help.")
    name = meant(case["agent"], AGENTS, "agent", "agents")
    reader = AGENTS[name].reader()
    if not isinstance(reader, LineReader):
        raise UsageError(f"agent {name} prints nothing that could be classified", "Only its exit code counts.")
    ended_by = case.get("ended_by") or "itself"
    if ended_by not in _ENDINGS:
        raise UsageError(f"ended_by is {ended_by!r}", f"Expected one of {', '.join(_ENDINGS)}.")
    if output := case.get("stdout"):
        if not Path(output).is_file():
            raise UsageError(f"stdout: {output} is no file", "Give the path of the file that holds the output.")
        try:
            with Path(output).open("rb") as file:
                while piece := file.read(_CHUNK_BYTES):
                    reader.feed(piece)
        except OSError as error:
            raise UsageError(f"stdout: cannot read {output}: {error.strerror}") from error
    try:
        clock = local_clock(case.get("now"), case.get("zone") or None)
    except ValueError as error:
        raise UsageError(str(error), "Expected a name such as Europe/Berlin or UTC.") from error
    evidence = reader.evidence(case["exit_code"], _read(case, "stderr", 0, _STDERR_TAIL_BYTES))
    evidence = replace(evidence, changed=bool(case.get("edited")), ended_by=EndedBy(ended_by))
    verdict, usage = classify(evidence, clock), evidence.usage
    counted = usage.tokens_in is not None or usage.tokens_out is not None
    return {
        **_class(verdict.kind, "SUCCESS"),
        "location": None,
        "key_line": verdict.key_line,
        "failing_tests": [],
        **_fields(verdict, "rule", "message", "excerpt", "retry_at", "resource", "questions"),
        "cost_usd": usage.cost_usd,
        "tokens": {"in": usage.tokens_in, "out": usage.tokens_out} if counted else None,
        "session_id": usage.session_id,
        "last_words": evidence.last_words,
    }


def _class(kind: "FailureKind | None", sound: str) -> dict[str, str | None]:
    """Return the first keys of a verdict. Scripts read them: keys are added, none is renamed."""
    return {"class": sound if kind is None else kind.value, "category": None if kind is None else kind.category.value}


def _fields(verdict: object, *names: str) -> dict[str, Any]:
    return {name: getattr(verdict, name) for name in (*names, "signature", "evidence", "also_matched")}


def _read(case: Case, key: str, head: int = _HEAD_BYTES, tail: int = _TAIL_BYTES) -> str:
    from noface.process.files import read_bounded

    name = case.get(key)
    if not name:
        return ""
    try:
        return read_bounded(Path(name), head, tail)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{key}: cannot read {name}: {reason}", "Give the path of a file.") from error
