"""Weighs the findings: which kind a failed gate is, by the decision rules, strongest structure first.

Where a runner's summary says that tests failed, only what the runner itself reports (and what is marked to count
even then) is asked for the kind: words that a failing test printed or compared prove nothing. Where no tests ran or
all passed, the rest of the output is asked, and the exit code last.
"""

from dataclasses import dataclass

from noface.core.classify.evidence import Counts, Finding
from noface.core.classify.project_rules import decisive, is_of_project
from noface.core.classify.rules import Level
from noface.core.taxonomy import FailureKind

ORDER = (
    FailureKind.TIMEOUT,
    FailureKind.ENVIRONMENT,
    FailureKind.SYNTAX_ERROR,
    FailureKind.TEST_FAILURE,
    FailureKind.RUNTIME_ERROR,
    FailureKind.LINT_FAILURE,
    FailureKind.NO_TESTS,
    FailureKind.UNKNOWN,
)
"""The decision rules' order: of two findings of the same worth, the first kind wins."""

_REPORTED = Finding("report.failing", FailureKind.TEST_FAILURE, Level.REPORT, -1, said="the report names failing tests")


@dataclass(frozen=True, slots=True)
class Decision:
    """The kind, the finding that decided, and why each other lost."""

    kind: FailureKind
    rule: str
    finding: Finding | None = None
    lost: tuple[tuple[Finding, str], ...] = ()


def decide_failure(findings: list[Finding], counts: list[Counts], *, tests_failed: bool) -> Decision | None:
    """Return the kind of a gate that failed, or None where neither structure nor words say."""
    bad = [count for count in counts if count.bad]
    project = decisive(findings, tests_failed=bool(bad) or tests_failed)
    if project:
        return _pick(project, findings)
    if bad or tests_failed:
        return _among_tests(findings, bad)
    strong = [finding for finding in findings if finding.level >= Level.TRACEBACK and not finding.only_in_tests]
    if counts and all(count.ran == 0 for count in counts):
        causes = [finding for finding in strong if finding.kind is not FailureKind.LINT_FAILURE]
        if causes:
            return _pick(causes, findings)
        return Decision(FailureKind.NO_TESTS, "summary.no-tests", _at(counts[-1], FailureKind.NO_TESTS))
    if counts and strong:
        after = [finding for finding in strong if finding.line > counts[-1].line or finding.level >= Level.DIAGNOSTIC]
        return _pick(after or strong, findings)
    if strong:
        return _pick(strong, findings)
    weak = [finding for finding in findings if finding.level == Level.EXIT_CODE] or findings
    return _pick(weak, findings) if weak else None


def _at(count: Counts, kind: FailureKind) -> Finding:
    return Finding(f"summary.{count.runner}", kind, Level.SUMMARY, count.line)


def _among_tests(findings: list[Finding], bad: list[Counts]) -> Decision:
    usable = [
        f
        for f in findings
        if f.level >= Level.SUMMARY or f.even_in_tests or f.level is Level.TRACEBACK or f.rule == "trace.head"
    ]
    own_words = [f for f in usable if f.level >= Level.SUMMARY or f.even_in_tests]
    kinds = {finding.kind for finding in own_words}
    failed = any(count.told_apart and count.failed for count in bad)
    only_errors = bool(bad) and all(count.told_apart and not count.failed for count in bad)
    if FailureKind.NO_TESTS in kinds and not any(count.passed for count in bad):
        return _pick([f for f in own_words if f.kind is FailureKind.NO_TESTS], findings)
    for kind in (FailureKind.TIMEOUT, FailureKind.ENVIRONMENT, FailureKind.SYNTAX_ERROR):
        if kind in kinds:
            return _pick([f for f in own_words if f.kind is kind], findings)
    others = [f for f in usable if f not in own_words and f.kind is not FailureKind.LINT_FAILURE]
    asserted = [f for f in own_words + others if f.kind is FailureKind.TEST_FAILURE]
    told = [f for f in own_words if f.kind in {FailureKind.TEST_FAILURE, FailureKind.RUNTIME_ERROR}]
    if told and not failed:
        asserted = [f for f in told if f.kind is FailureKind.TEST_FAILURE]
    if failed or (asserted and not only_errors):
        chosen = asserted or [_at(next(c for c in bad if c.failed), FailureKind.TEST_FAILURE)]
        return _pick(chosen, findings)
    raised = (
        [f for f in own_words if f.kind is FailureKind.RUNTIME_ERROR]
        or [f for f in others if f.level >= Level.TRACEBACK and f.kind is not FailureKind.TEST_FAILURE]
        or [f for f in others if f.kind is not FailureKind.TEST_FAILURE and f.level is Level.WORDS and only_errors]
    )
    if raised:
        return _pick(raised, findings)
    if only_errors:
        return _pick([_at(bad[0], FailureKind.RUNTIME_ERROR)], findings)
    words = [f for f in others if f.level is Level.WORDS and f.rule == "trace.head"]
    if words:
        return _pick(words, findings)
    unexplained = _at(bad[0], FailureKind.TEST_FAILURE) if bad else _REPORTED
    return _pick([unexplained], findings)


def _pick(candidates: list[Finding], everything: list[Finding]) -> Decision:
    kind = min((finding.kind for finding in candidates), key=ORDER.index)
    same = [finding for finding in candidates if finding.kind is kind]
    first = max(same, key=_worth)
    lost = tuple((f, _why(f, first)) for f in everything if f is not first and f.kind is not kind)
    return Decision(kind, first.rule, first, lost)


def _worth(finding: Finding) -> tuple[int, bool, bool, int]:
    """Rank findings of one kind: the log before a report's text, a place before none, the first before the rest."""
    level = min(finding.level, Level.SUMMARY)
    return level, finding.line >= 0, finding.location is not None, -finding.line


def _why(loser: Finding, winner: Finding) -> str:
    if loser.level < winner.level:
        return f"{winner.rule} is stronger evidence ({winner.level.name.lower()} over {loser.level.name.lower()})"
    if is_of_project(winner.rule):
        return f"{winner.rule} is the project's own rule"
    if loser.level == winner.level:
        return f"{winner.kind} comes before {loser.kind} in the decision rules"
    return f"{winner.rule} was decided by the runner's own account of its tests"
