"""Runs a gate in a checkout and classifies its output."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from noface.diagnosis.evidence import GateEvidence, GateVerdict
from noface.diagnosis.gate import classify
from noface.diagnosis.rules import LineRule
from noface.diagnosis.scan import NoMatch, PatternMatch, ProjectRules
from noface.gates.report import read_report
from noface.model.codec import view
from noface.model.failure import Failure, is_of_project
from noface.model.gate import GateResult, GateSpec
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import EndedBy
from noface.process.command import OnOutput
from noface.process.connections import strangers
from noface.process.files import read_bounded
from noface.process.supervise import Canceller, Command, Exit, Launcher

if TYPE_CHECKING:
    from noface.config.project_sections import GateRule

_RULE_SECONDS_MAX = 1.0
_HEAD_BYTES = 256 * 1024
_TAIL_BYTES = 2 * 1024 * 1024
_EVIDENCE_LINES_MAX = 20
_UNITTEST = re.compile(r"(?P<test>\w+) \((?P<place>[\w.]+)\)")


def log_name(gate: GateSpec) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", gate.name)


def log_names(gate: GateSpec) -> tuple[str, str]:
    name = log_name(gate)
    return f"{name}.out", f"{name}.err"


def run_gate(
    launcher: Launcher,
    gate: GateSpec,
    command: Command,
    cancel: Canceller,
    *,
    tree: str,
    started_at: float,
    list_files: Callable[[], tuple[str, ...]],
    known_failures: frozenset[str] | None = None,
    rules: ProjectRules | None = None,
    on_output: OnOutput | None = None,
) -> GateResult | None:
    """Run one gate by its `command` to its end and return its result, None if it was cancelled.

    `list_files` names the project's files, for a red gate only. `known_failures` are the tests that fail on main, too
    (baseline "only-new"); None: the gate must be green. `rules` are the project's own.
    """
    stdout, stderr, folder = Path(command.stdout), Path(command.stderr), Path(command.cwd)
    ended = launcher.run(command, cancel, on_output)
    if ended.ended_by in (EndedBy.CANCELLED, EndedBy.LOST) and not ended.output_limit:
        return None
    texts = (read_bounded(stdout, _HEAD_BYTES, _TAIL_BYTES), read_bounded(stderr, _HEAD_BYTES, _TAIL_BYTES))
    report, report_note = None, ""
    if gate.report:
        report, report_note = read_report(folder / gate.report, started_at, folder, launcher.masker)
    verdict = classify(
        GateEvidence(
            command=gate.command,
            exit_code=ended.code,
            stdout=texts[0],
            stderr=texts[1] if not ended.error else f"{texts[1]}\n{ended.error}",
            seconds=ended.seconds,
            limit_s=gate.timeout_s,
            timed_out=ended.ended_by is EndedBy.TIMEOUT,
            kind=gate.kind,
            repo_files=list_files() if ended.code != 0 else None,
            report=report,
        ),
        rules,
    )
    failure = _failure(gate, ended, verdict, report_note)
    if met := strangers(ended.met):
        failure = _of_others(gate, met, failure)
    by_names = names_suffice(verdict.kind, verdict.rule, ended.exit_code, verdict.failing_tests)
    failing, expected = ({*map(comparable, names)} for names in (verdict.failing_tests, known_failures or ()))
    return GateResult(
        gate=gate,
        tree=tree,
        exit_code=ended.code if ended.ended_by is EndedBy.ITSELF else ended.exit_code,
        seconds=ended.seconds,
        timed_out=ended.ended_by is EndedBy.TIMEOUT,
        failing_tests=verdict.failing_tests,
        tests_run=verdict.tests_run,
        failure=failure,
        stdout_log=str(stdout),
        cpu_s=ended.cpu_s,
        only_known_failures=failure is not None and by_names and failing <= expected,
    )


def _failure(gate: GateSpec, ended: Exit, verdict: GateVerdict, report_note: str) -> Failure | None:
    if ended.error:
        return Failure(FailureKind.ENVIRONMENT, ended.error, rule="gate-not-started", gate=gate.name, charged=False)
    if ended.output_limit:
        message = f"gate {gate.name} wrote more output than is kept and was ended"
        return Failure(FailureKind.RUNTIME_ERROR, message, rule="gate-output-limit", gate=gate.name)
    evidence = (*verdict.evidence[:_EVIDENCE_LINES_MAX], *((report_note,) if report_note else ()))
    if ended.out_of_memory:
        message, own = f"gate {gate.name} was {ended.memory_text}", ended.out_of_memory == "limit"
        failure = Failure(FailureKind.RUNTIME_ERROR, message, rule="gate-out-of-memory", signature="out-of-memory")
        evidence = (message, *evidence)  # unless it is its own limit, others may have used it up
        return replace(failure, evidence=evidence, excerpt=verdict.excerpt, gate=gate.name, charged=own)
    if verdict.kind is None:
        return None
    ran = ended.at_work if ended.ended_by is EndedBy.TIMEOUT else None
    return view(
        Failure,
        verdict,
        message=f"{verdict.message}: {ran.described(ended.seconds)}" if ran is not None else verdict.message,
        evidence=evidence,
        gate=gate.name,
        charged=verdict.kind is not FailureKind.ENVIRONMENT,
    )


OTHERS_SERVER = "others-server"
"""The rule of a gate that has connected to a server which was there before it: whatever it says is worthless."""


def _of_others(gate: GateSpec, met: dict[str, str], failure: Failure | None) -> Failure:
    those = " and ".join(f"{name}{f' ({whose})' if whose else ''}" for name, whose in met.items())
    named = ", ".join(f'"{name}"' for name in met)
    return Failure(
        FailureKind.ENVIRONMENT,
        f"it connected to {those}, a server that is not its own and may have another state of the project: what it says"
        f" counts for nothing. End that server; if the gate is meant to use it, write [sandbox] services = [{named}]",
        rule=OTHERS_SERVER,
        signature=f"{OTHERS_SERVER}:{','.join(met)}",
        evidence=(f"it said: {failure.message}",) if failure is not None else (),
        gate=gate.name,
        charged=False,
    )


def names_suffice(kind: FailureKind | None, rule: str, exit_code: int | None, failing: tuple[str, ...]) -> bool:
    """True if the names of its failing tests describe a red gate: every test ran, and these failed."""
    if is_of_project(rule):
        return False
    ran = kind is FailureKind.TEST_FAILURE or (kind is FailureKind.RUNTIME_ERROR and exit_code == 1)
    return ran and bool(failing)


def comparable(name: str) -> str:
    """Return a test's name in one form: that of a report, `a.test_b.T.test_c`, for `a/test_b.py::T::test_c`."""
    unittest = _UNITTEST.fullmatch(name)
    if unittest:
        test, place = unittest["test"], unittest["place"]
        return place if place.endswith(f".{test}") else f"{place}.{test}"
    place, bracket, parameters = name.partition("[")
    path, separator, inner = place.partition("::")
    if not separator:
        return name
    return f"{path.removesuffix('.py').replace('/', '.')}.{inner.replace('::', '.')}{bracket}{parameters}"


def project_rules(entries: "Sequence[GateRule]") -> ProjectRules | None:
    rules = (
        LineRule(each.name, FailureKind(each.kind), (), each.pattern, each.example, even_in_tests=each.even_in_tests)
        for each in entries
    )
    return ProjectRules(tuple(rules), search) if entries else None


def search(pattern: str, text: str) -> PatternMatch | NoMatch:
    """Return the first match; `^` and `$` mean the ends of a line."""
    import regex

    try:
        match = regex.search(pattern, text, flags=regex.MULTILINE, timeout=_RULE_SECONDS_MAX)
    except TimeoutError:
        return NoMatch.TOO_SLOW
    if match is None:
        return NoMatch.ABSENT
    groups = match.groupdict()
    return match.start(), groups.get("file"), groups.get("line")
