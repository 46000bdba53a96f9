"""Applies rules to a log: the tables', which say what failed and name the failing tests, and the project's own."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from noface.data import Patterns
from noface.diagnosis.context import Context
from noface.diagnosis.evidence import Lost, Reading, RuleMatch
from noface.diagnosis.places import exception_kind, is_own_module, place_near, place_of
from noface.diagnosis.rules import Level, LineRule, NameRule, rule_book
from noface.diagnosis.text import Log
from noface.model.failure import OF_PROJECT, is_of_project
from noface.model.taxonomy import FailureKind


class NoMatch(Enum):
    """Why a pattern has no match."""

    ABSENT = "not in the text"
    TOO_SLOW = "took too long"


PatternMatch = tuple[int, str | None, str | None]
"""Where a pattern matches a text, and its groups `file` and `line`."""
PatternSearch = Callable[[str, str], PatternMatch | NoMatch]
"""Searches for an expression (first) in a text (second), line by line, within a time limit: the core has no clock."""


@dataclass(frozen=True, slots=True)
class ProjectRules:
    """The entries of `[[gate_rules]]`, which need no literals, and what searches for their patterns."""

    rules: tuple[LineRule, ...]
    search: PatternSearch


def rule_id(rule: LineRule) -> str:
    return f"{OF_PROJECT}{rule.name}"


def scan_project(project: ProjectRules, log: Log, context: Context) -> tuple[list[RuleMatch], list[Lost]]:
    """Return the first match of each rule, even in what a reader has explained, and the rules that took too long."""
    findings, skipped = [], []
    for rule in project.rules:
        match project.search(rule.pattern, log.text):
            case NoMatch.TOO_SLOW:
                why = "its pattern took too long on this output; simplify it in [[gate_rules]]"
                skipped.append((rule_id(rule), "", why))
            case NoMatch.ABSENT:
                pass
            case (start, file, line):
                number = log.line_at(start)
                place = (place_of(file, line, context.repo) if file else None) or place_near(log, number, context.repo)
                name, even = rule_id(rule), rule.even_in_tests
                findings.append(RuleMatch(name, rule.kind, Level.DIAGNOSTIC, number, place, even_in_tests=even))
    return findings, skipped


def decisive(findings: Sequence[RuleMatch], *, tests_failed: bool) -> list[RuleMatch]:
    """Return the project's findings that win: over what is no stronger, and over all if they count even in tests."""
    stronger = tests_failed or any(f.level > Level.DIAGNOSTIC for f in findings)
    return [f for f in findings if is_of_project(f.rule) and (f.even_in_tests or not stronger)]


_SCAN = Patterns("scan")

_PER_RULE_MAX = 40
_HEADING_MAX = 200


_LONG = 400
_WORK_MAX = 400_000_000
"""So much may the rules cost over long lines of one log, a line its length squared: a hundred tries of the longest."""


class _Lines:
    """The lines of a log; of long ones the beginning, once they cost too much: a pattern may take their square."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._left = _WORK_MAX

    def get(self, number: int) -> str:
        line = self._log.get(number)
        if len(line) > _LONG:
            self._left -= len(line) ** 2
        return line if self._left >= 0 else line[:_LONG]


def scan(rules: tuple[LineRule, ...], log: Log, context: Context, owned: frozenset[int]) -> list[RuleMatch]:
    """Return every rule's findings on lines that no reader owns, at most a few dozen a rule."""
    findings: list[RuleMatch] = []
    lines = _Lines(log)
    for rule in rules:
        if (rule.tools and not context.tools & set(rule.tools)) or (rule.code and context.exit_code not in rule.code):
            continue
        count = 0
        for number in sorted({number for literal in rule.needs for number in log.lines_with(literal)}):
            match = rule.regex.search(lines.get(number)) if number not in owned else None
            if match and not _is_quoted(match, rule):
                findings.append(_rule_finding(rule, match, number, log, context))
                count += 1
                if count >= _PER_RULE_MAX:
                    break
    return findings


def _is_quoted(match: re.Match[str], rule: LineRule) -> bool:
    """True if a line only compares or quotes the words, or is the title of a test that passed."""
    if _SCAN["passed"].match(match.string):
        return True
    if rule.kind is FailureKind.TEST_FAILURE or rule.quotes:
        return False
    if _SCAN["expectation"].match(match.string):
        return True
    start = match.start()
    # After an odd number of quotes the words stand in a text that is printed, such as a term of Erlang's.
    return start > 0 and match.string[:start].count('"') % 2 == 1


def _under_heading(log: Log, number: int, row: str, context: Context) -> str | None:
    for above in range(number - 1, max(log.stream_start(number), number - _HEADING_MAX) - 1, -1):
        name = log.get(above).strip().removeprefix("FILE: ")
        if name and " " not in name and ("." in name or "/" in name):
            return place_of(name, row, context.repo)
    return None


def _rule_finding(rule: LineRule, match: re.Match[str], number: int, log: Log, context: Context) -> RuleMatch:
    groups = match.groupdict()
    kind = rule.kind
    if groups.get("exc"):
        kind = exception_kind(groups["exc"], groups.get("msg") or "", context.repo)
    if rule.own_kind is not None:
        dep = next((value for name, value in groups.items() if name.startswith("dep") and value), "")
        # A file that the gate's command names and that is not there is no module of the project's.
        named = dep.rsplit("/", 1)[-1] in context.named_files or dep in context.command.split()
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
    test = groups.get("test")
    return RuleMatch(rule.name, kind, rule.level, key, location, test, rule.even_in_tests, rule.only_in_tests)


NAMES_MAX = 200
_NAME_MAX = 300


_TITLE_LINES_MAX = 8


def failing_names(log: Log, readings: list[Reading], owned: frozenset[int]) -> tuple[str, ...]:
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
    lines = _Lines(log)
    for rule in rules:
        for literal in rule.needs:
            for number in log.lines_with(literal):
                free = number not in owned and number not in names
                match = rule.regex.match(lines.get(number)) if free else None
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
    names: dict[int, str] = {}
    if "1) " not in log.text:
        return names
    ones = (n for n in reversed(list(log.lines_with("1) "))) if log.get(n).lstrip().startswith("1) "))
    start = next((n for n in ones if n not in owned), -1)
    if start < 0:
        return names
    for number in range(start, log.stream_end(start)):
        match = _SCAN["numbered"].match(log.get(number)) if number not in owned else None
        if match:
            more = [] if match["colon"] else _title(log, number, len(match["indent"]))
            names[number] = " ".join([match["test"], *more])
    return names


def _title(log: Log, number: int, indent: int) -> list[str]:
    more: list[str] = []
    for below in range(number + 1, min(number + _TITLE_LINES_MAX, log.stream_end(number))):
        line = log.get(below)
        if not line.strip() or len(line) - len(line.lstrip()) <= indent:
            return []
        more.append(line.strip().removesuffix(":"))
        if line.endswith(":") and not re.match(r"\s*(?:Failure/Error|Message|Stack|Error|Failure)", line):
            return more
    return []
