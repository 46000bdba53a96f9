"""The pages of `noface config hints`; that of proposals is TOML, and what explains them stands in comments."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from noface.config.edit import hint_toml
from noface.knowledge.hint_mining import HintProposal, PastFailure
from noface.knowledge.hints import HintRule, MatchExplained, slow_warnings
from noface.knowledge.lessons import Lesson
from noface.model.attempt import PastAttempt
from noface.model.issue import Issue
from noface.model.quoting import printable_lines, some
from noface.ui.page import paint, painted
from noface.ui.text import clean, count, fit, hanging

_MESSAGE_MAX = 300
_ISSUES_MAX = 8
_FAILURES_MAX = 8


@dataclass(frozen=True, slots=True)
class TriedHint:
    """A hint by its number, and the recorded failures that it matches. `draft`: its text is still to be written."""

    number: int
    rule: HintRule
    matched: tuple[PastFailure, ...]
    draft: bool = False

    @property
    def toml(self) -> str:
        return hint_toml({**self.rule.conditions, "hint": self.rule.hint})


def hints_document(hints: Sequence[TriedHint], failures: int, **more: object) -> dict[str, object]:
    """Return hints for scripts, each with the failures that it matches; `failures` is how many are recorded."""
    return {
        "hints": [
            {
                "number": each.number,
                "hint": each.rule.hint,
                "conditions": each.rule.conditions,
                "toml": each.toml,
                "draft": each.draft,
                "issues": _issues(each.matched),
                "would_match": [
                    {"issue": past.issue.id, "attempt": past.number, **_failure(past)} for past in each.matched
                ],
            }
            for each in hints
        ],
        "failures": failures,
        **more,
    }


def _issues(failures: Sequence[PastFailure]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(past.issue.id for past in failures))


def _failure(past: PastFailure | PastAttempt) -> dict[str, object]:
    return {"kind": past.failure.kind, "message": past.failure.message[:_MESSAGE_MAX]} if past.failure else {}


def list_page(file: str, hints: Sequence[TriedHint], failures: int, width: int) -> Iterator[str]:
    """Yield the lines of the hints that there are."""
    if not hints:
        text = f"{clean(file)} has no [[failure_hints]]. Let noface propose some: noface config hints suggest"
        yield from hanging(text, width)
        return
    yield paint(f"{count(len(hints), 'hint')} in {clean(file)}; {count(failures, 'failure')} recorded", "title")
    for each in hints:
        conditions = [f"{name} = {_quoted(wanted)}" for name, wanted in each.rule.conditions.items()]
        yield ""
        yield from (fit(f"{each.number if not at else ' '}  {text}", width) for at, text in enumerate(conditions))
        yield from hanging(each.rule.hint, width, "   → ")
        where = f"matched {count(len(each.matched), 'failure')}, {_in_issues(_issues(each.matched))}"
        yield paint(f"   {where if each.matched else 'matched no failure so far'}", "quiet")


def match_document(issue: Issue, attempt: PastAttempt | None, matches: list[MatchExplained]) -> dict[str, object]:
    """Return what `noface config hints test --json` prints; `attempt` is the failed one, None if there is none."""
    return {
        "id": issue.id,
        "attempt": attempt.number if attempt is not None else None,
        "failure": _failure(attempt) if attempt is not None else None,
        "hints": [
            {"number": number, "hint": match.rule.hint, "matched": match.matched, "conditions": match.conditions}
            for number, match in enumerate(matches, 1)
        ],
        "warnings": slow_warnings(matches),
    }


def match_page(issue: Issue, attempt: PastAttempt | None, matches: list[MatchExplained], width: int) -> Iterator[str]:
    """Yield the lines of a test."""
    issue_id = clean(issue.id)
    if attempt is None or attempt.failure is None:
        yield from hanging(f"Issue {issue_id} has not failed: only conditions on the issue itself can hold.", width)
    else:
        failure = attempt.failure
        head = f"Issue {issue_id}, attempt {attempt.number}: {failure.kind}: {failure.message[:_MESSAGE_MAX]}"
        yield from painted(hanging(head, width, rest="  ", rows_max=4), "title")
    if not matches:
        yield from ("", "There are no [[failure_hints]] to try. To have some proposed: noface config hints suggest")
    for number, match in enumerate(matches, 1):
        verdict = paint("matches", "good") if match.matched else paint("does not match", "careful")
        yield from ("", f"{number}  {verdict}", *hanging(match.rule.hint, width, "   → "))
        for condition in match.conditions:
            text = f"{condition.name} {_quoted(condition.wanted)}: {condition.why}"
            yield from hanging(text, width, f"   {'yes' if condition.held else 'no '}  ")
    lines = [line for warning in slow_warnings(matches) for line in hanging(warning, width, "! ", "  ")]
    yield from ("", *painted(lines, "careful")) if lines else ()


def proposals_page(
    proposals: Sequence[HintProposal], hints: Sequence[TriedHint], failures: int, least: int, width: int
) -> Iterator[str]:
    """Yield the lines of the proposals, of which `hints` are what they would match."""
    recorded = count(failures, "failure")
    head = f"{count(len(proposals), 'proposal')} from {recorded} recorded. Paste what fits into noface.toml."
    none = (
        f"Nothing to propose: of {recorded} recorded, none came in {count(least, 'issue')} or more that were mended"
        " alike, or not yet, without a hint for it."
    )
    yield from _comment(head if proposals else none, width)
    for proposal, each in zip(proposals, hints, strict=True):
        times = count(len(proposal.failures), "time")
        head = f"Proposal {each.number}: {proposal.kind} {times}, {_in_issues(proposal.issues)}"
        yield from ("", *(paint(line, "title") for line in _comment(head, width)))
        yield from _comment(f"It would have matched {len(each.matched)} of {recorded}:", width)
        for past in each.matched[:_FAILURES_MAX]:
            message = past.failure.message[:_MESSAGE_MAX]
            yield fit("#   " + clean(f"{past.issue.id} attempt {past.number}: {past.failure.kind}: {message}"), width)
        if len(each.matched) > _FAILURES_MAX:
            yield f"#   and {len(each.matched) - _FAILURES_MAX} more"
        draft = "Nothing has fixed it yet: say in its text what to do."
        mended = "Its text says what these issues were mended by: rewrite it as advice."
        yield from _comment(draft if each.draft else mended, width)
        yield from printable_lines(each.toml).splitlines()


def _in_issues(ids: tuple[str, ...]) -> str:
    return f"in {'issue' if len(ids) == 1 else 'issues'} {clean(some(ids, _ISSUES_MAX))}"


def _quoted(text: str) -> str:
    return f'"{clean(text)}"'


def _comment(text: str, width: int) -> Iterator[str]:
    yield from hanging(text, width, "# ", "# ")


def lessons_page(lessons: Sequence[Lesson], width: int) -> Iterator[str]:
    """Yield the lines of the lessons, newest first."""
    if not lessons:
        yield from hanging("No lesson yet: one is learned when an issue passes after failures.", width)
        return
    yield paint(f"{count(len(lessons), 'lesson')}, newest first", "title")
    for lesson in lessons:
        text, _, diff = lesson.advice.partition("\n")
        yield from ("", *hanging(text, width, f"{lesson.id}  "))
        yield from (fit(f"   {line}", width) for line in printable_lines(diff).splitlines())
        read = f"; {lesson.successes} of {count(lesson.hits, 'attempt')} passed with it" if lesson.hits else ""
        dropped = "; dropped: it makes no difference" if lesson.dropped else ""
        yield from painted(hanging(f"learned {count(lesson.learned, 'time')}{read}{dropped}", width, "   "), "quiet")
