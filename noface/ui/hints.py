"""The pages of `noface config hints`: the rules and what they match, proposals for new ones, and lessons of recoveries.

The page of proposals is TOML: what explains them stands in comments.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from noface.config.edit import hint_toml
from noface.knowledge.hint_mining import HintProposal, PastFailure
from noface.knowledge.hints import HintRule, MatchExplained, Search, holds, slow_warning
from noface.knowledge.lessons import ControlGroup, Lesson, lift
from noface.model.attempt import PastAttempt
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind
from noface.ui.page import paint, painted
from noface.ui.text import clean, clean_block, count, fit, hanging

_MESSAGE_MAX = 300
_ISSUES_MAX = 8
_FAILURES_MAX = 8


@dataclass(frozen=True, slots=True)
class ListedHint:
    """A hint of noface.toml, and how many recorded failures it matches."""

    number: int
    hint: str
    conditions: Mapping[str, str]
    matched: int
    issues: tuple[str, ...]
    too_slow: int


@dataclass(frozen=True, slots=True)
class HintList:
    """What `noface config hints list --json` prints."""

    file: str
    hints: tuple[ListedHint, ...]
    failures: int
    warnings: tuple[str, ...]


def list_document(
    file: str, rules: tuple[HintRule, ...], failures: tuple[PastFailure, ...], search: Search
) -> HintList:
    """Return the document of `noface config hints list`."""
    hints = tuple(_listed(number, rule, failures, search) for number, rule in enumerate(rules, 1))
    warnings = tuple(slow_warning(hint.number) for hint in hints if hint.too_slow)
    return HintList(file, hints, len(failures), warnings)


def list_page(document: HintList, width: int) -> list[str]:
    """Return the lines of the list."""
    hints, file = document.hints, clean(document.file)
    if not hints:
        return [
            f"{file} has no [[failure_hints]].",
            "Add one: noface config hints add. Let noface propose some: noface config hints suggest",
        ]
    heading = f"{count(len(hints), 'hint')} in {file}; {count(document.failures, 'failure')} recorded"
    lines = [paint(heading, "title")]
    for hint in hints:
        lines += ["", *condition_lines(hint.conditions, width, f"{hint.number}  ")]
        lines += hanging(hint.hint, width, "   → ")
        lines.append(paint(f"   {_matched(hint)}", "quiet"))
    return [*lines, *warning_lines(document.warnings, width)]


def match_document(issue: Issue, attempt: PastAttempt | None, matches: Sequence[MatchExplained]) -> dict[str, object]:
    """Return what `noface config hints test --json` prints; `attempt` is the failed one, None if there is none."""
    failure = attempt.failure if attempt is not None else None
    return {
        "id": issue.id,
        "attempt": attempt.number if attempt is not None else None,
        "failure": None if failure is None else {"kind": failure.kind, "message": failure.message[:_MESSAGE_MAX]},
        "hints": [
            {"number": number, "hint": match.rule.hint, "matched": match.matched, "conditions": match.conditions}
            for number, match in enumerate(matches, 1)
        ],
        "warnings": _slow(matches),
    }


def match_page(issue: Issue, attempt: PastAttempt | None, matches: Sequence[MatchExplained], width: int) -> list[str]:
    """Return the lines of a test."""
    issue_id = clean(issue.id)
    if attempt is None or attempt.failure is None:
        lines = hanging(f"Issue {issue_id} has not failed: only conditions on the issue itself can hold.", width)
    else:
        message = attempt.failure.message[:_MESSAGE_MAX]
        head = f"Issue {issue_id}, attempt {attempt.number}: {attempt.failure.kind}: {message}"
        lines = painted(hanging(head, width, rest="  ", rows_max=4), "title")
    if not matches:
        lines += ["", "There are no [[failure_hints]] to try. To add one: noface config hints add"]
    for number, match in enumerate(matches, 1):
        verdict = paint("matches", "good") if match.matched else paint("does not match", "careful")
        lines += ["", f"{number}  {verdict}", *hanging(match.rule.hint, width, "   → ")]
        for condition in match.conditions:
            mark = "yes" if condition.held else "no "
            text = f"{condition.name} {_quoted(condition.wanted)}: {condition.why}"
            lines += hanging(text, width, f"   {mark}  ")
    return [*lines, *warning_lines(_slow(matches), width)]


def _slow(matches: Sequence[MatchExplained]) -> list[str]:
    return [slow_warning(number) for number, match in enumerate(matches, 1) if match.too_slow]


def _listed_failures(failures: Sequence[PastFailure]) -> list[dict[str, object]]:
    return [
        {
            "issue": past.issue.id,
            "attempt": past.number,
            "kind": past.failure.kind,
            "message": past.failure.message[:_MESSAGE_MAX],
        }
        for past in failures
    ]


def _failure_lines(failures: Sequence[PastFailure], width: int, indent: str) -> Iterator[str]:
    """Yield the first of the recorded failures, a line each, and how many more there are."""
    for past in failures[:_FAILURES_MAX]:
        message = past.failure.message[:_MESSAGE_MAX]
        yield fit(indent + clean(f"{past.issue.id} attempt {past.number}: {past.failure.kind}: {message}"), width)
    if len(failures) > _FAILURES_MAX:
        yield f"{indent}and {len(failures) - _FAILURES_MAX} more"


def condition_lines(conditions: Mapping[str, str], width: int, first: str) -> Iterator[str]:
    """Yield a rule's conditions, one a line; `first` begins the first."""
    for name, wanted in conditions.items():
        yield fit(f"{first}{name} = {_quoted(wanted)}", width)
        first = " " * len(first)


def warning_lines(warnings: Sequence[str], width: int) -> list[str]:
    """Return what a person should know of rules that could not be tried."""
    lines = [line for warning in warnings for line in hanging(warning, width, "! ", "  ")]
    return ["", *painted(lines, "careful")] if lines else []


def in_issues(ids: Sequence[str]) -> str:
    """Return issues in words: in issue 7; in issues 4, 7 and 2 more."""
    listed = ", ".join(clean(issue_id) for issue_id in ids[:_ISSUES_MAX])
    more = f" and {len(ids) - _ISSUES_MAX} more" if len(ids) > _ISSUES_MAX else ""
    return f"in {'issue' if len(ids) == 1 else 'issues'} {listed}{more}"


def tried_on(
    failures: Iterable[PastFailure], rule: HintRule, search: Search
) -> list[tuple[PastFailure, MatchExplained]]:
    """Return recorded failures, each with whether the rule matches it."""
    return [(past, holds(rule, past.issue, past.failure, past.touched, search)) for past in failures]


def _listed(number: int, rule: HintRule, failures: tuple[PastFailure, ...], search: Search) -> ListedHint:
    tried = tried_on(failures, rule, search)
    matched = [past for past, match in tried if match.matched]
    issues = tuple(dict.fromkeys(past.issue.id for past in matched))
    too_slow = sum(match.too_slow for _, match in tried)
    return ListedHint(number, rule.hint, rule.conditions, len(matched), issues, too_slow)


def _matched(hint: ListedHint) -> str:
    if not hint.matched:
        return "matched no failure so far"
    return f"matched {count(hint.matched, 'failure')}, {in_issues(hint.issues)}"


def _quoted(text: str) -> str:
    return f'"{clean(text)}"'


def lessons_document(lessons: Sequence[Lesson], without: Mapping[FailureKind, ControlGroup]) -> dict[str, object]:
    """Return what `noface config hints list --lessons --json` prints.

    `without` says how attempts ended that read no lesson, by the kind of the failure before. `lift` says by how much
    more of those passed that read the lesson, -1 to 1; null until one has.
    """
    return {"lessons": [_listed_lesson(lesson, without[lesson.kind]) for lesson in lessons]}


def _listed_lesson(lesson: Lesson, control: ControlGroup) -> dict[str, object]:
    same = ("id", "signature", "kind", "rule", "message", "cause", "strategy", "advice", "tags")
    return {
        **{name: getattr(lesson, name) for name in same},
        "confidence": round(lesson.confidence, 3),
        "hits": lesson.hits,
        "successes": lesson.successes,
        "learned": lesson.learned,
        "issue": lesson.issue_id,
        "attempt": lesson.number,
        "dropped": lesson.dropped,
        "parts": lesson.parts,
        "lift": round(lift(lesson.hits, lesson.successes, control), 3) if lesson.hits else None,
        "without": control,
    }


def lessons_page(lessons: Sequence[Lesson], without: Mapping[FailureKind, ControlGroup], width: int) -> list[str]:
    """Return the lines of the lessons, newest first."""
    if not lessons:
        lines = hanging("No lesson yet: one is learned when an issue passes after failures.", width)
    else:
        lines = [paint(f"{count(len(lessons), 'lesson')}, newest first", "title")]
    for lesson in lessons:
        text, _, diff = lesson.advice.partition("\n")
        lines += ["", *hanging(text, width, f"{lesson.id}  ")]
        lines += [fit(f"   {line}", width) for line in clean_block(diff).splitlines()]
        lines += painted(hanging(_worth(lesson, without[lesson.kind]), width, "   "), "quiet")
    return lines


def _worth(lesson: Lesson, control: ControlGroup) -> str:
    facts = [f"confidence {round(lesson.confidence, 3):.0%}", f"learned {count(lesson.learned, 'time')}"]
    if lesson.hits:
        facts.append(f"{lesson.successes} of {count(lesson.hits, 'attempt')} passed with it")
    without = control.passed + control.again
    if lesson.hits and without:
        facts.append(f"{control.passed} of {without} without any")
    if lesson.dropped:
        facts.append("dropped: it makes no difference")
    return "; ".join(facts)


def proposals_document(
    proposals: Sequence[HintProposal], failures: Sequence[PastFailure], least: int
) -> dict[str, object]:
    """Return what `noface config hints suggest --json` prints: each proposal with the failures that it comes from."""
    return {
        "proposals": [
            {
                "number": number,
                "kind": proposal.kind,
                "count": len(proposal.failures),
                "issues": proposal.issues,
                "conditions": proposal.rule.conditions,
                "hint": proposal.rule.hint,
                "draft": proposal.draft,
                "failures": _listed_failures(proposal.failures),
                "would_match": _listed_failures(proposal.would_match),
                "toml": _toml(proposal.rule),
            }
            for number, proposal in enumerate(proposals, 1)
        ],
        "failures": len(failures),
        "min": least,
    }


def proposals_page(
    proposals: Sequence[HintProposal], failures: Sequence[PastFailure], least: int, width: int
) -> list[str]:
    """Return the lines of the proposals."""
    if not failures:
        return [*_comment("No failure is recorded yet, so there is nothing to propose.", width)]
    recorded = count(len(failures), "failure")
    if not proposals:
        text = (
            f"Nothing to propose: of {recorded} recorded, none came in {count(least, 'issue')} or more that were mended"
            " alike, or not yet, without a hint for it."
        )
        return [*_comment(text, width)]
    lines = [
        *_comment(f"{count(len(proposals), 'proposal')} from {recorded} recorded.", width),
        *_comment("Paste what fits into noface.toml, or add one: noface config hints suggest --apply N", width),
    ]
    for number, proposal in enumerate(proposals, 1):
        times = count(len(proposal.failures), "time")
        head = f"Proposal {number}: {proposal.kind} {times}, {in_issues(proposal.issues)}"
        lines += ["", *(paint(line, "title") for line in _comment(head, width))]
        lines += [*_comment(f"It would have matched {len(proposal.would_match)} of {recorded}:", width)]
        lines += _failure_lines(proposal.would_match, width, "#   ")
        lines += [*_comment(_about_text(proposal), width), *clean_block(_toml(proposal.rule)).splitlines()]
    return lines


def added_document(
    file: str, number: int, rule: HintRule, matches: Sequence[tuple[PastFailure, MatchExplained]], *, draft: bool
) -> dict[str, object]:
    """Return what `noface config hints add --json` prints; `draft` if its text has yet to be written.

    `matches` are all recorded failures, each with what became of the rule's conditions.
    """
    return {
        "file": file,
        "number": number,
        "hint": rule.hint,
        "conditions": rule.conditions,
        "toml": _toml(rule),
        "failures": len(matches),
        "would_match": _listed_failures([past for past, match in matches if match.matched]),
        "draft": draft,
        "warnings": [slow_warning(number)] if any(match.too_slow for _, match in matches) else [],
    }


def added_page(
    file: str,
    number: int,
    rule: HintRule,
    matches: Sequence[tuple[PastFailure, MatchExplained]],
    width: int,
    *,
    draft: bool,
) -> list[str]:
    """Return the lines told of a hint that was added."""
    matched, file = [past for past, match in matches if match.matched], clean(file)
    lines = [f"Added hint {number} to {file}:", ""]
    lines += [f"  {line}" for line in clean_block(_toml(rule)).splitlines()]
    lines += ["", f"It would have matched {len(matched)} of {count(len(matches), 'failure')} recorded."]
    lines += _failure_lines(matched, width, "  ")
    if draft:
        warning = f"Its text says only what was seen: say in {file} what to do, or prompts will quote it as it is."
        lines += painted(hanging(warning, width), "careful")
    slow = any(match.too_slow for _, match in matches)
    return [*lines, *(warning_lines([slow_warning(number)], width) if slow else [])]


def _toml(rule: HintRule) -> str:
    return hint_toml({**rule.conditions, "hint": rule.hint})


def _about_text(proposal: HintProposal) -> str:
    if proposal.draft:
        return "Nothing has fixed it yet: say in its text what to do."
    return "Its text says what these issues were mended by: rewrite it as advice."


def _comment(text: str, width: int) -> Iterator[str]:
    yield from hanging(text, width, "# ", "# ")
