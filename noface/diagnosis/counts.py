"""Reads the line in which a test runner counts: "3 examples, 1 failure", "Tests run: 3, Failures: 1", and its kin.

Runners differ in words and order, hardly in form: pairs of a number and a word. So one reader serves all of them,
also those nobody has thought of. A pair alone proves little; what makes a summary is a word for tests or for passing.
"""

# ruff: noqa: E501 - a pattern is kept in one piece

import re
from dataclasses import replace

from noface.diagnosis.evidence import Counts
from noface.diagnosis.text import Log

_TOTAL = (
    "tests|test|examples|example|specs|spec|scenarios|scenario|cases|runs|tests run|tests found|test cases|test case|tests completed"
    "|test methods|tried|executed|total|ran|tests?\\(s\\)|run|checks|total tests|number of tests|number of run tests|total tests run"
    "|tests? in|tests? collected|tests executed|unit tests|blackbox tests|properties|testcases?|test functions|doctests?|trials"
)
_PASSED = (
    "passed|passing|pass|passes|succeeded|success|successes|successful|ok|tests successful|tests passed|successful tests"
    "|expected passes|of expected passes|total pass|passed tests|pass total|successfully|successe?s?|good"
)
_FAILED = (
    "failed|failing|failures|failure|fail|fails|tests failed|failed assertions|unexpected failures|of unexpected failures"
    "|failed tests|test failures|failure total|total fail|number of failures|assertions failed|not ok|failed\\(s\\)|bad"
)
_ERRORS = "errors|errored|error|unexpected errors|number of errors|exceptions|broken|crashed|erred|total errors|crashes|aborts|unresolved"
_SKIPPED = (
    "skipped|skips|skip|pending|pendings|ignored|todo|disabled|excluded|deselected|filtered out|invalid|xfail|xfailed|untested|not run"
    "|tests skipped|skipped tests|omissions|incomplete|expected failures|undefined|inconclusive|cancelled|canceled|did not run|risky|total skip"
    "|aborted|notifications|flaky|suspended|interrupted"
)
_CLASSES = {"total": _TOTAL, "passed": _PASSED, "failed": _FAILED, "errors": _ERRORS, "skipped": _SKIPPED}
_WORD = {word: name for name, words in _CLASSES.items() for word in re.sub(r"\\\(s\\\)|\?|\\", "", words).split("|")}
_ALL = sorted(_WORD, key=len, reverse=True)
_WORDS = "|".join(re.escape(word) for word in _ALL)

_NUMBER_FIRST = re.compile(
    rf"(?<![\w.:%/-])(?P<n>\d{{1,9}})(?: of (?P<of>\d{{1,9}}))?[ \t]*(?:\(s\) )?(?:tests?\(?s?\)? |test cases? |test case\(s\) |scenarios? |specs? )?"
    rf"(?P<word>{_WORDS})(?:\(s\))?(?![\w:=-])(?!\s*:\s*\d)",
    re.IGNORECASE,
)
_WORD_FIRST = re.compile(
    rf"(?<![\w-])(?:tests? |# of )?(?P<word>{_WORDS})(?:\(s\))?\s*(?:[:=]|\t| {{1,20}}|\s*\.\.+)\s*(?P<n>\d{{1,9}})(?![\w.]*\w)(?!\.\d)",
    re.IGNORECASE,
)
_NOT_SUMMARY = re.compile(
    r"\bwarnings?\b(?!:? \d+, ?(?:passed|tests))|\bfiles? (?:checked|left|would|changed|inspected)|problems?\b|vulnerabilit|offenses?\b|\bTest Suites\b|\bTest Files\b"
    r"|\bsuites?\b\s*:|steps?\b|features?\b|assertions? (?:passed|failed)|^assertions|informations|insertions|snapshots?\b|expectations\b"
    r"|\bcontainers\b|\bbytes\b|\bpackages?\b|retr(?:y|ies)|lines?:|branches|statements|coverage|subtests|modules\b|\btasks?\b",
    re.IGNORECASE,
)
_SUMMARY_HINT = re.compile(r"\d")
_STEMS = ("pass", "fail", "succe", "error", "test", "example", "spec", "scenario", "skip", "ok", "total", "case", "ran")
_LINE_MAX = 260


def read_counts(line: str, number: int) -> Counts | None:
    """Return the counts that one line states, or None where it is no summary of a test run."""
    if len(line) > _LINE_MAX or not _SUMMARY_HINT.search(line):
        return None
    small = line.lower()
    if not any(word in small for word in _STEMS) or _NOT_SUMMARY.search(line):
        return None
    first, second = _pairs(_NUMBER_FIRST, line), _pairs(_WORD_FIRST, line)
    pairs = second if len(second) > len(first) or (len(second) == len(first) and _starts_with_word(line)) else first
    if not pairs:
        return None
    return _judge(pairs, line, number)


def _starts_with_word(line: str) -> bool:
    stripped = line.lstrip(" \t#*=-[]|ℹ✔✘")
    return bool(stripped) and not stripped[0].isdigit()


def _pairs(pattern: re.Pattern[str], line: str) -> list[tuple[str, int]]:
    return [(match["word"].lower(), int(match["n"])) for match in pattern.finditer(line)]


def _judge(pairs: list[tuple[str, int]], line: str, number: int) -> Counts | None:
    sums: dict[str, int] = {}
    for word, count in pairs:
        name = _WORD[word]
        if name == "total" and name in sums:
            continue
        sums[name] = sums.get(name, 0) + count
    if not _is_summary(sums, pairs, line):
        return None
    return Counts(
        line=number,
        total=sums.get("total"),
        passed=sums.get("passed"),
        failed=sums.get("failed", 0),
        errors=sums.get("errors", 0),
        skipped=sums.get("skipped", 0),
        separates_errors="errors" in sums and "failed" in sums,
        alone=len(pairs) == 1,
        classes=tuple(sums),
    )


def _is_summary(sums: dict[str, int], pairs: list[tuple[str, int]], line: str) -> bool:
    if len(sums) > 1:
        return bool({"passed", "failed"} & sums.keys()) or ("total" in sums and "errors" in sums)
    return len(pairs) == 1 and bool(_ALONE.match(line))


_ALONE = re.compile(
    r"^\s*(?:=+ ?|[✔✓✕✖×ℹ#%] ?)?(?:\[ +\d+ tests (?:found|started|aborted|successful|failed|skipped) +\]|no tests ran"
    r"|\d+ (?:tests? )?(?:passed|passing|failing|failed|deselected|pass|fail|skipped|pending|successful)"
    r"(?: \(\d+(?:\.\d+)?\s?m?s\))?(?: in [\d.]+ ?m?s?.*)?"
    r"|(?:# (?:of )?|tests? )?(?:tests|pass|fail|skipped|skip|cancelled|todo|total|passed|failed|failures?|errors?|ok|expected passes|unexpected failures"
    r"|expected fail|timeout|xfail|xpass|number of [\w ]+|total tests run|successful tests|failed (?:tests|assertions)|unexpected errors)"
    r"(?: +|: *|\t+|\s+=\s*|\s*\.\.+\s*)\d+(?: \( ?\d+%\))?|OK \(\d+ tests?\)|\d+ tests? (?:completed|run)(?: successfully)?"
    r"|All \d+ tests (?:passed|successful|ok)\.?.*)\s*=*\s*$",
    re.IGNORECASE,
)
_NEAR = 8


def _merged(summaries: list[Counts]) -> list[Counts]:
    """Join counts that a runner spreads over neighbouring lines ("# tests 3", "# pass 2", "# fail 1") into one."""
    result: list[Counts] = []
    for count in summaries:
        last = result[-1] if result else None
        if last is None or not (count.alone and last.alone) or count.line - last.line > _NEAR:
            result.append(count)
            continue
        total = count.total if last.total is None else last.total
        passed = last.passed if count.passed is None else (last.passed or 0) + count.passed
        result[-1] = replace(
            count,
            total=total,
            passed=passed,
            failed=last.failed + count.failed,
            errors=last.errors + count.errors,
            skipped=last.skipped + count.skipped,
            separates_errors=last.separates_errors or count.separates_errors or _both(last, count),
        )
    return [_completed(count) for count in result]


def _both(first: Counts, second: Counts) -> bool:
    return {"failed", "errors"} <= set(first.classes) | set(second.classes)


def _completed(count: Counts) -> Counts:
    if not count.alone or count.total is None or count.passed is None or count.bad:
        return count
    missing = count.total - count.passed - count.skipped
    return replace(count, failed=missing) if missing > 0 else count


def find_counts(log: Log, owned: frozenset[int]) -> list[Counts]:
    """Return every summary line of a log that no reader owns already, in order."""
    summaries = []
    for number, line in enumerate(log.lines):
        if number in owned or not line:
            continue
        counts = read_counts(line, number)
        if counts is not None:
            summaries.append(counts)
    return _merged(summaries)
