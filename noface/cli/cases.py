"""The cases of `noface tools classify`: a JSON object or a command line, read and judged."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.diagnosis.scan import ProjectRules
    from noface.model.taxonomy import FailureKind

_HEAD_BYTES = 16 * 1024 * 1024
_TAIL_BYTES = 16 * 1024 * 1024
_STDERR_TAIL_BYTES = 256 * 1024
_CHUNK_BYTES = 1 << 20
_FILES_MAX = 1_000_000

GATE_KEYS = ("stdout", "stderr", "exit_code", "command", "seconds", "limit_s", "repo_files", "report")
AGENT_KEYS = ("agent", "stdout", "stderr", "exit_code", "edited", "ended_by", "now", "zone")
_ENDINGS = ("itself", "timeout", "idle", "lost")

Case = Mapping[str, Any]


def judge(kind: str, case: Case) -> dict[str, Any]:
    """Return the document of one case of `kind` "gate" or "agent". Raises UsageError for a faulty case."""
    known = {"gate": GATE_KEYS, "agent": AGENT_KEYS}
    if kind not in known:
        raise UsageError(
            f'kind is {kind!r}; expected "gate" or "agent"', 'Add "kind", or name it: noface tools classify gate'
        )
    unknown = [key for key in case if key not in known[kind] and key not in ("id", "kind")]
    if unknown:
        raise UsageError(f"unknown key {unknown[0]!r}", f"A case of a {kind} may have: {', '.join(known[kind])}.")
    return _judge_gate(case) if kind == "gate" else _judge_agent(case)


def _judge_gate(case: Case) -> dict[str, Any]:
    from noface.diagnosis.evidence import GateEvidence
    from noface.diagnosis.gate import classify

    report, note = None, ""
    if case.get("report") is not None:
        from noface.gates.report import read_report

        report, note = read_report(Path(_text(case, "report")))
    evidence = GateEvidence(
        command=_text(case, "command", ""),
        exit_code=_code(case),
        stdout=_read(case, "stdout"),
        stderr=_read(case, "stderr"),
        seconds=_number(case, "seconds") or 0.0,
        limit_s=_number(case, "limit_s"),
        repo_files=_files(case),
        report=report,
    )
    project, problem = _project_rules()
    verdict = classify(evidence, project)
    decided = ("location", "key_line", "failing_tests", "tests_run", "rule", "message", "excerpt", "stack_trace")
    notes = [text for text in (note, problem) if text]
    return {**_class(verdict.kind, "PASS"), **_fields(verdict, *decided, *_EVIDENCE), "notes": notes}


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

    from noface.agents.json_stream import LineReader, local_clock
    from noface.diagnosis.agent import classify
    from noface.model.worker_run import EndedBy

    name = _text(case, "agent")
    reader = _reader(name)
    if not isinstance(reader, LineReader):
        raise UsageError(f"agent {name} prints nothing that could be classified", "Only its exit code counts.")
    _feed(reader, case)
    exit_code, stderr = _code(case), _read(case, "stderr", 0, _STDERR_TAIL_BYTES)
    ended_by = _text(case, "ended_by", "itself")
    if ended_by not in _ENDINGS:
        raise UsageError(f"ended_by is {ended_by!r}", f"Expected one of {', '.join(_ENDINGS)}.")
    edited = case.get("edited", False)
    if not isinstance(edited, bool):
        raise UsageError(f"edited is {edited!r}; expected true or false")
    try:
        clock = local_clock(_number(case, "now"), _text(case, "zone", "") or None)
    except ValueError as error:
        raise UsageError(str(error), "Expected a name such as Europe/Berlin or UTC.") from error
    evidence = reader.evidence(exit_code, stderr)
    evidence = replace(evidence, changed=edited, ended_by=EndedBy(ended_by))
    verdict, usage = classify(evidence, clock), evidence.usage
    counted = usage.tokens_in is not None or usage.tokens_out is not None
    return {
        **_class(verdict.kind, "SUCCESS"),
        "location": None,
        "key_line": verdict.key_line,
        "failing_tests": [],
        **_fields(verdict, "rule", "message", "excerpt", *_EVIDENCE, "retry_at", "resource", "questions"),
        "cost_usd": usage.cost_usd,
        "tokens": {"in": usage.tokens_in, "out": usage.tokens_out} if counted else None,
        "session_id": usage.session_id,
        "last_words": evidence.last_words,
    }


_EVIDENCE = ("signature", "evidence", "also_matched")


def _class(kind: "FailureKind | None", sound: str) -> dict[str, str | None]:
    """Return the first keys of a verdict. Scripts read them: keys are added, none is renamed."""
    return {"class": sound if kind is None else kind.value, "category": None if kind is None else kind.category.value}


def _fields(verdict: object, *names: str) -> dict[str, Any]:
    return {name: getattr(verdict, name) for name in names}


def _reader(name: str) -> Any:
    from noface.agents.base import AGENTS

    if name not in AGENTS:
        from difflib import get_close_matches

        near = get_close_matches(name[:40], AGENTS, n=1)
        meant = f"Did you mean {near[0]}? " if near else ""
        raise UsageError(f"there is no agent {name[:80]!r}", f"{meant}Known: {', '.join(AGENTS)}.")
    return AGENTS[name].reader()


def _feed(reader: Any, case: Case) -> None:
    from noface.ui.logs import chunks

    name = _text(case, "stdout", "")
    if not name:
        return
    path = Path(name)
    if not path.is_file():
        raise UsageError(f"stdout: {name} is no file", "Give the path of the file that holds the output.")
    try:
        for piece in chunks(path, _CHUNK_BYTES):
            reader.feed(piece)
    except OSError as error:
        raise UsageError(f"stdout: cannot read {name}: {error.strerror}") from error


def _read(case: Case, key: str, head: int = _HEAD_BYTES, tail: int = _TAIL_BYTES) -> str:
    from noface.process.files import read_bounded

    name = _text(case, key, "")
    if not name:
        return ""
    try:
        return read_bounded(Path(name), head, tail)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{key}: cannot read {name}: {reason}", "Give the path of a file.") from error


def _files(case: Case) -> tuple[str, ...] | None:
    """Return the project's paths: those of a list, or one a line of the file that is named."""
    given = case.get("repo_files")
    if given is None:
        return None
    if isinstance(given, list):
        return tuple(item for item in given[:_FILES_MAX] if isinstance(item, str))
    return tuple(line for line in _read(case, "repo_files").splitlines()[:_FILES_MAX] if line)


def _text(case: Case, key: str, default: str | None = None) -> str:
    value = case.get(key)
    if value is None:
        value = default
    if value is None:
        raise UsageError(f"{key} is missing", "See noface tools classify --help.")
    if not isinstance(value, str):
        raise UsageError(f"{key} is {value!r}; expected text")
    return value


def _number(case: Case, key: str) -> float | None:
    value = case.get(key)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < float("inf"):
        raise UsageError(f"{key} is {value!r}; expected a number")
    return float(value)


def _code(case: Case) -> int | None:
    if "exit_code" not in case:
        raise UsageError("exit_code is missing", "Use null if it never started or noface ended it.")
    value = case["exit_code"]
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise UsageError(f"exit_code is {value!r}; expected a whole number", "Use -N if signal N killed it.")
    return value
