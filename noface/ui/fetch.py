"""The page and the document of `noface tools fetch`: what the tracker has for noface, and what differs from before."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from noface.model.issue import Backlog, Issue
from noface.model.listed import IssueFault
from noface.ui.page import paint
from noface.ui.status import fault_lines
from noface.ui.text import clean, count, hanging

_SHOWN_MAX = 20


class FetchDocument(NamedTuple):
    """What a fetch has found: how many issues there are now, and how they differ from those of the fetch before.

    `warnings` tell what was left out, such as issues of people who may not write.
    """

    issues: int
    new: tuple[Issue, ...]
    edited: tuple[Issue, ...]
    gone: tuple[Issue, ...]
    faults: tuple[IssueFault, ...]
    warnings: tuple[IssueFault, ...] = ()


def fetch_document(before: Backlog, now: Backlog) -> FetchDocument:
    """Return the document of `noface tools fetch --json`."""
    old, new = _by_id(before.issues), _by_id(now.issues)
    faulty = {fault.id for fault in now.faults}
    return FetchDocument(
        issues=len(new),
        new=tuple(issue for name, issue in new.items() if name not in old),
        edited=tuple(i for name, i in new.items() if name in old and i.content_hash != old[name].content_hash),
        gone=tuple(issue for name, issue in old.items() if name not in new and name not in faulty),
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
