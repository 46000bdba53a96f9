"""The pages of `noface hints`: the rules and what they match, proposals for new ones, and lessons of recoveries.

The page of proposals is TOML: what explains them stands in comments.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from noface.config.edit import hint_toml
from noface.knowledge.hint_mining import HintProposal, PastFailure
from noface.knowledge.hints import ConditionExplained, HintRule, MatchExplained, Search, holds, slow_warning
from noface.knowledge.lessons import ControlGroup, Lesson, lift
from noface.model.attempt import PastAttempt
from noface.model.codec import view
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind
from noface.ui.page import paint
from noface.ui.text import clean, clean_block, count, fit, hanging

_MESSAGE_MAX = 300
_ISSUES_MAX = 8


@dataclass(frozen=True, slots=True)
class FailureLine:
    """A recorded failure as lists show it."""

    issue: str
    attempt: int
    kind: str
    message: str


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
    """What `noface hints list --json` prints."""

    file: str
    hints: tuple[ListedHint, ...]
    failures: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TestedFailure:
    """The failure that hints are tried on."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class TestedHint:
    """Whether a hint matches, and which of its conditions hold."""

    number: int
    hint: str
    matched: bool
    conditions: tuple[ConditionExplained, ...]


@dataclass(frozen=True, slots=True)
class HintTest:
    """What `noface hints test --json` prints."""

    id: str
    attempt: int | None
    failure: TestedFailure | None
    hints: tuple[TestedHint, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListedLesson:
    """A lesson of a recovery, and how often those that read it passed.

    `lift` says by how much more of them passed than `without`, -1 to 1; null until one has read it. `parts` are the
    files it is about; an attempt that concerns none of them does not read it.
    """

    id: int
    signature: str
    kind: str
    rule: str
    message: str
    cause: str
    strategy: str
    advice: str
    tags: tuple[str, ...]
    confidence: float
    hits: int
    successes: int
    learned: int
    issue: str
    attempt: int
    dropped: bool
    parts: tuple[str, ...]
    lift: float | None
    without: ControlGroup


@dataclass(frozen=True, slots=True)
class LessonList:
    """What `noface hints list --lessons --json` prints."""

    full_text: bool
    lessons: tuple[ListedLesson, ...]


@dataclass(frozen=True, slots=True)
class ListedProposal:
    """A proposed hint, the failures it comes from, and those that it would have matched."""

    number: int
    kind: str
    count: int
    issues: tuple[str, ...]
    conditions: Mapping[str, str]
    hint: str
    draft: bool
    failures: tuple[FailureLine, ...]
    would_match: tuple[FailureLine, ...]
    toml: str


@dataclass(frozen=True, slots=True)
class ProposalList:
    """What `noface hints suggest --json` prints."""

    proposals: tuple[ListedProposal, ...]
    failures: int
    min: int


@dataclass(frozen=True, slots=True)
class AddedHint:
    """What `noface hints add --json` prints."""

    file: str
    number: int
    hint: str
    conditions: Mapping[str, str]
    toml: str
    failures: int
    would_match: tuple[FailureLine, ...]
    draft: bool
    warnings: tuple[str, ...]


def list_document(
    file: str, rules: tuple[HintRule, ...], failures: tuple[PastFailure, ...], search: Search
) -> HintList:
    """Return the document of `noface hints list`."""
    hints = tuple(_listed(number, rule, failures, search) for number, rule in enumerate(rules, 1))
    warnings = tuple(slow_warning(hint.number) for hint in hints if hint.too_slow)
    return HintList(file, hints, len(failures), warnings)


def list_page(document: HintList, width: int) -> list[str]:
    """Return the lines of the list."""
    hints, file = document.hints, clean(document.file)
    if not hints:
        return [
            f"{file} has no [[failure_hints]].",
            "Add one: noface hints add. Let noface propose some: noface hints suggest",
        ]
    heading = f"{count(len(hints), 'hint')} in {file}; {count(document.failures, 'failure')} recorded"
    lines = [paint(heading, "title")]
    for hint in hints:
        lines += ["", *condition_lines(hint.conditions, width, f"{hint.number}  ")]
        lines += hanging(hint.hint, width, "   → ")
        lines.append(paint(f"   {_matched(hint)}", "quiet"))
    return [*lines, *warning_lines(document.warnings, width)]


def match_document(issue: Issue, attempt: PastAttempt | None, matches: tuple[MatchExplained, ...]) -> HintTest:
    """Return the document of `noface hints test`; `attempt` is the failed one, None if there is none."""
    failure = attempt.failure if attempt is not None else None
    return HintTest(
        id=issue.id,
        attempt=attempt.number if attempt is not None else None,
        failure=None if failure is None else TestedFailure(failure.kind.value, failure.message[:_MESSAGE_MAX]),
        hints=tuple(
            TestedHint(number, match.rule.hint, match.matched, match.conditions)
            for number, match in enumerate(matches, 1)
        ),
        warnings=tuple(slow_warning(number) for number, match in enumerate(matches, 1) if match.too_slow),
    )


def match_page(document: HintTest, width: int) -> list[str]:
    """Return the lines of a test."""
    failure, issue_id = document.failure, clean(document.id)
    if failure is None:
        lines = hanging(f"Issue {issue_id} has not failed: only conditions on the issue itself can hold.", width)
    else:
        head = f"Issue {issue_id}, attempt {document.attempt}: {failure.kind}: {failure.message}"
        lines = [paint(line, "title") for line in hanging(head, width, rest="  ", rows_max=4)]
    if not document.hints:
        lines += ["", "There are no [[failure_hints]] to try. To add one: noface hints add"]
    for hint in document.hints:
        verdict = paint("matches", "good") if hint.matched else paint("does not match", "careful")
        lines += ["", f"{hint.number}  {verdict}", *hanging(hint.hint, width, "   → ")]
        for condition in hint.conditions:
            mark = "yes" if condition.held else "no "
            text = f"{condition.name} {_quoted(condition.wanted)}: {condition.why}"
            lines += hanging(text, width, f"   {mark}  ")
    return [*lines, *warning_lines(document.warnings, width)]


def failure_records(failures: tuple[PastFailure, ...]) -> tuple[FailureLine, ...]:
    """Return recorded failures as lists show them."""
    return tuple(
        FailureLine(past.issue.id, past.number, past.failure.kind.value, past.failure.message[:_MESSAGE_MAX])
        for past in failures
    )


def failure_line(failure: FailureLine) -> str:
    """Return a recorded failure in a line, as long as it is."""
    return clean(f"{failure.issue} attempt {failure.attempt}: {failure.kind}: {failure.message}")


def condition_lines(conditions: Mapping[str, str], width: int, first: str) -> Iterator[str]:
    """Yield a rule's conditions, one a line; `first` begins the first."""
    for name, wanted in conditions.items():
        yield fit(f"{first}{name} = {_quoted(wanted)}", width)
        first = " " * len(first)


def warning_lines(warnings: Sequence[str], width: int) -> list[str]:
    """Return what a person should know of rules that could not be tried."""
    lines = [line for warning in warnings for line in hanging(warning, width, "! ", "  ")]
    return ["", *(paint(line, "careful") for line in lines)] if lines else []


def in_issues(ids: Sequence[str]) -> str:
    """Return issues in words: in issue 7; in issues 4, 7 and 2 more."""
    listed = ", ".join(clean(issue_id) for issue_id in ids[:_ISSUES_MAX])
    more = f" and {len(ids) - _ISSUES_MAX} more" if len(ids) > _ISSUES_MAX else ""
    return f"in {'issue' if len(ids) == 1 else 'issues'} {listed}{more}"


def _listed(number: int, rule: HintRule, failures: tuple[PastFailure, ...], search: Search) -> ListedHint:
    tried = [(past, holds(rule, past.issue, past.failure, past.touched, search)) for past in failures]
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


_NO_FULL_TEXT = "This SQLite has no FTS5: lessons are found for the same failure only, not for similar ones."


def lessons_document(
    lessons: tuple[Lesson, ...], untold: Mapping[FailureKind, ControlGroup], *, full_text: bool
) -> LessonList:
    """Return the document of `noface hints list --lessons`; `full_text` tells whether similar failures are found.

    `untold` says how attempts ended that read no lesson, by the kind of the failure before.
    """
    return LessonList(full_text, tuple(_listed_lesson(lesson, untold[lesson.kind]) for lesson in lessons))


def _listed_lesson(lesson: Lesson, control: ControlGroup) -> ListedLesson:
    return view(
        ListedLesson,
        lesson,
        confidence=round(lesson.confidence, 3),
        issue=lesson.issue_id,
        attempt=lesson.number,
        lift=round(lift(lesson.hits, lesson.successes, control), 3) if lesson.hits else None,
        without=control,
    )


def lessons_page(document: LessonList, width: int) -> list[str]:
    """Return the lines of the lessons, newest first."""
    lessons = document.lessons
    if not lessons:
        lines = hanging("No lesson yet: one is learned when an issue passes after failures.", width)
    else:
        lines = [paint(f"{count(len(lessons), 'lesson')}, newest first", "title")]
    for lesson in lessons:
        text, _, diff = lesson.advice.partition("\n")
        lines += ["", *hanging(text, width, f"{lesson.id}  ")]
        lines += [fit(f"   {line}", width) for line in clean_block(diff).splitlines()]
        lines += [paint(line, "quiet") for line in hanging(_worth(lesson), width, "   ")]
    if not document.full_text:
        lines += ["", *(paint(line, "careful") for line in hanging(_NO_FULL_TEXT, width))]
    return lines


def _worth(lesson: ListedLesson) -> str:
    facts = [f"confidence {lesson.confidence:.0%}", f"learned {count(lesson.learned, 'time')}"]
    if lesson.hits:
        facts.append(f"{lesson.successes} of {count(lesson.hits, 'attempt')} passed with it")
    without = lesson.without.passed + lesson.without.again
    if lesson.hits and without:
        facts.append(f"{lesson.without.passed} of {without} without any")
    if lesson.dropped:
        facts.append("dropped: it makes no difference")
    return "; ".join(facts)


_SHOWN_MAX = 8


def proposals_document(
    proposals: tuple[HintProposal, ...], failures: tuple[PastFailure, ...], least: int
) -> ProposalList:
    """Return the document of `noface hints suggest`."""
    listed = tuple(_listed_proposal(number, proposal) for number, proposal in enumerate(proposals, 1))
    return ProposalList(listed, len(failures), least)


def proposals_page(document: ProposalList, width: int) -> list[str]:
    """Return the lines of the proposals."""
    proposals, failures = document.proposals, count(document.failures, "failure")
    if not proposals:
        return [*_comment(_nothing(document), width)]
    lines = [
        *_comment(f"{count(len(proposals), 'proposal')} from {failures} recorded.", width),
        *_comment("Paste what fits into noface.toml, or add one: noface hints suggest --apply N", width),
    ]
    for proposal in proposals:
        times = count(proposal.count, "time")
        head = f"Proposal {proposal.number}: {proposal.kind} {times}, {in_issues(proposal.issues)}"
        lines += ["", *(paint(line, "title") for line in _comment(head, width))]
        lines += [*_comment(f"It would have matched {len(proposal.would_match)} of {failures}:", width)]
        lines += [fit(f"#   {failure_line(failure)}", width) for failure in proposal.would_match[:_SHOWN_MAX]]
        if len(proposal.would_match) > _SHOWN_MAX:
            lines.append(f"#   and {len(proposal.would_match) - _SHOWN_MAX} more")
        lines += [*_comment(_about_text(proposal), width), *clean_block(proposal.toml).splitlines()]
    return lines


def added_document(
    file: str, number: int, rule: HintRule, failures: tuple[PastFailure, ...], search: Search, *, draft: bool
) -> AddedHint:
    """Return what is told of a hint that was added; `draft` if its text has yet to be written."""
    tried = [(past, holds(rule, past.issue, past.failure, past.touched, search)) for past in failures]
    matched = tuple(past for past, match in tried if match.matched)
    return AddedHint(
        file=file,
        number=number,
        hint=rule.hint,
        conditions=rule.conditions,
        toml=hint_toml({**rule.conditions, "hint": rule.hint}),
        failures=len(failures),
        would_match=failure_records(matched),
        draft=draft,
        warnings=(slow_warning(number),) if any(match.too_slow for _, match in tried) else (),
    )


def added_page(document: AddedHint, width: int) -> list[str]:
    """Return the lines told of a hint that was added."""
    matched, file = document.would_match, document.file
    lines = [f"Added hint {document.number} to {file}:", ""]
    lines += [f"  {line}" for line in clean_block(document.toml).splitlines()]
    lines += ["", f"It would have matched {len(matched)} of {count(document.failures, 'failure')} recorded."]
    lines += [fit(f"  {failure_line(failure)}", width) for failure in matched[:_SHOWN_MAX]]
    if len(matched) > _SHOWN_MAX:
        lines.append(f"  and {len(matched) - _SHOWN_MAX} more")
    if document.draft:
        warning = f"Its text says only what was seen: say in {file} what to do, or prompts will quote it as it is."
        lines += [paint(line, "careful") for line in hanging(warning, width)]
    return [*lines, *warning_lines(document.warnings, width)]


def _listed_proposal(number: int, proposal: HintProposal) -> ListedProposal:
    rule = proposal.rule
    return ListedProposal(
        number=number,
        kind=proposal.kind.value,
        count=len(proposal.failures),
        issues=proposal.issues,
        conditions=rule.conditions,
        hint=rule.hint,
        draft=proposal.draft,
        failures=failure_records(proposal.failures),
        would_match=failure_records(proposal.would_match),
        toml=hint_toml({**rule.conditions, "hint": rule.hint}),
    )


def _about_text(proposal: ListedProposal) -> str:
    if proposal.draft:
        return "Nothing has fixed it yet: say in its text what to do."
    return "Its text says what these issues were mended by: rewrite it as advice."


def _nothing(document: ProposalList) -> str:
    if not document.failures:
        return "No failure is recorded yet, so there is nothing to propose."
    recorded, least = count(document.failures, "failure"), count(document.min, "issue")
    return (
        f"Nothing to propose: of {recorded} recorded, none came in {least} or more that were mended alike, or"
        " not yet, without a hint for it."
    )


def _comment(text: str, width: int) -> Iterator[str]:
    yield from hanging(text, width, "# ", "# ")
