"""Collects the names of failing tests: from the report, from a runner's reader, else from lines that name one."""

import re

from noface.core.classify.rules import NameRule, Reading, rule_book
from noface.core.classify.text import Log

NAMES_MAX = 200
_NAME_MAX = 300


_NUMBERED = re.compile(r"^(?P<indent> {0,6})\d+\) (?P<test>\S.*?)(?P<colon>:?)$")
_TITLE_LINES_MAX = 8


def failing_names(log: Log, readings: list[Reading], owned: frozenset[int]) -> tuple[str, ...]:
    """Return the names, each once: the log's, as people know them, unless the report has more."""
    reported = next((reading.failing for reading in readings if reading.runner == "report"), ())
    from_log = _from_log(log, readings, owned)
    return from_log if len(from_log) >= len(reported) else _unique(list(reported))


def _from_log(log: Log, readings: list[Reading], owned: frozenset[int]) -> tuple[str, ...]:
    for reading in readings:
        if reading.failing and reading.runner != "report":
            return _unique(list(reading.failing))
    book = rule_book()
    for source in (book.test_names, None, book.loose_test_names):
        found = _numbered(log, owned) if source is None else _by_rules(source, log, owned)
        if found:
            return _unique([found[number] for number in sorted(found)])
    return ()


def _unique(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name[:_NAME_MAX] for name in names))[:NAMES_MAX]


def _by_rules(rules: tuple[NameRule, ...], log: Log, owned: frozenset[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for rule in rules:
        for literal in rule.needs:
            if not log.may_hold(literal):
                continue
            for number in log.lines_with(literal):
                match = rule.regex.match(log.get(number)) if number not in owned and number not in found else None
                if match and rule.below:
                    framed = match.string.startswith("---")
                    if not framed or log.get(number + 2) == match.string:
                        found[number] = log.get(number + 1).strip()
                    continue
                parts = {key: (value or "").strip() for key, value in match.groupdict().items()} if match else {}
                if parts.get("test"):
                    found[number] = rule.join.format(**parts)
    return found


def _numbered(log: Log, owned: frozenset[int]) -> dict[int, str]:
    """Read the list "1) suite / test:" that mocha, jasmine, rspec end with; deeper lines continue a title."""
    found: dict[int, str] = {}
    if "1) " not in log.text:
        return found
    start = next(
        (n for n in reversed(list(log.lines_with("1) "))) if log.get(n).lstrip().startswith("1) ") and n not in owned),
        -1,
    )
    if start < 0:
        return found
    for number in range(start, log.stream_end(start)):
        match = _NUMBERED.match(log.get(number)) if number not in owned else None
        if match:
            found[number] = " ".join(
                [match["test"], *_title(log, number, len(match["indent"]), done=bool(match["colon"]))]
            )
    return found


def _title(log: Log, number: int, indent: int, *, done: bool) -> list[str]:
    more: list[str] = []
    if done:
        return more
    for below in range(number + 1, min(number + _TITLE_LINES_MAX, log.stream_end(number))):
        line = log.get(below)
        if not line.strip() or len(line) - len(line.lstrip()) <= indent:
            return []
        more.append(line.strip().removesuffix(":"))
        if line.endswith(":") and not re.match(r"\s*(?:Failure/Error|Message|Stack|Error|Failure)", line):
            return more
    return []
