"""The pages of `noface issues` and `noface issues show`, and how an issue is found by the id that a person typed."""

from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

from noface.errors import UsageError
from noface.model.attempt import BESIDE, noted
from noface.model.backlog import same_id
from noface.model.description import Inline
from noface.model.issue import Backlog, Issue
from noface.model.listed import IssueFault
from noface.model.quoting import printable_lines
from noface.store.overview import Overview
from noface.store.records import AttemptRow, IssueRow
from noface.ui.page import paint, painted
from noface.ui.status import fault_lines
from noface.ui.text import cells, clean, count, fit, hanging, pad

_NEAREST_MAX = 3


def find_issue(reader: Overview, wanted: str) -> IssueRow:
    """Return an issue's row; 7, 007 and #7 are the same. Raises UsageError with the nearest ids, or its fault."""
    from difflib import get_close_matches

    name = wanted.removeprefix("#")
    row = reader.issue(name)
    if row is not None:
        return row
    ids = [str(row.id) for row in reader.issues()]
    same = [known for known in ids if same_id(known) == same_id(name)]
    row = reader.issue(same[0]) if same else None
    if row is not None:
        return row
    for fault in reader.faults():
        if fault.id is not None and same_id(fault.id) == same_id(name):
            raise UsageError(f"issue {fault.id} is faulty: {fault.source}: {fault.problem}", fault.hint)
    close = get_close_matches(name[:80], ids, n=_NEAREST_MAX, cutoff=0.5)
    meant = f"Nearest: {', '.join(close)}. " if close else ""
    raise UsageError(f"there is no issue {clean(wanted)[:80]}", f"{meant}All issues: noface issues")


def find_attempt(attempts: Sequence[AttemptRow], issue_id: str, number: int | None) -> AttemptRow:
    """Return the attempt of that number, by default the newest that was not set aside. Raises UsageError."""
    if not attempts:
        raise UsageError(f"issue {issue_id} has no attempt yet", f"Run it: noface run --issue {issue_id}")
    if number is None:
        return next((each for each in reversed(attempts) if not noted(each.notes, BESIDE)), attempts[-1])
    for attempt in attempts:
        if number == attempt.number:
            return attempt
    known = ", ".join(str(attempt.number) for attempt in attempts)
    raise UsageError(f"issue {issue_id} has no attempt {number}", f"Its attempts: {known}.")


_DONE = ("merged", "skipped")
_ID_CELLS_MAX = 16


class BacklogIssue(NamedTuple):
    """An issue as its tracker has it, and where it stands."""

    issue: Annotated[Issue, Inline]
    status: Annotated[str, "Where it stands."]


class BacklogDocument(NamedTuple):
    """What `noface issues --json` prints."""

    issues: tuple[BacklogIssue, ...]
    faults: tuple[IssueFault, ...]
    warnings: tuple[IssueFault, ...]


def backlog_document(backlog: Backlog, statuses: Mapping[str, str]) -> BacklogDocument:
    """Return the document of `noface issues`: open issues in the order they would be worked, then the done ones."""

    def place(numbered: tuple[int, Issue]) -> tuple[bool, int, int]:
        number, issue = numbered
        return statuses.get(issue.id, "ready") in _DONE, issue.priority, number

    ordered = [issue for _, issue in sorted(enumerate(backlog.issues), key=place)]
    issues = tuple(BacklogIssue(issue, statuses.get(issue.id, "ready")) for issue in ordered)
    return BacklogDocument(issues, backlog.faults, backlog.warnings)


def backlog_page(document: BacklogDocument, width: int) -> list[str]:
    """Return the lines of `noface issues`."""
    issues = document.issues
    lines: list[str] = []
    if issues:
        id_cells = min(max(cells(each.issue.id) for each in issues), _ID_CELLS_MAX)
        lines += [_issue_line(*each, id_cells, width) for each in issues]
    elif not document.faults:
        lines.append('The backlog is empty. Add an issue: noface issues add "What should be done"')
    for faults, title, role in ((document.faults, "faulty", "bad"), (document.warnings, "warnings", "careful")):
        if faults:
            lines += ["", paint(title, role), *fault_lines(faults, width)]
    return lines


def issue_page(record: BacklogIssue, width: int) -> list[str]:
    """Return the lines of `noface issues show`: what the file says, then its text."""
    issue = record.issue
    head = painted(hanging(issue.title, width, f"{issue.id}  "), "title")
    head.append(f"  {paint(record.status, record.status)} · priority {issue.priority}")
    for items, name in ((issue.labels, "labels"), (issue.depends_on, "depends on"), (issue.paths, "may touch")):
        if items:
            head += hanging(", ".join(items), width, f"  {name}: ", "    ")
    head += [f"  accept: {clean(command)}" for command in issue.accept]
    if issue.model:
        head.append(f"  model: {clean(issue.model)}")
    if issue.max_attempts:
        head.append(f"  at most {count(issue.max_attempts, 'attempt')}")
    if issue.candidates:
        head.append(f"  {count(issue.candidates, 'candidate')} at once")
    head.append(f"  {clean(issue.source)}")
    return [*head, "", *(printable_lines(issue.body).strip("\n") or "(no text)").splitlines()]


def _issue_line(issue: Issue, stands: str, id_cells: int, width: int) -> str:
    needs = f"after {', '.join(issue.depends_on)}" if issue.depends_on else ""
    labels = clean(", ".join(issue.labels)) if issue.labels else ""
    facts = fit(" · ".join(part for part in (needs, labels) if part), width // 3)
    name = pad(issue.id, id_cells) if cells(issue.id) <= id_cells else issue.id
    start, status = f"{name}  P{issue.priority:<2} ", f"{stands:<8}"
    room = max(width - cells(start + status) - 2 - (cells(facts) + 2 if facts else 0), 16)
    title = clean(issue.title)
    rest = f"{pad(title, room)}  {paint(facts, 'quiet')}" if facts else fit(title, room)
    return f"{start}{paint(status, stands)}  {rest}"
