"""Reads what `diff` and its kin print: the lines that differ are data, whatever words they hold."""

from noface.data import Patterns
from noface.diagnosis.context import Context, known_tools
from noface.diagnosis.evidence import Reading, RuleMatch
from noface.diagnosis.role import GateRole, role_of
from noface.diagnosis.rules import Level
from noface.diagnosis.text import Log
from noface.model.taxonomy import FailureKind

_DIFFERENCE = Patterns("difference")

_FOUND_MAX = 20
_LINES_MAX = 2_000


def read_differences(log: Log, context: Context) -> Reading | None:
    """Return the differences that a log shows; None if a test runner may have printed them in its own way."""
    if context.tools & known_tools("test_runners"):
        return None
    marked = (number for mark in ("< ", "> ") for number in log.lines_with(mark) if log.get(number).startswith(mark))
    plain = (number - 1 for number in marked if _DIFFERENCE["head"].match(log.get(number - 1)))  # such as "3c3"
    heads = sorted({*log.lines_with("+++ "), *plain})
    kind = FailureKind.LINT_FAILURE if role_of(context) is GateRole.LINT else FailureKind.TEST_FAILURE
    findings: list[RuleMatch] = []
    owned: list[tuple[int, int]] = []
    end = -1
    for number in heads:
        if number < end or len(findings) >= _FOUND_MAX:
            continue
        first = number - 1 if log.get(number).startswith("+++ ") else number
        body = _DIFFERENCE["unified"] if first < number else _DIFFERENCE["plain"]
        if first < number and not log.get(first).startswith("--- "):
            continue
        stop = min(log.stream_end(number + 1), number + 1 + _LINES_MAX)
        end = next((n for n in range(number + 1, stop) if not body.match(log.get(n))), stop)
        if end > number + 1:
            findings.append(RuleMatch("difference.shown", kind, Level.WORDS, first))
            owned.append((first, end))
    return Reading("difference", findings=tuple(findings), owned=tuple(owned), data=True) if findings else None
