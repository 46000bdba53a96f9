"""Cuts out what a developer would look at first: at most 40 lines round the decisive one, and the stack trace."""

# ruff: noqa: E501 - a pattern is kept in one piece

import re

from noface.core.classify.text import Log
from noface.core.taxonomy import FailureKind

LINES_MAX = 40
WIDTH_MAX = 240
STACK_MAX = 60
_ABOVE = 14
_BEACON = re.compile(
    r"(?i)\berror\b|\bfail(?:ed|ure|ures|s)?\b|exception|panic|traceback|\bassert|not ok|expected|\bfatal\b|[✕✖✗✘]|undefined|not found"
)
_FRAME = re.compile(
    r'^\W*(?:File "|at |from |in |#\d+ |\d+: |\[\d+\] |\(\w[\w.]* [\d.]+\) )|^\s+\S+:\d+|^\s+[\^~]+\s*$|^goroutine |^\S+\(.*\)$|^\t'
)


def excerpt_of(log: Log, line: int, kind: FailureKind) -> str:
    """Return the lines round line number `line`, or, where none decided, the last telling lines of the output."""
    if not log.lines:
        return ""
    if line < 0 or line >= len(log.lines):
        return _join(log, _telling(log))
    start = max(log.stream_start(line), line - _ABOVE)
    end = min(log.stream_end(line), start + LINES_MAX)
    if kind in {FailureKind.SYNTAX_ERROR, FailureKind.LINT_FAILURE}:
        start = max(log.stream_start(line), line - 4)
        end = min(log.stream_end(line), start + LINES_MAX)
    numbers = list(range(start, end))
    return _join(log, numbers)


def _telling(log: Log) -> list[int]:
    hits = [n for n in range(max(0, len(log.lines) - 4_000), len(log.lines)) if _BEACON.search(log.get(n)[:400])]
    chosen: set[int] = set(range(max(0, len(log.lines) - 16), len(log.lines)))
    for hit in hits[:8]:
        chosen.update(range(hit, min(len(log.lines), hit + 3)))
    return sorted(chosen)[:LINES_MAX]


def _join(log: Log, numbers: list[int]) -> str:
    return "\n".join(log.get(number)[:WIDTH_MAX] for number in numbers).strip("\n")


def stack_of(log: Log, line: int) -> str:
    """Return the stack trace that line `line` heads or ends; empty where it stands alone."""
    if line < 0:
        return ""
    start = line
    while start > max(log.stream_start(line), line - STACK_MAX):
        above = log.get(start - 1)
        if not above.strip() or not (_FRAME.match(above) or "Traceback" in above or above.startswith(("  ", "\t"))):
            break
        start -= 1
    end = line + 1
    while end < min(log.stream_end(line), line + STACK_MAX):
        below = log.get(end)
        if not (_FRAME.match(below) or below.startswith(("    ", "\t"))):
            break
        end += 1
    if end - start == 1:
        return ""
    return "\n".join(log.get(number)[:WIDTH_MAX] for number in range(start, end))
