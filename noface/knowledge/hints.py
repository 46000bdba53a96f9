"""The user's `[[failure_hints]]`: when a rule's conditions all hold, its hint goes into the prompt (N15).

Label, language, path and text cost little and are looked at first; the regular expression is searched for only
where they hold. The caller gives the search, since it has a time limit and the core has no clock.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

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


class Found(StrEnum):
    """What came of searching for a regular expression."""

    YES = "found"
    NO = "not found"
    TOO_SLOW = "took too long"


Search = Callable[[str, str], Found]
"""Searches for an expression (first) in a text (second) within a time limit."""


@dataclass(frozen=True, slots=True)
class HintRule:
    """One rule; empty conditions always hold. `error_pattern` is literal text, `error_regex` an expression.

    `path` is a glob: the failing attempt changed such a file.
    """

    hint: str
    label: str = ""
    language: str = ""
    error_pattern: str = ""
    error_regex: str = ""
    path: str = ""

    @property
    def conditions(self) -> dict[str, str]:
        """The conditions it has, by name."""
        return {name: wanted for name in CONDITIONS if (wanted := str(getattr(self, name)))}


@dataclass(frozen=True, slots=True)
class ConditionExplained:
    """Whether one condition held, and why. `too_slow`: its expression ran into the time limit."""

    name: str
    wanted: str
    held: bool
    why: str
    too_slow: bool = False


@dataclass(frozen=True, slots=True)
class MatchExplained:
    """What became of each of a rule's conditions."""

    rule: HintRule
    conditions: tuple[ConditionExplained, ...]

    @property
    def matched(self) -> bool:
        """True if all conditions held."""
        return all(condition.held for condition in self.conditions)

    @property
    def too_slow(self) -> bool:
        """True if an expression ran into the time limit, so that nobody knows whether it matches."""
        return any(condition.too_slow for condition in self.conditions)


def explain(
    rule: HintRule, issue: Issue, failure: Failure | None, touched: tuple[str, ...], search: Search
) -> MatchExplained:
    """Say of every condition whether it held; `touched` are the files that the failing attempt changed."""
    return MatchExplained(rule, tuple(_looked_at(rule, issue, failure, touched, search)))


def holds(
    rule: HintRule, issue: Issue, failure: Failure | None, touched: tuple[str, ...], search: Search
) -> MatchExplained:
    """Say whether a rule matches; looks no further than its first condition that does not hold."""
    looked_at: list[ConditionExplained] = []
    for condition in _looked_at(rule, issue, failure, touched, search):
        looked_at.append(condition)
        if not condition.held:
            break
    return MatchExplained(rule, tuple(looked_at))


def matched(
    rules: tuple[HintRule, ...], issue: Issue, failure: Failure | None, touched: tuple[str, ...], search: Search
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the hints for an issue's next prompt, without repeats, and what a person should know about the rules."""
    hints, warnings = [], []
    for number, rule in enumerate(rules, 1):
        match = holds(rule, issue, failure, touched, search)
        if match.matched:
            hints.append(rule.hint)
        elif match.too_slow:
            warnings.append(slow_warning(number))
    return tuple(dict.fromkeys(hints)), tuple(warnings)


def slow_warning(number: int) -> str:
    """Return what a person is told of a rule (by its number in noface.toml, from 1) that ran into the time limit."""
    return f"hint {number}: its expression took too long on this failure; simplify it"


def searched_text(failure: Failure | None) -> str:
    """Return the text in which patterns are looked for: message, kind, evidence, tests, excerpt, up to a limit.

    The kind stands for the word that a message may lack: not every parser says SyntaxError.
    """
    if failure is None:
        return ""
    names = f"{failure.kind} (SyntaxError)" if failure.kind is FailureKind.SYNTAX_ERROR else failure.kind.value
    texts = (failure.message, names, *failure.evidence, *failure.failing_tests, failure.excerpt)
    return "\n".join(texts)[:SEARCHED_CHARS_MAX]


def _looked_at(
    rule: HintRule, issue: Issue, failure: Failure | None, touched: tuple[str, ...], search: Search
) -> Iterator[ConditionExplained]:
    """Yield what becomes of each condition, the cheap ones first."""
    if rule.label:
        yield _label(rule.label, issue)
    if rule.language:
        yield _language(rule.language, issue, failure, touched)
    if rule.path:
        yield _path(rule.path, touched)
    if rule.error_pattern:
        yield _pattern(rule.error_pattern, failure)
    if rule.error_regex:
        yield _regex(rule.error_regex, failure, search)


def _label(wanted: str, issue: Issue) -> ConditionExplained:
    if wanted in issue.labels:
        return ConditionExplained("label", wanted, held=True, why="the issue has it")
    why = f"the issue's labels are {some(issue.labels, _NAMES_MAX)}" if issue.labels else "the issue has no labels"
    return ConditionExplained("label", wanted, held=False, why=why)


def _language(wanted: str, issue: Issue, failure: Failure | None, touched: tuple[str, ...]) -> ConditionExplained:
    location = file_of(failure.location) if failure is not None else ""
    paths = tuple(dict.fromkeys(path for path in (location, *touched, *issue.paths) if path))
    spoken = next((path for path in paths if is_in(wanted, path)), None)
    if spoken is not None:
        return ConditionExplained("language", wanted, held=True, why=f"{one_line(spoken, _LINE_MAX)} is in it")
    why = f"none of the files concerned is in it: {some(paths, _NAMES_MAX)}" if paths else "no file is known"
    return ConditionExplained("language", wanted, held=False, why=why)


def _path(wanted: str, touched: tuple[str, ...]) -> ConditionExplained:
    meant = next((path for path in touched if matches_any(path, (wanted,))), None)
    if meant is not None:
        return ConditionExplained("path", wanted, held=True, why=f"the attempt changed {one_line(meant, _LINE_MAX)}")
    why = f"the attempt changed only {some(touched, _NAMES_MAX)}" if touched else "the attempt changed nothing"
    return ConditionExplained("path", wanted, held=False, why=why)


def _pattern(wanted: str, failure: Failure | None) -> ConditionExplained:
    text = searched_text(failure)
    at = text.find(wanted)
    if failure is None or at < 0:
        return ConditionExplained("error_pattern", wanted, held=False, why=_missing(failure, "contain this text"))
    line = text[text.rfind("\n", 0, at) + 1 : at + _LINE_MAX].split("\n", 1)[0]
    why = f"the error says: {one_line(line, _LINE_MAX)}"
    return ConditionExplained("error_pattern", wanted, held=True, why=why)


def _regex(wanted: str, failure: Failure | None, search: Search) -> ConditionExplained:
    answer = search(wanted, searched_text(failure)) if failure is not None else Found.NO
    match answer:
        case Found.YES:
            return ConditionExplained("error_regex", wanted, held=True, why="the error matches it")
        case Found.NO:
            return ConditionExplained("error_regex", wanted, held=False, why=_missing(failure, "match it"))
        case Found.TOO_SLOW:
            why = "the expression took too long on this failure; simplify it"
            return ConditionExplained("error_regex", wanted, held=False, why=why, too_slow=True)


def _missing(failure: Failure | None, what: str) -> str:
    return "there is no failure yet" if failure is None else f"the error does not {what}"
