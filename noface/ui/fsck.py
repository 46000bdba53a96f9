"""The page and the document of `noface tools fsck`: what was repaired, what is left, and what to do about it."""

from collections.abc import Iterable, Iterator
from typing import Annotated, NamedTuple

from noface.integrity.state.fsck_facts import Fault, Severity
from noface.ui.page import paint
from noface.ui.text import count, hanging

_HEADINGS = {
    Severity.PERSON: ("Needs a person:", "bad"),
    Severity.REPAIRABLE: ("`noface tools fsck --repair` would settle:", "careful"),
    Severity.NOTE: ("To know:", "quiet"),
}


class FsckDocument(NamedTuple):
    """What a check of noface's state found."""

    sound: Annotated[bool, "Nobody has to do anything: there are notes at most."]
    running: Annotated[str | None, "The noface that is at work beside the check."]
    repaired: Annotated[tuple[Fault, ...], "What was found and repaired."]
    findings: Annotated[tuple[Fault, ...], "What is left, gravest first."]


def fsck_page(document: FsckDocument, width: int) -> list[str]:
    """Return the page."""
    lines: list[str] = []
    if document.running:
        wait = "is at work: what it has in flight is only noted, and --repair has to wait for its end."
        lines += [*hanging(f"{document.running} {wait}", width), ""]
    if document.repaired:
        lines += [paint("Repaired:", "good"), *_listed(document.repaired, width), ""]
    for severity, (heading, role) in _HEADINGS.items():
        some = [each for each in document.findings if each.severity == severity]
        if some:
            lines += [paint(heading, role), *_listed(some, width), ""]
    if document.sound:
        return [*lines, paint("No problems found.", "good")]
    wrong = sum(each.severity != Severity.NOTE for each in document.findings)
    return [*lines, f"{count(wrong, 'finding')}."]


def _listed(findings: Iterable[Fault], width: int) -> Iterator[str]:
    for each in findings:
        yield from hanging(f"{each.subject}: {each.message}", width, "  ", "    ")
        if each.advice:
            yield from hanging(each.advice, width, "    → ", "      ")
