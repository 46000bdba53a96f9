"""What people see of proposed and added hints. The page of proposals is TOML: what explains them stands in comments."""

from collections.abc import Iterator
from typing import Any

from noface.config.hint_entry import hint_toml
from noface.core.hint_mining import PastFailure, Proposal
from noface.core.hints import HintRule, Search, holds, slow_warning
from noface.views.hints import failure_line, failure_records, said_issues, warning_lines
from noface.views.page import paint
from noface.views.text import clean_block, count, fit, hanging

Record = dict[str, Any]

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
        return "Nothing has mended it yet: say in its text what to do."
    return "Its text is drafted from the attempt that passed in the end: make it advice."


def _nothing(document: Record) -> str:
    if not document["failures"]:
        return "No failure is recorded yet, so there is nothing to propose."
    recorded, least = count(document["failures"], "failure"), count(document["min"], "time")
    return f"Nothing to propose: of {recorded} recorded, none came {least} or more without a hint for it."


def _comment(text: str, width: int) -> Iterator[str]:
    yield from hanging(text, width, "# ", "# ")
