"""Weighs the findings: which kind a failed gate is, by the decision rules, strongest structure first.

If a summary says that tests failed, only what the runner reports counts: words that tests print prove nothing.
"""

from collections.abc import Callable, Iterator

from noface.data import Patterns
from noface.diagnosis.context import Repo
from noface.diagnosis.evidence import Counts, GateEvidence, Reading, ReportCase, RuleMatch, TestReport
from noface.diagnosis.places import exception_kind, place_above, place_below, places
from noface.diagnosis.rules import Level
from noface.diagnosis.scan import decisive
from noface.diagnosis.text import Log
from noface.model.failure import is_of_project
from noface.model.taxonomy import FailureKind

_REPORT = Patterns("report")

EXIT_TIMEOUT = 124
EXIT_NOT_EXECUTABLE = 126
EXIT_NOT_FOUND = 127
EXIT_SIGNAL = 128
KILLED = frozenset({137, 143, -9, -15})
_NEARLY = 0.97
_XARGS_STOPPED = "exited with status 255; aborting"
"""What xargs says if it ends with 124: a command of its own ended with 255, as PHP does on fatal errors."""


def ran_out_of_time(evidence: GateEvidence) -> bool:
    """True if the gate was ended by a limit: its own, or that of a `timeout` inside it (exit code 124)."""
    if evidence.timed_out or (evidence.exit_code == EXIT_TIMEOUT and _XARGS_STOPPED not in evidence.stderr):
        return True
    if evidence.limit_s is None:
        return False
    late = evidence.seconds >= evidence.limit_s * _NEARLY
    return late and (evidence.exit_code is None or evidence.exit_code in KILLED)


def timeout_line(log: Log, findings: list[RuleMatch], repo: Repo) -> tuple[int, str | None]:
    """Return the line that says where the time went, and its place: a runner's own word, else stdout's last line."""
    for finding in findings:
        if finding.kind is FailureKind.TIMEOUT:
            return finding.line, finding.location
    for number in (*range(log.err - 1, -1, -1), *range(len(log.lines) - 1, log.err - 1, -1)):
        if log.get(number).strip():
            # Of a watchdog's dump of the stack (faulthandler, pytest-timeout), else of noface's own interruption.
            dumps = (place_below(log, at, repo) for at in log.lines_with("most recent call first"))
            stood = (
                next(iter(places(log.get(at), repo)), None) or place_above(log, at, repo)
                for at in log.lines_with("KeyboardInterrupt")
            )
            return number, next(filter(None, dumps), None) or next(filter(None, stood), None)
    return -1, None


def exit_findings(evidence: GateEvidence, log: Log) -> list[RuleMatch]:
    """Return what the exit code says by itself."""
    code = evidence.exit_code
    last = next((n for n in range(len(log.lines) - 1, -1, -1) if log.get(n).strip()), -1)
    if code is None:
        return [RuleMatch("exit.none", FailureKind.UNKNOWN, Level.EXIT_CODE, last)]
    if code in {EXIT_NOT_FOUND, EXIT_NOT_EXECUTABLE}:
        return [RuleMatch("exit.command-missing", FailureKind.ENVIRONMENT, Level.EXIT_CODE, last)]
    # A shell adds 128 to the number of the signal, and 64 is the last one.
    if code < 0 or EXIT_SIGNAL < code <= EXIT_SIGNAL + 64:
        return [RuleMatch("exit.signal", FailureKind.RUNTIME_ERROR, Level.EXIT_CODE, last)]
    if last < 0:
        return [RuleMatch("exit.silent", FailureKind.RUNTIME_ERROR, Level.EXIT_CODE, -1)]
    return []


_NOTHING = Reading("report")
_SEARCHED = 80


def read_report(report: TestReport | None, log: Log, repo: Repo) -> Reading:
    """Return the counts, causes and failing tests of a report; a cause counts only if it names a type."""
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
    findings = (_reported_finding(case, log, repo) for case in report.cases)
    return Reading("report", (counts,), tuple(f for f in findings if f is not None), report.failing)


def _reported_finding(case: ReportCase, log: Log, repo: Repo) -> RuleMatch | None:
    typed = _REPORT["typed"].match(case.type) or _REPORT["typed"].match(case.message.strip())
    if not typed:
        return None
    kind = exception_kind(typed["exc"], typed["msg"] or case.message, repo, loading=not case.failed)
    if kind is FailureKind.TEST_FAILURE and not case.failed:
        kind = FailureKind.RUNTIME_ERROR
    text = case.message.strip().partition("\n")[0]
    offset = log.text.find(text[:_SEARCHED]) if text else -1
    line = log.line_at(offset) if offset >= 0 else -1
    return RuleMatch("report.case", kind, Level.REPORT, line, case.location, case.name, text=text or case.name)


_REPORTED = RuleMatch(
    "report.failing", FailureKind.TEST_FAILURE, Level.REPORT, -1, text="the report names failing tests"
)


_DIED = frozenset({"exit.signal", "exit.command-missing"})
"""Exit codes that tell why no test ran: the runner was struck down, or a program of the gate is not there."""


Decision = tuple[RuleMatch, tuple[tuple[RuleMatch, str], ...]]
"""The finding that decided, and why each other lost."""


def decide_failure(
    findings: list[RuleMatch],
    counts: list[Counts],
    weigh: Callable[[list[RuleMatch]], list[RuleMatch]],
    tests_failed: bool,
) -> Decision | None:
    """Return the kind of a gate that failed, None if neither structure nor words, which `weigh` decides among, say."""
    bad = [count for count in counts if count.bad]
    project = decisive(findings, tests_failed=bool(bad) or tests_failed)
    if project:
        return _pick(project, findings)
    if bad or tests_failed:
        runner = [f for f in findings if _of_runner(f)]
        traces = [f for f in findings if f.level is Level.TRACEBACK or f.rule == "trace.head"]
        traces = [f for f in traces if not _of_runner(f) and f.kind is not FailureKind.LINT_FAILURE]
        return _pick(next(group for group in _by_worth(runner, traces, bad) if group), findings)
    strong = [finding for finding in findings if finding.level >= Level.TRACEBACK and not finding.only_in_tests]
    if counts and all(count.ran == 0 for count in counts):
        causes = [finding for finding in strong if finding.kind is not FailureKind.LINT_FAILURE]
        causes = causes or [finding for finding in findings if finding.rule in _DIED]
        if causes:
            return _pick(causes, findings)
        return RuleMatch("summary.no-tests", FailureKind.NO_TESTS, Level.SUMMARY, counts[-1].line), ()
    if counts and strong:
        after = [finding for finding in strong if finding.line > counts[-1].line or finding.level >= Level.DIAGNOSTIC]
        return _pick(after or strong, findings)
    if strong:
        return _pick(strong, findings)
    weak = [finding for finding in findings if finding.level == Level.EXIT_CODE]
    weak = weak or weigh(findings)
    return _pick(weak, findings) if weak else None


def _at(count: Counts, kind: FailureKind) -> RuleMatch:
    return RuleMatch(f"summary.{count.runner}", kind, Level.SUMMARY, count.line)


def _of_runner(finding: RuleMatch) -> bool:
    return finding.level >= Level.SUMMARY or finding.even_in_tests


def _by_worth(runner: list[RuleMatch], traces: list[RuleMatch], bad: list[Counts]) -> Iterator[list[RuleMatch]]:
    # Where a runner tells errors from failures, an assertion in a trace is one that the code itself makes.
    only_errors = bool(bad) and all(count.separates_errors and not count.failed for count in bad)
    if not any(count.passed for count in bad):
        yield _of(runner, FailureKind.NO_TESTS)
    yield _of(runner, FailureKind.TIMEOUT, FailureKind.ENVIRONMENT, FailureKind.SYNTAX_ERROR)
    if not only_errors:
        yield _failed_expectations(runner, traces, bad)
    yield _of(runner, FailureKind.RUNTIME_ERROR)
    raised = [f for f in traces if f.kind is not FailureKind.TEST_FAILURE]
    yield [f for f in raised if f.level >= Level.TRACEBACK]
    if only_errors:
        yield raised
        yield [_at(bad[0], FailureKind.RUNTIME_ERROR)]
    yield [f for f in traces if f.level is Level.WORDS]
    yield [_at(bad[0], FailureKind.TEST_FAILURE) if bad else _REPORTED]


def _failed_expectations(runner: list[RuleMatch], traces: list[RuleMatch], bad: list[Counts]) -> list[RuleMatch]:
    """Return the failed assertions; those of traces only if the runner does not name another cause."""
    failed = any(count.separates_errors and count.failed for count in bad)
    asserted = _of(runner, FailureKind.TEST_FAILURE)
    if failed or not _of(runner, FailureKind.TEST_FAILURE, FailureKind.RUNTIME_ERROR):
        asserted += _of(traces, FailureKind.TEST_FAILURE)
    if failed and not asserted:
        return [_at(next(count for count in bad if count.failed), FailureKind.TEST_FAILURE)]
    return asserted


def _of(findings: list[RuleMatch], *kinds: FailureKind) -> list[RuleMatch]:
    return [finding for finding in findings if finding.kind in kinds]


def _pick(candidates: list[RuleMatch], everything: list[RuleMatch]) -> Decision:
    kind = min((finding.kind for finding in candidates), key=lambda kind: kind.precedence)
    first = max([finding for finding in candidates if finding.kind is kind], key=_worth)
    lost = tuple((f, _why(f, first)) for f in everything if f is not first and f.kind is not kind)
    return first, lost


def _worth(finding: RuleMatch) -> tuple[int, bool, bool, int]:
    """Rank findings of one kind: the log before a report's text, a place before none, the first before the rest."""
    # A report has no lines: between it and a summary the place in the log decides.
    level = min(finding.level, Level.SUMMARY)
    return level, finding.line >= 0, finding.location is not None, -finding.line


def _why(loser: RuleMatch, winner: RuleMatch) -> str:
    if loser.level < winner.level:
        return f"{winner.rule} is stronger evidence ({winner.level.name.lower()} over {loser.level.name.lower()})"
    if is_of_project(winner.rule):
        return f"{winner.rule} is the project's own rule"
    if loser.level == winner.level:
        return f"{winner.kind} comes before {loser.kind} in the decision rules"
    return f"{winner.rule} was decided by the runner's own account of its tests"
