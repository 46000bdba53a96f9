"""Finds pytest's output in a log, and its last line: "1 failed, 3 passed in 0.05s"."""

# ruff: noqa: E501 - a pattern is kept in one piece

import re

from noface.core.classify.rules import Counts
from noface.core.classify.text import Log

_COUNT = re.compile(
    r"^(?:=+ )?(?P<body>(?:no tests (?:ran|collected)|\d+ \w+)(?:, \d+ \w+)*(?: \(\d+ deselected\))?(?:, \d+ \w+)*) in [\d.:]+ ?s?.*?(?: =+)?$"
)
_PAIR = re.compile(r"(\d+) (\w+)")
_WORDS_OF_PYTEST = {"passed", "failed", "error", "errors", "skipped", "deselected", "xfailed", "xpassed"}
MARKS = (
    " FAILURES =",
    " ERRORS =",
    "short test summary info",
    "test session starts",
    "INTERNALERROR> ",
    "no tests ran in ",
)


def pytest_span(log: Log) -> tuple[int, int]:
    """Return the stream that pytest wrote to: stdout, unless the gate sent it to stderr."""
    head = log.text[: log.starts[log.err]] if log.err < len(log.starts) else log.text
    if any(mark in head for mark in MARKS) or not any(mark in log.text for mark in MARKS):
        return 0, log.err
    return log.err, len(log.lines)


def pytest_counts(log: Log) -> list[Counts]:
    """Return what pytest's summary lines count, the last first."""
    found = []
    first, stop = pytest_span(log)
    for number in range(stop - 1, first - 1, -1):
        match = _COUNT.match(log.get(number))
        if not match:
            continue
        sums = {word: int(count) for count, word in _PAIR.findall(match["body"])}
        if not match["body"].startswith("no tests") and not sums.keys() & _WORDS_OF_PYTEST:
            continue
        found.append(
            Counts(
                line=number,
                passed=sums.get("passed", 0) + sums.get("xpassed", 0) + sums.get("xfailed", 0),
                failed=sums.get("failed", 0),
                errors=sums.get("error", 0) + sums.get("errors", 0),
                skipped=sums.get("skipped", 0) + sums.get("deselected", 0),
                runner="pytest",
            )
        )
    return found
