"""Collects the names of failing tests: from the report, from a runner's reader, else from lines that name one."""

from noface.core.classify.families import NAME_RULES
from noface.core.classify.rules import Reading
from noface.core.classify.text import Log

NAMES_MAX = 200
_NAME_MAX = 300


def failing_names(log: Log, readings: list[Reading], owned: frozenset[int]) -> tuple[str, ...]:
    """The names, each once, in the order of the best source that has any."""
    for reading in readings:
        if reading.failing:
            return tuple(dict.fromkeys(name[:_NAME_MAX] for name in reading.failing))[:NAMES_MAX]
    found: dict[int, str] = {}
    for rule in NAME_RULES:
        for literal in rule.needs:
            if literal not in log.text:
                continue
            for number in log.lines_with(literal):
                match = rule.regex.match(log.get(number)) if number not in owned and number not in found else None
                if match and match["test"].strip():
                    found[number] = rule.join.format(**{k: (v or "").strip() for k, v in match.groupdict().items()})[:_NAME_MAX]
    return tuple(dict.fromkeys(found[number] for number in sorted(found)))[:NAMES_MAX]
