"""What people see of hints: the rules with what they matched, and why they match a failure or not."""

from collections.abc import Iterator, Mapping
from typing import Any

from noface.core.attempt import PastAttempt
from noface.core.hint_mining import PastFailure
from noface.core.hints import HintRule, MatchExplained, Search, holds, slow_warning
from noface.core.issue import Issue
from noface.views.page import paint
from noface.views.text import clean, count, fit, hanging

Record = dict[str, Any]

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
            "To add one: noface hints add. To have some proposed: noface hints suggest",
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
