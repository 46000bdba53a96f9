"""The pages of `noface hints`: the rules and what they match, proposals for new ones, and lessons of recoveries.

The page of proposals is TOML: what explains them stands in comments.
"""

from collections.abc import Iterator, Mapping

from noface.config.edit import hint_toml
from noface.knowledge.hint_mining import PastFailure, Proposal
from noface.knowledge.hints import HintRule, MatchExplained, Search, holds, slow_warning
from noface.knowledge.lessons import Lesson
from noface.model.attempt import PastAttempt
from noface.model.issue import Issue
from noface.ui.page import Record, paint
from noface.ui.text import clean, clean_block, count, fit, hanging

_MESSAGE_MAX = 300
_ISSUES_MAX = 8


def list_document(file: str, rules: tuple[HintRule, ...], failures: tuple[PastFailure, ...], search: Search) -> Record:
    """Return the document of `noface hints list`."""
    hints = [_rule_record(number, rule, failures, search) for number, rule in enumerate(rules, 1)]
    return {
        "file": file,
        "hints": hints,
        "failures": len(failures),
        "warnings": [slow_warning(hint["number"]) for hint in hints if hint["too_slow"]],
    }


def list_page(document: Record, width: int) -> list[str]:
    """Return the lines of the list."""
    hints, file = document["hints"], clean(document["file"])
    if not hints:
        return [
            f"{file} has no [[failure_hints]].",
            "Add one: noface hints add. Let noface propose some: noface hints suggest",
        ]
    said = f"{count(len(hints), 'hint')} in {file}; {count(document['failures'], 'failure')} recorded"
    lines = [paint(said, "title")]
    for hint in hints:
        lines += ["", *condition_lines(hint["conditions"], width, f"{hint['number']}  ")]
        lines += hanging(hint["hint"], width, "   → ")
        lines.append(paint(f"   {_matched(hint)}", "quiet"))
    return [*lines, *warning_lines(document["warnings"], width)]


def match_document(issue: Issue, attempt: PastAttempt | None, matches: tuple[MatchExplained, ...]) -> Record:
    """Return the document of `noface hints test`; `attempt` is the failed one, None where there is none."""
    failure = attempt.failure if attempt is not None else None
    return {
        "id": issue.id,
        "attempt": attempt.number if attempt is not None else None,
        "failure": None if failure is None else {"kind": failure.kind.value, "message": failure.message[:_MESSAGE_MAX]},
        "hints": [_match_record(number, match) for number, match in enumerate(matches, 1)],
        "warnings": [slow_warning(number) for number, match in enumerate(matches, 1) if match.too_slow],
    }


def match_page(document: Record, width: int) -> list[str]:
    """Return the lines of a test."""
    failure, issue_id = document["failure"], clean(document["id"])
    if failure is None:
        lines = hanging(f"Issue {issue_id} has not failed: only conditions on the issue itself can hold.", width)
    else:
        head = f"Issue {issue_id}, attempt {document['attempt']}: {failure['kind']}: {failure['message']}"
        lines = [paint(line, "title") for line in hanging(head, width, rest="  ", rows_max=4)]
    if not document["hints"]:
        lines += ["", "There are no [[failure_hints]] to try. To add one: noface hints add"]
    for hint in document["hints"]:
        verdict = paint("matches", "good") if hint["matched"] else paint("does not match", "careful")
        lines += ["", f"{hint['number']}  {verdict}", *hanging(hint["hint"], width, "   → ")]
        for condition in hint["conditions"]:
            mark = "yes" if condition["held"] else "no "
            said = f"{condition['name']} {_quoted(condition['wanted'])}: {condition['why']}"
            lines += hanging(said, width, f"   {mark}  ")
    return [*lines, *warning_lines(document["warnings"], width)]


def failure_records(failures: tuple[PastFailure, ...]) -> list[Record]:
    """Return recorded failures as lists show them."""
    return [
        {
            "issue": past.issue.id,
            "attempt": past.number,
            "kind": past.failure.kind.value,
            "message": past.failure.message[:_MESSAGE_MAX],
        }
        for past in failures
    ]


def failure_line(failure: Record) -> str:
    """Return a recorded failure in a line, as long as it is."""
    return clean(f"{failure['issue']} attempt {failure['attempt']}: {failure['kind']}: {failure['message']}")


def condition_lines(conditions: Mapping[str, str], width: int, first: str) -> Iterator[str]:
    """Yield a rule's conditions, one a line; `first` begins the first."""
    for name, wanted in conditions.items():
        yield fit(f"{first}{name} = {_quoted(wanted)}", width)
        first = " " * len(first)


def warning_lines(warnings: list[str], width: int) -> list[str]:
    """Return what a person should know of rules that could not be tried."""
    lines = [line for warning in warnings for line in hanging(warning, width, "! ", "  ")]
    return ["", *(paint(line, "careful") for line in lines)] if lines else []


def said_issues(ids: list[str]) -> str:
    """Return issues in words: in issue 7; in issues 4, 7 and 2 more."""
    shown = ", ".join(clean(issue_id) for issue_id in ids[:_ISSUES_MAX])
    more = f" and {len(ids) - _ISSUES_MAX} more" if len(ids) > _ISSUES_MAX else ""
    return f"in {'issue' if len(ids) == 1 else 'issues'} {shown}{more}"


def _rule_record(number: int, rule: HintRule, failures: tuple[PastFailure, ...], search: Search) -> Record:
    tried = [(past, holds(rule, past.issue, past.failure, past.touched, search)) for past in failures]
    matched = [past for past, match in tried if match.matched]
    return {
        "number": number,
        "hint": rule.hint,
        "conditions": rule.conditions,
        "matched": len(matched),
        "issues": list(dict.fromkeys(past.issue.id for past in matched)),
        "too_slow": sum(match.too_slow for _, match in tried),
    }


def _match_record(number: int, match: MatchExplained) -> Record:
    return {
        "number": number,
        "hint": match.rule.hint,
        "matched": match.matched,
        "conditions": [
            {"name": c.name, "wanted": c.wanted, "held": c.held, "why": c.why, "too_slow": c.too_slow}
            for c in match.conditions
        ],
    }


def _matched(hint: Record) -> str:
    if not hint["matched"]:
        return "matched no failure so far"
    return f"matched {count(hint['matched'], 'failure')}, {said_issues(hint['issues'])}"


def _quoted(text: str) -> str:
    return f'"{clean(text)}"'


_NO_FULL_TEXT = "This SQLite has no FTS5: lessons are found for the same failure only, not for similar ones."


def lessons_document(lessons: tuple[Lesson, ...], *, full_text: bool) -> Record:
    """Return the document of `noface hints list --lessons`; `full_text` tells whether similar failures are found."""
    return {
        "full_text": full_text,
        "lessons": [
            {
                "id": lesson.id,
                "signature": lesson.signature,
                "kind": lesson.kind.value,
                "rule": lesson.rule,
                "message": lesson.message,
                "cause": lesson.cause,
                "strategy": lesson.strategy,
                "advice": lesson.advice,
                "tags": list(lesson.tags),
                "confidence": round(lesson.confidence, 3),
                "hits": lesson.hits,
                "successes": lesson.successes,
                "learned": lesson.learned,
                "issue": lesson.issue_id,
                "attempt": lesson.number,
                "dropped": lesson.dropped,
            }
            for lesson in lessons
        ],
    }


def lessons_page(document: Record, width: int) -> list[str]:
    """Return the lines of the lessons, newest first."""
    lessons = document["lessons"]
    if not lessons:
        lines = hanging("No lesson yet: one is learned when an issue passes after failures.", width)
    else:
        lines = [paint(f"{count(len(lessons), 'lesson')}, newest first", "title")]
    for lesson in lessons:
        lines += ["", *hanging(lesson["advice"], width, f"{lesson['id']}  ")]
        lines += [paint(line, "quiet") for line in hanging(_worth(lesson), width, "   ")]
    if not document["full_text"]:
        lines += ["", *(paint(line, "careful") for line in hanging(_NO_FULL_TEXT, width))]
    return lines


def _worth(lesson: Record) -> str:
    facts = [f"confidence {lesson['confidence']:.0%}", f"learned {count(lesson['learned'], 'time')}"]
    if lesson["hits"]:
        facts.append(f"helped {lesson['successes']} of {count(lesson['hits'], 'attempt')}")
    if lesson["dropped"]:
        facts.append("dropped: it no longer helps")
    return "; ".join(facts)


_SHOWN_MAX = 8


def proposals_document(proposals: tuple[Proposal, ...], failures: tuple[PastFailure, ...], least: int) -> Record:
    """Return the document of `noface hints suggest`."""
    records = [_proposal_record(number, proposal) for number, proposal in enumerate(proposals, 1)]
    return {"proposals": records, "failures": len(failures), "min": least}


def proposals_page(document: Record, width: int) -> list[str]:
    """Return the lines of the proposals."""
    proposals, failures = document["proposals"], count(document["failures"], "failure")
    if not proposals:
        return [*_comment(_nothing(document), width)]
    lines = [
        *_comment(f"{count(len(proposals), 'proposal')} from {failures} recorded.", width),
        *_comment("Paste what fits into noface.toml, or add one: noface hints suggest --apply N", width),
    ]
    for proposal in proposals:
        times = count(proposal["count"], "time")
        head = f"Proposal {proposal['number']}: {proposal['kind']} {times}, {said_issues(proposal['issues'])}"
        lines += ["", *(paint(line, "title") for line in _comment(head, width))]
        lines += [*_comment(f"It would have matched {len(proposal['would_match'])} of {failures}:", width)]
        lines += [fit(f"#   {failure_line(failure)}", width) for failure in proposal["would_match"][:_SHOWN_MAX]]
        if len(proposal["would_match"]) > _SHOWN_MAX:
            lines.append(f"#   and {len(proposal['would_match']) - _SHOWN_MAX} more")
        lines += [*_comment(_about_text(proposal), width), *clean_block(proposal["toml"]).splitlines()]
    return lines


def added_document(
    file: str, number: int, rule: HintRule, failures: tuple[PastFailure, ...], search: Search, *, draft: bool
) -> Record:
    """Return what is told of a hint that was added; `draft` where its text has yet to be written."""
    tried = [(past, holds(rule, past.issue, past.failure, past.touched, search)) for past in failures]
    matched = tuple(past for past, match in tried if match.matched)
    return {
        "file": file,
        "number": number,
        "hint": rule.hint,
        "conditions": rule.conditions,
        "toml": hint_toml({**rule.conditions, "hint": rule.hint}),
        "failures": len(failures),
        "would_match": failure_records(matched),
        "draft": draft,
        "warnings": [slow_warning(number)] if any(match.too_slow for _, match in tried) else [],
    }


def added_page(document: Record, width: int) -> list[str]:
    """Return the lines told of a hint that was added."""
    matched, file = document["would_match"], document["file"]
    lines = [f"Added hint {document['number']} to {file}:", ""]
    lines += [f"  {line}" for line in clean_block(document["toml"]).splitlines()]
    lines += ["", f"It would have matched {len(matched)} of {count(document['failures'], 'failure')} recorded."]
    lines += [fit(f"  {failure_line(failure)}", width) for failure in matched[:_SHOWN_MAX]]
    if len(matched) > _SHOWN_MAX:
        lines.append(f"  and {len(matched) - _SHOWN_MAX} more")
    if document["draft"]:
        said = f"Its text says only what was seen: say in {file} what to do, or prompts will quote it as it is."
        lines += [paint(line, "careful") for line in hanging(said, width)]
    return [*lines, *warning_lines(document["warnings"], width)]


def _proposal_record(number: int, proposal: Proposal) -> Record:
    rule = proposal.rule
    return {
        "number": number,
        "kind": proposal.kind.value,
        "count": len(proposal.failures),
        "issues": list(proposal.issues),
        "conditions": rule.conditions,
        "hint": rule.hint,
        "draft": proposal.draft,
        "failures": failure_records(proposal.failures),
        "would_match": failure_records(proposal.would_match),
        "toml": hint_toml({**rule.conditions, "hint": rule.hint}),
    }


def _about_text(proposal: Record) -> str:
    if proposal["draft"]:
        return "Nothing has fixed it yet: say in its text what to do."
    return "Its text is drafted from the attempt that passed: rewrite it as advice."


def _nothing(document: Record) -> str:
    if not document["failures"]:
        return "No failure is recorded yet, so there is nothing to propose."
    recorded, least = count(document["failures"], "failure"), count(document["min"], "time")
    return f"Nothing to propose: of {recorded} recorded, none came {least} or more without a hint for it."


def _comment(text: str, width: int) -> Iterator[str]:
    yield from hanging(text, width, "# ", "# ")
