"""Searches a gate's output for the pattern of a `[[gate_rules]]`, within a time limit (library `regex`)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from noface.diagnosis.scan import NoMatch, PatternMatch, ProjectRule, ProjectRules
from noface.model.taxonomy import FailureKind

if TYPE_CHECKING:
    from noface.config.sections import GateRule

_SECONDS_MAX = 1.0


def project_rules(entries: "Sequence[GateRule]") -> ProjectRules | None:
    """Return `[[gate_rules]]` with what searches for them; None where there are none."""
    rules = tuple(ProjectRule(e.name, FailureKind(e.kind), e.pattern, e.even_in_tests) for e in entries)
    return ProjectRules(rules, search) if rules else None


def search(pattern: str, text: str) -> PatternMatch | NoMatch:
    """Return the first match; `^` and `$` mean the ends of a line."""
    import regex

    try:
        match = regex.search(pattern, text, flags=regex.MULTILINE, timeout=_SECONDS_MAX)
    except TimeoutError:
        return NoMatch.TOO_SLOW
    if match is None:
        return NoMatch.ABSENT
    groups = match.groupdict()
    return PatternMatch(match.start(), groups.get("file"), groups.get("line"))
