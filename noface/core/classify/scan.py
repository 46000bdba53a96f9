"""Applies the tables of rules to a log."""

# ruff: noqa: E501 - a pattern is kept in one piece

import re

from noface.core.classify.context import Context
from noface.core.classify.dependency import is_own_module
from noface.core.classify.exceptions import exception_kind
from noface.core.classify.places import place_of
from noface.core.classify.rules import Finding, Rule
from noface.core.classify.text import Log
from noface.core.classify.trace import place_near
from noface.core.taxonomy import FailureKind

_PER_RULE_MAX = 40
_HEADING_MAX = 200


def scan(rules: tuple[Rule, ...], log: Log, context: Context, owned: frozenset[int]) -> list[Finding]:
    """Every rule's findings on lines that no reader owns, at most a few dozen a rule."""
    found: list[Finding] = []
    for rule in rules:
        if (rule.tools and not context.tools & set(rule.tools)) or (rule.code and context.exit_code not in rule.code):
            continue
        count = 0
        for number in _candidates(rule, log):
            if number in owned:
                continue
            match = rule.regex.search(log.get(number))
            if not match or _is_quoted(match, rule):
                continue
            found.append(_finding(rule, match, number, log, context))
            count += 1
            if count >= _PER_RULE_MAX:
                break
    return found


def _candidates(rule: Rule, log: Log) -> list[int]:
    held = [literal for literal in rule.needs if log.may_hold(literal)]
    if len(held) == 1:
        return list(log.lines_with(held[0]))
    return sorted({number for literal in held for number in log.lines_with(literal)})


_EXPECTATION = re.compile(
    r"^(?:E )?\s*(?:(?:expected|got|actual|Expected|Received|Actual|left|right|want|wanted|was|but got|but was|reason|code|to equal|exp|act)\s*:\s"
    r"|[-+] +\S|Failure/Error: |assert\b|- *:?expected|\+ *:?got)"
)


def _is_quoted(match: re.Match[str], rule: Rule) -> bool:
    """Whether a line only compares or quotes the words: the two sides of a failed expectation prove nothing."""
    if rule.kind is FailureKind.TEST_FAILURE or rule.quotes:
        return False
    if _EXPECTATION.match(match.string):
        return True
    start = match.start()
    return start > 0 and match.string[:start].count('"') % 2 == 1


def _under_heading(log: Log, number: int, row: str, context: Context) -> str | None:
    """`file:row` where the file stands alone on a line above, as eslint, yamllint and phpcs print it."""
    for above in range(number - 1, max(log.stream_start(number), number - _HEADING_MAX) - 1, -1):
        name = log.get(above).strip().removeprefix("FILE: ")
        if name and " " not in name and ("." in name or "/" in name):
            return place_of(name, row, context.repo)
    return None


def _finding(rule: Rule, match: re.Match[str], number: int, log: Log, context: Context) -> Finding:
    groups = match.groupdict()
    kind = rule.kind
    if groups.get("exc"):
        kind = exception_kind(groups["exc"], groups.get("msg") or "", context.repo)
    if rule.own_kind is not None:
        dep = next((value for name, value in groups.items() if name.startswith("dep") and value), "")
        named = dep.rsplit("/", 1)[-1] in context.named_files
        if dep and not named and is_own_module(dep, context.repo):
            kind = rule.own_kind
    location = None
    if groups.get("file"):
        location = place_of(groups["file"], groups.get("line"), context.repo)
    if location is None and groups.get("row"):
        location = _under_heading(log, number, groups["row"], context)
    if location is None and kind is not FailureKind.NO_TESTS:
        location = place_near(log, number, context.repo)
    key = number + 1 if rule.below and log.get(number).endswith(":") and log.get(number + 1).strip() else number
    return Finding(
        rule.name, kind, rule.level, key, location, groups.get("test"), rule.even_in_tests, rule.only_in_tests
    )
