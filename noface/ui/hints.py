"""The pages of `noface config hints`; that of proposals is TOML, and what explains them stands in comments."""

from collections.abc import Iterator, Sequence

from noface.config.edit import hint_toml
from noface.knowledge.hint_mining import HintProposal
from noface.knowledge.hints import MatchExplained, slow_warnings
from noface.knowledge.lessons import Lesson
from noface.model.attempt import PastAttempt
from noface.model.issue import Issue
from noface.model.quoting import printable_lines, some
from noface.ui.page import paint, painted
from noface.ui.text import clean, count, fit, hanging

_MESSAGE_MAX = 300
_ISSUES_MAX = 8


def match_document(issue: Issue, attempt: PastAttempt | None, matches: list[MatchExplained]) -> dict[str, object]:
    """Return what `noface config hints test --json` prints; `attempt` is the failed one, None if there is none."""
    failure = attempt.failure if attempt is not None else None
    return {
        "id": issue.id,
        "attempt": attempt.number if attempt is not None else None,
        "failure": {"kind": failure.kind, "message": failure.message[:_MESSAGE_MAX]} if failure is not None else None,
        "hints": matches,
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


def _toml(proposal: HintProposal) -> str:
    return hint_toml({**proposal.rule.conditions, "hint": proposal.rule.hint})


def proposals_document(proposals: Sequence[HintProposal], failures: int) -> dict[str, object]:
    """Return what `noface config hints suggest --json` prints; `failures` is how many are recorded."""
    hints = [
        {
            "hint": each.rule.hint,
            "conditions": each.rule.conditions,
            "toml": _toml(each),
            "draft": each.draft,
            "issues": each.issues,
            "would_match": [past.key for past in each.would_match],
        }
        for each in proposals
    ]
    return {"hints": hints, "failures": failures}


def proposals_page(proposals: Sequence[HintProposal], failures: int, width: int) -> Iterator[str]:
    """Yield the lines of the proposals."""
    recorded = count(failures, "failure")
    none = (
        f"Nothing to propose: of {recorded} recorded, none came in two issues or more that were mended alike, or not "
        "yet, without a hint for it."
    )
    head = f"{count(len(proposals), 'proposal')} from {recorded} recorded. Paste what fits into noface.toml."
    yield from _comment(head if proposals else none, width)
    for number, each in enumerate(proposals, 1):
        yield ""
        where = f"in issues {clean(some(each.issues, _ISSUES_MAX))}"
        head = f"Proposal {number}, {where}; it would have matched {count(len(each.would_match), 'failure')}."
        yield from painted(_comment(head, width), "title")
        draft = "Nothing has fixed it yet: say in its text what to do."
        mended = "Its text says what these issues were mended by: rewrite it as advice."
        yield from _comment(draft if each.draft else mended, width)
        yield from printable_lines(_toml(each)).splitlines()


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
