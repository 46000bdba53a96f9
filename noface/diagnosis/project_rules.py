"""The project's own `[[gate_rules]]`: they name a failure that no table knows, or name it better.

They explain a red gate and nothing else: a gate that passed or ran out of time is never asked for them, and a gate
whose failure they name is not one of which only known tests fail (baseline "only-new").
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from noface.diagnosis.context import Context
from noface.diagnosis.evidence import AlsoMatched, Finding
from noface.diagnosis.places import place_near, place_of
from noface.diagnosis.rules import Level
from noface.diagnosis.text import Log
from noface.model.taxonomy import FailureKind

_MARK = "project:"


class NoMatch(Enum):
    """Why a pattern has no match."""

    ABSENT = "not in the text"
    TOO_SLOW = "took too long"


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """Where a pattern matches a text, and its groups `file` and `line`."""

    start: int
    file: str | None = None
    line: str | None = None


PatternSearch = Callable[[str, str], PatternMatch | NoMatch]
"""Searches for an expression (first) in a text (second), line by line, within a time limit: the core has no clock."""


@dataclass(frozen=True, slots=True)
class ProjectRule:
    """An entry of `[[gate_rules]]`. `even_in_tests`: it counts also where tests ran and failed."""

    name: str
    kind: FailureKind
    pattern: str
    even_in_tests: bool = False


@dataclass(frozen=True, slots=True)
class ProjectRules:
    """The project's rules and what searches for them."""

    rules: tuple[ProjectRule, ...]
    search: PatternSearch


def rule_id(rule: ProjectRule) -> str:
    """Return a rule's name as verdicts have it: marked, so that it is never taken for one of noface's."""
    return f"{_MARK}{rule.name}"


def is_of_project(rule: str) -> bool:
    """Tell whether a verdict's rule is one of `[[gate_rules]]`."""
    return rule.startswith(_MARK)


def scan_project(project: ProjectRules, log: Log, context: Context) -> tuple[list[Finding], list[AlsoMatched]]:
    """Return the first match of each rule, and the rules that could not be tried.

    They see every line, also those that a reader has explained: the project says what its own output means.
    """
    findings, skipped = [], []
    for rule in project.rules:
        match project.search(rule.pattern, log.text):
            case PatternMatch() as match:
                findings.append(_finding(rule, match, log, context))
            case NoMatch.TOO_SLOW:
                why = "its pattern took too long on this output; simplify it in [[gate_rules]]"
                skipped.append(AlsoMatched(rule_id(rule), "", why))
            case NoMatch.ABSENT:
                pass
    return findings, skipped


def _finding(rule: ProjectRule, match: PatternMatch, log: Log, context: Context) -> Finding:
    number = log.line_at(match.start)
    location = place_of(match.file, match.line, context.repo) if match.file else None
    return Finding(
        rule_id(rule),
        rule.kind,
        Level.DIAGNOSTIC,
        number,
        location or place_near(log, number, context.repo),
        even_in_tests=rule.even_in_tests,
    )


def decisive(findings: Sequence[Finding], *, tests_failed: bool) -> list[Finding]:
    """Return the project's findings that win: over all evidence that is no stronger, and over all if they say so.

    A runner's own account of its tests is stronger than a rule without `even_in_tests`.
    """
    stronger = tests_failed or any(f.level > Level.DIAGNOSTIC for f in findings)
    return [f for f in findings if is_of_project(f.rule) and (f.even_in_tests or not stronger)]
