"""The page and the document of `noface tools fetch`: what the tracker has for noface, and what differs from before."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated

from noface.model.issue import Backlog, Issue
from noface.model.issue_fault import IssueFault
from noface.ui.page import paint
from noface.ui.status import fault_lines
from noface.ui.text import clean, count, hanging

_SHOWN_MAX = 20


@dataclass(frozen=True, slots=True)
class FetchedIssue:
    """An issue by its id and title."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class FetchDocument:
    """What a fetch has found: the issues for noface, and how they differ from those of the fetch before."""

    issues: Annotated[int, "How many there are now."]
    new: tuple[FetchedIssue, ...]
    edited: tuple[FetchedIssue, ...]
    gone: tuple[FetchedIssue, ...]
    faults: tuple[IssueFault, ...]
    warnings: Annotated[tuple[IssueFault, ...], "What was left out, such as issues of people who may not write."] = ()


def fetch_document(before: Backlog, now: Backlog) -> FetchDocument:
    """Return the document of `noface tools fetch --json`."""
    old, new = _by_id(before.issues), _by_id(now.issues)
    faulty = {fault.id for fault in now.faults}
    return FetchDocument(
        issues=len(new),
        new=_listed(issue for name, issue in new.items() if name not in old),
        edited=_listed(i for name, i in new.items() if name in old and i.content_hash != old[name].content_hash),
        gone=_listed(issue for name, issue in old.items() if name not in new and name not in faulty),
        faults=now.faults,
        warnings=now.warnings,
    )


def fetch_page(document: FetchDocument, width: int) -> list[str]:
    """Return the lines of `noface tools fetch`."""
    lines = [f"{count(document.issues, 'issue')} for noface."]
    for word, issues in (("new", document.new), ("edited", document.edited), ("gone", document.gone)):
        for issue in issues[:_SHOWN_MAX]:
            lines += hanging(clean(issue.title), width, f"  {word:<6} {issue.id}  ", "         ")
        if len(issues) > _SHOWN_MAX:
            lines.append(f"  {word:<6} {len(issues) - _SHOWN_MAX} more")
    for faults, title, role in ((document.faults, "faulty", "bad"), (document.warnings, "warnings", "careful")):
        if faults:
            lines += ["", paint(title, role), *fault_lines(faults[:_SHOWN_MAX], width)]
        if len(faults) > _SHOWN_MAX:
            lines.append(f"  {len(faults) - _SHOWN_MAX} more: noface issues")
    return [*lines, "Next: noface run" if document.issues else "Which issues noface may take: [tracker] in noface.toml"]


def _by_id(issues: Iterable[Issue]) -> Mapping[str, Issue]:
    return {issue.id: issue for issue in issues}


def _listed(issues: Iterable[Issue]) -> tuple[FetchedIssue, ...]:
    return tuple(FetchedIssue(issue.id, issue.title) for issue in issues)
