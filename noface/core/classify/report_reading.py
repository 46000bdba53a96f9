"""Reads the strongest evidence: a test report that the gate's run wrote."""

# ruff: noqa: E501 - a pattern is kept in one piece

import re

from noface.core.classify.context import Repo
from noface.core.classify.evidence import ReportCase, TestReport
from noface.core.classify.exceptions import exception_kind
from noface.core.classify.kinds import RUNTIME, TEST
from noface.core.classify.rules import Counts, Finding, Level, Reading
from noface.core.classify.text import Log
from noface.core.taxonomy import FailureKind

_NOTHING = Reading("report")
_TYPED = re.compile(
    r"^(?:failed on setup with \")?(?P<exc>(?:[A-Za-z_]\w*[.:\\$]{1,2})*[A-Z]\w*(?:Error|Exception|Failure|Failed|Fault))(?:: (?P<msg>.*))?",
    re.DOTALL,
)
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
    found = (_finding(case, log, repo) for case in report.cases)
    return Reading("report", (counts,), tuple(f for f in found if f is not None), report.failing)


def _finding(case: ReportCase, log: Log, repo: Repo) -> Finding | None:
    kind = _kind(case, repo)
    if kind is None:
        return None
    said = case.message.strip().partition("\n")[0]
    offset = log.text.find(said[:_SEARCHED]) if said else -1
    line = log.line_at(offset) if offset >= 0 else -1
    return Finding("report.case", kind, Level.REPORT, line, case.location, case.name, said=said or case.name)


def _kind(case: ReportCase, repo: Repo) -> FailureKind | None:
    typed = _TYPED.match(case.type) or _TYPED.match(case.message.strip())
    if not typed:
        return None
    exc = typed["exc"]
    kind = exception_kind(exc, typed["msg"] or case.message, repo, loading=not case.failed)
    return RUNTIME if kind is TEST and not case.failed else kind
