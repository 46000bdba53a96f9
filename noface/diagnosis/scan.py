"""Applies the tables of rules to a log: what failed, and the names of failing tests."""

import re

from noface.data import Patterns
from noface.diagnosis.context import Context
from noface.diagnosis.evidence import Finding, Reading
from noface.diagnosis.exceptions import exception_kind, is_own_module
from noface.diagnosis.places import place_near, place_of
from noface.diagnosis.rules import NameRule, Rule, rule_book
from noface.diagnosis.text import Log
from noface.model.taxonomy import FailureKind

_SCAN = Patterns("scan")

_PER_RULE_MAX = 40
_HEADING_MAX = 200


def scan(rules: tuple[Rule, ...], log: Log, context: Context, owned: frozenset[int]) -> list[Finding]:
    """Return every rule's findings on lines that no reader owns, at most a few dozen a rule."""
    findings: list[Finding] = []
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
            findings.append(_finding(rule, match, number, log, context))
            count += 1
            if count >= _PER_RULE_MAX:
                break
    return findings


def _candidates(rule: Rule, log: Log) -> list[int]:
    held = [literal for literal in rule.needs if log.may_hold(literal)]
    if len(held) == 1:
        return list(log.lines_with(held[0]))
    return sorted({number for literal in held for number in log.lines_with(literal)})


def _is_quoted(match: re.Match[str], rule: Rule) -> bool:
    """Tell whether a line only compares or quotes the words: the two sides of a failed expectation prove nothing."""
    if rule.kind is FailureKind.TEST_FAILURE or rule.quotes:
        return False
    if _SCAN["expectation"].match(match.string):
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


NAMES_MAX = 200
_NAME_MAX = 300


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
        names = _numbered(log, owned) if source is None else _by_rules(source, log, owned)
        if names:
            return _unique([names[number] for number in sorted(names)])
    return ()


def _unique(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name[:_NAME_MAX] for name in names))[:NAMES_MAX]


def _by_rules(rules: tuple[NameRule, ...], log: Log, owned: frozenset[int]) -> dict[int, str]:
    names: dict[int, str] = {}
    for rule in rules:
        for literal in rule.needs:
            if not log.may_hold(literal):
                continue
            for number in log.lines_with(literal):
                match = rule.regex.match(log.get(number)) if number not in owned and number not in names else None
                if match and rule.below:
                    framed = match.string.startswith("---")
                    if not framed or log.get(number + 2) == match.string:
                        names[number] = log.get(number + 1).strip()
                    continue
                parts = {key: (value or "").strip() for key, value in match.groupdict().items()} if match else {}
                if parts.get("test"):
                    names[number] = rule.join.format(**parts)
    return names


def _numbered(log: Log, owned: frozenset[int]) -> dict[int, str]:
    """Read the list "1) suite / test:" that mocha, jasmine, rspec end with; deeper lines continue a title."""
    names: dict[int, str] = {}
    if "1) " not in log.text:
        return names
    start = next(
        (n for n in reversed(list(log.lines_with("1) "))) if log.get(n).lstrip().startswith("1) ") and n not in owned),
        -1,
    )
    if start < 0:
        return names
    for number in range(start, log.stream_end(start)):
        match = _SCAN["numbered"].match(log.get(number)) if number not in owned else None
        if match:
            names[number] = " ".join(
                [match["test"], *_title(log, number, len(match["indent"]), done=bool(match["colon"]))]
            )
    return names


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
