"""Reads the line in which a test runner counts, as pairs of a number and a word: "Tests run: 3, Failures: 1"."""

import re
from dataclasses import replace
from functools import cache

from noface.data import Patterns, table
from noface.diagnosis.evidence import Counts
from noface.diagnosis.text import Log


@cache
def _counted() -> dict[str, str]:
    return {word: what for what, words in table("patterns")["words"]["counted"].items() for word in words}


def _word() -> dict[str, str]:
    """Return the words as a piece of the patterns, the longest first: "tests run" is no "tests"."""
    return {"word": "|".join(map(re.escape, sorted(_counted(), key=len, reverse=True)))}


COUNT = Patterns("count", _word)

_STEMS = ("pass", "fail", "succe", "error", "test", "example", "spec", "scenario", "skip", "ok", "total", "case", "ran")
_LINE_MAX = 260


def read_counts(line: str, number: int) -> Counts | None:
    """Return the counts that one line states, or None if it is no summary of a test run."""
    if len(line) > _LINE_MAX or not re.search(r"\d", line):
        return None
    small = line.lower()
    if not any(word in small for word in _STEMS) or COUNT["not_summary"].search(line):
        return None
    first, second = _pairs(COUNT["number_first"], line), _pairs(COUNT["word_first"], line)
    by_word = not line.lstrip(" \t#*=-[]|ℹ✔✘")[:1].isdigit()
    pairs = second if len(second) > len(first) or (len(second) == len(first) and by_word) else first
    if not pairs:
        return None
    return _judge(pairs, line, number)


def _pairs(pattern: re.Pattern[str], line: str) -> list[tuple[str, int]]:
    return [(match["word"].lower(), int(match["n"])) for match in pattern.finditer(line)]


def _judge(pairs: list[tuple[str, int]], line: str, number: int) -> Counts | None:
    sums: dict[str, int] = {}
    for word, count in pairs:
        name = _counted()[word]
        # The words for tests and for cases are totals of the same tests.
        if name != "total" or name not in sums:
            sums[name] = sums.get(name, 0) + count
    known = sums.keys()
    told = bool({"passed", "failed"} & known) or ("total" in known and bool({"errors", "skipped"} & known))
    alone = len(pairs) == 1 and bool(COUNT["alone"].match(line))
    is_summary = told if len(sums) > 1 else alone
    return replace(_counts(sums, number), alone=len(pairs) == 1) if is_summary else None


def _counts(sums: dict[str, int], number: int) -> Counts:
    return Counts(
        line=number,
        total=sums.get("total"),
        passed=sums.get("passed"),
        failed=sums.get("failed", 0),
        errors=sums.get("errors", 0),
        skipped=sums.get("skipped", 0),
        separates_errors="errors" in sums and "failed" in sums,
        classes=tuple(sums),
    )


_NEAR = 8


def _merged(summaries: list[Counts]) -> list[Counts]:
    result: list[Counts] = []
    for count in summaries:
        last = result[-1] if result else None
        if last is None or not (count.alone and last.alone) or count.line - last.line > _NEAR:
            result.append(count)
            continue
        total = count.total if last.total is None else last.total
        both = {"failed", "errors"} <= {*last.classes, *count.classes}
        passed = last.passed if count.passed is None else (last.passed or 0) + count.passed
        result[-1] = replace(
            count,
            total=total,
            passed=passed,
            failed=last.failed + count.failed,
            errors=last.errors + count.errors,
            skipped=last.skipped + count.skipped,
            separates_errors=last.separates_errors or count.separates_errors or both,
        )
    return [_completed(count) for count in result]


def _completed(count: Counts) -> Counts:
    if not count.alone or count.total is None or count.passed is None or count.bad:
        return count
    # uvu counts all and those that passed; what is missing has failed.
    missing = count.total - count.passed - count.skipped
    return replace(count, failed=missing) if missing > 0 else count


_TABLE_MAX = 6


def _row(log: Log, number: int) -> Counts | None:
    """Return the counts of a table whose heading is line `number`: CUnit's "Type Total Ran Passed Failed"."""
    words = re.findall(r"\w+", log.get(number).lower())
    for below in range(number + 1, min(number + _TABLE_MAX, log.stream_end(number))):
        row = COUNT["row"].match(log.get(below))
        if not row:
            continue
        cells = re.findall(r"[\d/\w-]+", row["cells"])
        names = [_counted().get(word, "") for word in words[-len(cells) :]]
        pairs = reversed(list(zip(names, cells, strict=False)))
        sums = {name: int(cell) for name, cell in pairs if cell.isdigit() and name}
        if len(names) != len(cells) or not {"passed", "failed"} & sums.keys():
            return None
        return _counts(sums, below)
    return None


def _headed(log: Log, number: int, line: str) -> Counts | None:
    if len(line) > _LINE_MAX:
        return None
    if "otal" in line and COUNT["table"].match(line):
        return _row(log, number)
    if " Summary " in line and COUNT["heading"].match(line):
        # DejaGnu's, without lines if nothing ran.
        counted = any(log.get(below).startswith("# of ") for below in range(number + 1, number + _TABLE_MAX))
        return None if counted else Counts(line=number, total=0, passed=0, runner="counts")
    return None


def find_counts(log: Log, owned: frozenset[int]) -> list[Counts]:
    """Return every summary of a log that no reader owns already, in order."""
    summaries = []
    for number, line in enumerate(log.lines):
        if number in owned or not line:
            continue
        counts = read_counts(line, number) or _headed(log, number, line)
        if counts is not None:
            summaries.append(counts)
    return [count for count in _merged(summaries) if count.tells_ran]
