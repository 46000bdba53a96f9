"""What the way a gate ended says (killed, command missing, silent), and what the test report it wrote says."""

from noface.data import Patterns
from noface.diagnosis.context import Repo
from noface.diagnosis.evidence import Counts, Finding, GateEvidence, Reading, ReportCase, TestReport
from noface.diagnosis.exceptions import exception_kind
from noface.diagnosis.places import place_below
from noface.diagnosis.rules import Level
from noface.diagnosis.text import Log
from noface.model.taxonomy import FailureKind

_REPORT = Patterns("report")

EXIT_TIMEOUT = 124
EXIT_NOT_EXECUTABLE = 126
EXIT_NOT_FOUND = 127
EXIT_SIGNAL = 128
KILLED = frozenset({137, 143, -9, -15})
_NEARLY = 0.97


def ran_out_of_time(evidence: GateEvidence) -> bool:
    """Tell whether the gate was ended by a limit: its own, or that of a `timeout` inside it (exit code 124).

    137 long before the limit is the kernel's OOM killer or somebody's kill, and no timeout.
    """
    if evidence.timed_out or evidence.exit_code == EXIT_TIMEOUT:
        return True
    if evidence.limit_s is None:
        return False
    late = evidence.seconds >= evidence.limit_s * _NEARLY
    return late and (evidence.exit_code is None or evidence.exit_code in KILLED)


def timeout_line(log: Log, findings: list[Finding], repo: Repo) -> tuple[int, str | None]:
    """Return the line that says where the time went, and its place: a runner's own word, else stdout's last line."""
    for finding in findings:
        if finding.kind is FailureKind.TIMEOUT:
            return finding.line, finding.location
    for number in (*range(log.err - 1, -1, -1), *range(len(log.lines) - 1, log.err - 1, -1)):
        if log.get(number).strip():
            return number, dumped_place(log, repo)
    return -1, None


def dumped_place(log: Log, repo: Repo) -> str | None:
    """Return where the code stood when a watchdog dumped its stack (faulthandler, pytest-timeout)."""
    for number in log.lines_with("most recent call first"):
        place = place_below(log, number, repo)
        if place:
            return place
    return None


def exit_findings(evidence: GateEvidence, log: Log) -> list[Finding]:
    """Return what the exit code says by itself."""
    code = evidence.exit_code
    last = next((n for n in range(len(log.lines) - 1, -1, -1) if log.get(n).strip()), -1)
    if code is None:
        return [Finding("exit.none", FailureKind.UNKNOWN, Level.EXIT_CODE, last)]
    if code in {EXIT_NOT_FOUND, EXIT_NOT_EXECUTABLE}:
        return [Finding("exit.command-missing", FailureKind.ENVIRONMENT, Level.EXIT_CODE, last)]
    if code < 0 or EXIT_SIGNAL < code <= EXIT_SIGNAL + 64:
        return [Finding("exit.signal", FailureKind.RUNTIME_ERROR, Level.EXIT_CODE, last)]
    if last < 0:
        return [Finding("exit.silent", FailureKind.RUNTIME_ERROR, Level.EXIT_CODE, -1)]
    return []


_NOTHING = Reading("report")
_SEARCHED = 80


def read_report(report: TestReport | None, log: Log, repo: Repo) -> Reading:
    """Return the counts, causes and failing tests of a report; an empty reading where there is none.

    A cause is taken from the report only where it names a type: many writers call everything a failure.
    """
    if report is None:
        return _NOTHING
    bad = report.failures + report.errors
    counts = Counts(
        line=-1,
        total=report.tests,
        passed=max(0, report.tests - bad - report.skipped),
        failed=report.failures,
        errors=report.errors,
        skipped=report.skipped,
        runner="report",
    )
    findings = (_finding(case, log, repo) for case in report.cases)
    return Reading("report", (counts,), tuple(f for f in findings if f is not None), report.failing)


def _finding(case: ReportCase, log: Log, repo: Repo) -> Finding | None:
    kind = _kind(case, repo)
    if kind is None:
        return None
    text = case.message.strip().partition("\n")[0]
    offset = log.text.find(text[:_SEARCHED]) if text else -1
    line = log.line_at(offset) if offset >= 0 else -1
    return Finding("report.case", kind, Level.REPORT, line, case.location, case.name, text=text or case.name)


def _kind(case: ReportCase, repo: Repo) -> FailureKind | None:
    typed = _REPORT["typed"].match(case.type) or _REPORT["typed"].match(case.message.strip())
    if not typed:
        return None
    exc = typed["exc"]
    kind = exception_kind(exc, typed["msg"] or case.message, repo, loading=not case.failed)
    return FailureKind.RUNTIME_ERROR if kind is FailureKind.TEST_FAILURE and not case.failed else kind
