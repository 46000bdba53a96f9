"""Reads the strongest evidence: a test report that the gate's run wrote."""

from noface.core.classify.context import Repo
from noface.core.classify.evidence import TestReport
from noface.core.classify.rules import Counts, Reading

_NOTHING = Reading("report")


def read_report(report: TestReport | None, repo: Repo) -> Reading:
    """The counts and the failing tests of a report; an empty reading where there is none."""
    del repo
    if report is None:
        return _NOTHING
    passed = max(0, report.tests - report.failures - report.errors - report.skipped)
    counts = Counts(
        line=-1,
        total=report.tests,
        passed=passed,
        failed=report.failures,
        errors=report.errors,
        skipped=report.skipped,
        runner="report",
    )
    return Reading("report", counts=(counts,), failing=report.failing)
