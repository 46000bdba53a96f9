"""The page of `noface policy --replay`: the recorded decisions that a policy would take otherwise."""

from typing import Annotated, NamedTuple

from noface.recovery.replay import OtherDecision
from noface.ui.page import paint, painted
from noface.ui.text import clean, count, hanging


class ReplayDocument(NamedTuple):
    """What a policy makes of the decisions so far."""

    file: Annotated[str, "The configuration whose policy it is."]
    decisions: Annotated[int, "How many decisions were looked at."]
    otherwise: Annotated[tuple[OtherDecision, ...], "Those that it would take otherwise."]


def replay_page(document: ReplayDocument, width: int) -> list[str]:
    """Return the page."""
    lines: list[str] = []
    for each in document.otherwise:
        lines += [paint(f"{clean(each.issue)} after attempt {each.attempt}: {clean(each.outcome)}", "title")]
        lines += painted(hanging(f"{clean(each.was)} → {each.would_be}", width, "  "), "careful")
        lines += [*hanging(clean(each.reason), width, "  "), ""]
    differ = len(document.otherwise) or "none"
    return [
        *lines,
        *hanging(f"{count(document.decisions, 'decision')}, {differ} would differ under {document.file}.", width),
    ]
