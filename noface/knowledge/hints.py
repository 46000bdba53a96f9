"""The user's `[[failure_hints]]`: when a rule's conditions all hold, its hint goes into the prompt (N15).

Label, language, path and text cost little and are looked at first; the regular expression is searched for only
where they hold. The caller gives the search, since it has a time limit and the core has no clock.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.patterns import file_of, is_in, matches_any
from noface.model.quoting import one_line, some
from noface.model.taxonomy import FailureKind

SEARCHED_CHARS_MAX = 200_000
"""How much of an error's text is searched; what lies beyond is passed over."""
CONDITIONS = ("label", "language", "path", "error_pattern", "error_regex")
"""The conditions a rule can have, by the names they have in noface.toml, in the order they are looked at."""

_NAMES_MAX = 5
_LINE_MAX = 120
_TOO_SLOW = "the expression took too long on this failure; simplify it"


class Found(StrEnum):
    """What came of searching for a regular expression."""

    YES = "found"
    NO = "not found"
    TOO_SLOW = "took too long"


Search = Callable[[str, str], Found]
"""Searches for an expression (first) in a text (second) within a time limit."""


@dataclass(frozen=True, slots=True)
class HintRule:
    """A rule; empty conditions hold. `error_pattern` is literal, `path` a glob of what the attempt changed."""

    hint: str
    label: str = ""
    language: str = ""
    error_pattern: str = ""
    error_regex: str = ""
    path: str = ""

    @property
    def conditions(self) -> dict[str, str]:
        return {name: wanted for name in CONDITIONS if (wanted := str(getattr(self, name)))}


@dataclass(frozen=True, slots=True)
class ConditionExplained:
    """Whether one condition held, and why."""

    name: str
    wanted: str
    held: bool
    why: str


@dataclass(frozen=True, slots=True)
class MatchExplained:
    """What became of each of a rule's conditions that was looked at."""

    rule: HintRule
    conditions: Annotated[tuple[ConditionExplained, ...], "Those that were looked at."]

    @property
    def hint(self) -> Annotated[str, "Its text."]:
        return self.rule.hint

    @property
    def matched(self) -> Annotated[bool, "True if all conditions held."]:
        return all(condition.held for condition in self.conditions)

    @property
    def too_slow(self) -> bool:
        return any(condition.why == _TOO_SLOW for condition in self.conditions)


def explain(
    rule: HintRule,
    issue: Issue,
    failure: Failure | None,
    touched: tuple[str, ...],
    search: Search,
    *,
    every: bool = False,
) -> MatchExplained:
    """Say whether a rule matches, up to the first condition that fails unless `every` is wanted."""
    looked_at: list[ConditionExplained] = []
    for name, wanted in rule.conditions.items():
        held, why = _look(name, wanted, issue, failure, touched, search)
        looked_at.append(ConditionExplained(name, wanted, held, why))
        if not held and not every:
            break
    return MatchExplained(rule, tuple(looked_at))


def matched(
    rules: tuple[HintRule, ...], issue: Issue, failure: Failure | None, touched: tuple[str, ...], search: Search
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    matches = [explain(rule, issue, failure, touched, search) for rule in rules]
    hints = (match.rule.hint for match in matches if match.matched)
    return tuple(dict.fromkeys(hints)), slow_warnings(matches)


def slow_warnings(matches: list[MatchExplained]) -> tuple[str, ...]:
    slow = (number for number, match in enumerate(matches, 1) if match.too_slow)
    return tuple(f"hint {number}: its expression took too long on this failure; simplify it" for number in slow)


def searched_text(failure: Failure | None) -> str:
    if failure is None:
        return ""
    names = f"{failure.kind} (SyntaxError)" if failure.kind is FailureKind.SYNTAX_ERROR else failure.kind.value
    texts = (failure.message, names, *failure.evidence, *failure.failing_tests, failure.excerpt)
    return "\n".join(texts)[:SEARCHED_CHARS_MAX]


def _look(
    name: str, wanted: str, issue: Issue, failure: Failure | None, touched: tuple[str, ...], search: Search
) -> tuple[bool, str]:
    match name:
        case "label":
            return wanted in issue.labels, f"the issue's labels: {some(issue.labels, _NAMES_MAX) or 'none'}"
        case "language":
            location = file_of(failure.location) if failure is not None else ""
            paths = tuple(dict.fromkeys(path for path in (location, *touched, *issue.paths) if path))
            held = any(is_in(wanted, path) for path in paths)
            return held, f"the files concerned: {some(paths, _NAMES_MAX) or 'none'}"
        case "path":
            held = any(matches_any(path, (wanted,)) for path in touched)
            return held, f"the attempt changed: {some(touched, _NAMES_MAX) or 'nothing'}"
        case _ if failure is None:
            return False, "there is no failure yet"
        case "error_regex":
            found = search(wanted, searched_text(failure))
            told = {
                Found.YES: "the error matches it",
                Found.NO: "the error does not match it",
                Found.TOO_SLOW: _TOO_SLOW,
            }
            return found is Found.YES, told[found]
        case _:
            text = searched_text(failure)
            at = text.find(wanted)
            line = text[text.rfind("\n", 0, at) + 1 : at + _LINE_MAX].partition("\n")[0]
            return at >= 0, f"the error says: {one_line(line, _LINE_MAX)}" if at >= 0 else "the error does not hold it"
