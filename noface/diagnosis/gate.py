"""Names a gate's failure: evidence in, verdict out. Pure and total: no input raises, no input takes long.

The order of the evidence: report, runner's summary, compiler's diagnostics, stack trace, exit code, words.
"""

from collections.abc import Iterable
from dataclasses import replace

from noface.data import Patterns, pattern, table
from noface.diagnosis.context import Context, context_of, known_tools
from noface.diagnosis.decide import Decision, decide_failure, exit_findings, ran_out_of_time, read_report, timeout_line
from noface.diagnosis.evidence import Counts, GateEvidence, GateVerdict, Reading, RuleMatch
from noface.diagnosis.readers import READERS
from noface.diagnosis.readers.counts import find_counts
from noface.diagnosis.role import by_role, of_tools
from noface.diagnosis.rules import Level, rule_book
from noface.diagnosis.scan import ProjectRules, failing_names, scan, scan_project
from noface.diagnosis.text import Log, read_log, signature_of
from noface.model.quoting import to_the_point
from noface.model.taxonomy import FailureKind

_EXCERPT = Patterns("excerpt")

_ALSO_MAX = 12
_LINE_MAX = 300
_LAST_READ = 100
_LAST_SHOWN = 6
_LAST_TELLING = 3
"""So many of the last lines tell one unknown failure from another."""
STAYS, WATCHES = ENDLESS = ("exit.stays-open", "exit.watches")
"""The rules of a test command that has said that all is well, and goes on: no work is too big for it."""
_AS_THEY_RUN = ("tap", "go")
"""Formats that count tests as they run, with no summary that says that all have."""
_OF_TESTS = frozenset({FailureKind.TEST_FAILURE, FailureKind.RUNTIME_ERROR, FailureKind.TIMEOUT})


def classify(evidence: GateEvidence, project: ProjectRules | None = None) -> GateVerdict:
    """Return the verdict on one gate run; `project` are the project's own rules."""
    log = read_log(evidence.stdout, evidence.stderr)
    context = context_of(evidence, log)
    readings = [reading for read in READERS if (reading := read(log, context)) is not None]
    shown = frozenset(n for reading in readings if reading.data for span in reading.owned for n in range(*span))
    readings = [  # lines that a tool shows as data, such as those of a difference, hold no findings
        each if each.data else replace(each, findings=tuple(f for f in each.findings if f.line not in shown))
        for each in readings
    ]
    owned = frozenset(n for reading in readings for start, end in reading.owned for n in range(start, end))
    counts = [count for reading in readings for count in reading.counts]
    counts += [count for count in find_counts(log, owned) if all(count.line != known.line for known in counts)]
    counts.sort(key=lambda count: count.line)
    report = read_report(evidence.report, log, context.repo)
    findings = [*report.findings, *(f for reading in readings for f in reading.findings if _free(f, reading, owned))]
    counts = [*report.counts, *counts]
    if ran_out_of_time(evidence):
        return _timed_out(evidence, log, findings, counts, context)
    if evidence.exit_code == 0:
        return _passed(log, counts, scan(rule_book().no_tests, log, context, owned))
    named = scan(rule_book().rules, log, context, owned)
    known = {finding.line: finding.kind for finding in named if finding.level >= Level.DIAGNOSTIC}
    findings = of_tools([*(f for f in findings if not _is_known(f, known)), *named], log, context)
    findings += exit_findings(evidence, log)
    of_project, skipped = scan_project(project, log, context) if project is not None else ([], [])
    findings += of_project
    names = failing_names(log, [report, *readings], owned)
    decision = decide_failure(findings, counts, lambda words: by_role(words, log, context), bool(report.failing))
    if decision is None and (any(count.ran for count in counts) or context.tools & known_tools("test_runners")):
        # Tests that ended without a word of failure died on the way; of other tools nothing is known.
        name, kind = "exit.no-summary", FailureKind.RUNTIME_ERROR
        decision = RuleMatch(name, kind, Level.EXIT_CODE, len(log.lines) - 1), ()
    elif decision is None:
        decision = RuleMatch("nothing.matched", FailureKind.UNKNOWN, Level.EXIT_CODE, -1), ()
    verdict = _verdict(evidence, log, decision, findings, counts, names)
    return replace(verdict, also_matched=(*verdict.also_matched, *skipped))


def _free(finding: RuleMatch, reading: Reading, owned: frozenset[int]) -> bool:
    # A runner's word of its own end counts in a traceback, too: pytest prints one as INTERNALERROR.
    inside = any(start <= finding.line < end for start, end in reading.owned)
    return inside or finding.line not in owned or finding.level >= Level.SUMMARY


def _is_known(finding: RuleMatch, known: dict[int, FailureKind]) -> bool:
    if finding.rule == "gate.names-missing":
        return known.get(finding.line) in {FailureKind.ENVIRONMENT, FailureKind.NO_TESTS}
    return finding.rule.startswith("diagnostic.") and finding.line in known


def _tests_run(counts: list[Counts]) -> int | None:
    return max((count.ran for count in counts if count.tells_ran), default=None)


def _passed(log: Log, counts: list[Counts], no_tests: list[RuleMatch]) -> GateVerdict:
    tests_run = _tests_run(counts)
    if tests_run == 0 or (tests_run is None and no_tests):
        number = counts[-1].line if counts else no_tests[0].line
        line = log.get(number)
        return GateVerdict(
            FailureKind.NO_TESTS,
            f"No tests ran: {line.strip()}",
            "summary.no-tests",
            key_line=line,
            tests_run=0,
            excerpt=excerpt_of(log, number, FailureKind.NO_TESTS),
            signature=signature_of(FailureKind.NO_TESTS, line, ()),
            evidence=(line,),
        )
    best = max(counts, key=lambda count: count.ran, default=None)
    key = log.get(best.line) if best else next((line for line in reversed(log.lines[: log.err]) if line.strip()), "")
    return GateVerdict(None, "passed", "exit.zero", key_line=key, tests_run=tests_run)


def _ended_green(log: Log, counts: list[Counts]) -> bool:
    """True if a summary of tests that passed is the last that was told of any: no further ones had begun."""
    summaries = [count for count in counts if count.runner not in _AS_THEY_RUN]
    if not _tests_run(summaries) or any(count.bad for count in counts):
        return False
    rest = range(max(count.line for count in summaries) + 1, len(log.lines))
    return not any(pattern("runners", "watching", "begins").search(log.get(number)) for number in rest)


def _timed_out(
    evidence: GateEvidence, log: Log, findings: list[RuleMatch], counts: list[Counts], context: Context
) -> GateVerdict:
    line, location = timeout_line(log, findings, context.repo)
    limit = evidence.limit_s if evidence.limit_s is not None else evidence.seconds
    key = log.get(line) if line >= 0 else ""
    rule, message = "exit.time-limit", f"not finished at its limit of {limit:g} s"
    watching = next((at for words in table("runners")["watching"]["says"] for at in log.lines_with(words)), None)
    if watching is not None:
        rule, key = WATCHES, log.get(watching)
        message = (
            f"it watches for changes and never ends by itself ({limit:g} s): {table('runners')['watching']['end']}"
        )
    elif not findings and _ended_green(log, counts):
        rule = STAYS
        message = f"its tests have passed, and it does not end: something that they started stays open ({limit:g} s)"
    return GateVerdict(
        FailureKind.TIMEOUT,
        message,
        rule,
        key_line=key,
        location=location,
        excerpt=excerpt_of(log, line, FailureKind.TIMEOUT),
        signature=signature_of(FailureKind.TIMEOUT, key, ()),
        evidence=(key,) if key else (),
    )


def _verdict(
    evidence: GateEvidence,
    log: Log,
    decision: Decision,
    findings: list[RuleMatch],
    counts: list[Counts],
    names: tuple[str, ...],
) -> GateVerdict:
    decisive, lost = decision
    line, kind = decisive.line, decisive.kind
    key = log.get(line) or decisive.text
    same = (f.location for f in findings if f.kind is kind and f.location and f.level > Level.WORDS)
    failing = names if kind in _OF_TESTS or any(count.bad for count in counts) else ()
    also = [(f.rule, log.get(f.line)[:300], why) for f, why in lost[:_ALSO_MAX]]
    printed = [to_the_point(line.strip(), _LINE_MAX) for line in log.lines[-_LAST_READ:] if line.strip()]
    last = tuple(printed[-_LAST_SHOWN:])
    ending = f"the last that it printed: {last[-1]}" if last else "it printed nothing"
    # Only the gate's purpose has picked a line, the last one: no word in it says why.
    guessed = decisive.rule.startswith("role.") and last[-1:] == (to_the_point(key.strip(), _LINE_MAX),)
    message = to_the_point(key.strip(), _LINE_MAX) or f"exit code {evidence.exit_code}; {ending}"
    return GateVerdict(
        kind,
        message,
        decisive.rule,
        key_line=key,
        location=decisive.location or next(same, None),
        failing_tests=failing,
        tests_run=_tests_run(counts),
        stack_trace=stack_of(log, line) if kind is FailureKind.RUNTIME_ERROR else "",
        excerpt=_with_reasons(log, line, kind, findings, failing),
        signature=signature_of(kind, key if key.strip() else "\n".join(last[-_LAST_TELLING:]), failing),
        evidence=(key,) if key.strip() and not guessed else last,
        also_matched=tuple(also),
    )


LINES_MAX = 40
WIDTH_MAX = 240
STACK_MAX = 60
_ABOVE, _ABOVE_CODE = 14, 4
_REASONS_MAX = 20


def excerpt_of(log: Log, line: int, kind: FailureKind) -> str:
    return _join(log, _shown(log, line, kind, LINES_MAX))


def _shown(log: Log, line: int, kind: FailureKind, most: int) -> range:
    if line < 0 or line >= len(log.lines):
        return range(max(0, len(log.lines) - most), len(log.lines))
    above = _ABOVE_CODE if kind in {FailureKind.SYNTAX_ERROR, FailureKind.LINT_FAILURE} else _ABOVE
    start = max(log.stream_start(line), line - above)
    return range(start, min(log.stream_end(line), start + most))


def _with_reasons(log: Log, line: int, kind: FailureKind, findings: list[RuleMatch], failing: tuple[str, ...]) -> str:
    """Return the excerpt; below a mark of the cut, each other failing test with the line that says why it fails."""
    tests = [f for f in findings if f.test and 0 <= f.line < len(log.lines) and f.line != line] if failing else []
    reasons = {f.test: f.line for f in reversed(tests)}
    shown = _shown(log, line, kind, LINES_MAX)
    if all(number in shown for number in reasons.values()):
        return _join(log, shown)
    shown = _shown(log, line, kind, LINES_MAX - min(len(reasons), _REASONS_MAX) - 1)
    beside = [(str(test), number) for test, number in sorted(reasons.items(), key=lambda each: each[1])]
    rows = [
        f"{test}: {to_the_point(log.get(number).strip(), WIDTH_MAX)}" for test, number in beside if number not in shown
    ]
    return "\n".join((_join(log, shown), "[…]", *rows[:_REASONS_MAX]))


def _join(log: Log, numbers: Iterable[int]) -> str:
    return "\n".join(to_the_point(log.get(number), WIDTH_MAX) for number in numbers).strip("\n")


def stack_of(log: Log, line: int) -> str:
    """Return the stack trace that line `line` heads or ends; empty where it stands alone."""
    if line < 0:
        return ""
    start = line
    while start > max(log.stream_start(line), line - STACK_MAX):
        above = log.get(start - 1)
        if not above.strip() or not (
            _EXCERPT["frame"].match(above) or "Traceback" in above or above.startswith(("  ", "\t"))
        ):
            break
        start -= 1
    end = line + 1
    while end < min(log.stream_end(line), line + STACK_MAX):
        below = log.get(end)
        if not (_EXCERPT["frame"].match(below) or below.startswith(("    ", "\t"))):
            break
        end += 1
    if end - start == 1:
        return ""
    return "\n".join(log.get(number)[:WIDTH_MAX] for number in range(start, end))
