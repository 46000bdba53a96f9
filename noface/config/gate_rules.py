"""Checks `[[gate_rules]]` against their examples. It looks at raw tables: any type may stand anywhere."""

from collections.abc import Iterator, Mapping
from typing import Any

from noface.config.problems import Problem
from noface.config.tables import tables_of

_SECONDS_MAX = 0.2
_TIMES = 40
_CHARACTERS_MAX = 20


def gate_rule_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the rules whose pattern does not match their example, or can take for ever."""
    for index, rule in enumerate(tables_of(data.get("gate_rules"))):
        pattern, example = rule.get("pattern"), rule.get("example")
        if not isinstance(pattern, str) or not isinstance(example, str) or not pattern.strip() or not example.strip():
            continue
        message = _fault(pattern, example)
        if message:
            yield Problem(("gate_rules", index, "pattern"), message)


def _fault(pattern: str, example: str) -> str:
    """Return what is wrong with a pattern; nothing where it is no expression at all, which its own check reports."""
    import regex

    try:
        compiled = regex.compile(pattern, flags=regex.MULTILINE)
    except regex.error:
        return ""
    try:
        if compiled.search(example, timeout=_SECONDS_MAX) is None:
            return "expected a pattern that matches the rule's own example, and it does not"
        if compiled.search("", timeout=_SECONDS_MAX) is not None:
            return "expected a pattern that needs some text; it matches an empty line, so it would name every failure"
        for text in _trying(example):
            compiled.search(text, timeout=_SECONDS_MAX)
    except TimeoutError:
        return (
            "it can take for ever: text like its example, only longer, keeps it busy; expected no repetition within"
            " a repetition, such as (a+)+ or (a|aa)*"
        )
    return ""


def _trying(example: str) -> Iterator[str]:
    """Yield texts that are nearly like the example, on which a pattern that tries every way never ends."""
    yield example * _TIMES + "\0"
    for character in dict.fromkeys(example[:_CHARACTERS_MAX]):
        yield character * _TIMES * 2 + "\0"
