"""The page of `noface status`: what a person wants to know in the morning, what needs them first."""

from collections.abc import Iterator, Sequence

from noface.views.faults import fault_lines
from noface.views.issue_lines import Family, family, group_lines
from noface.views.page import paint
from noface.views.standing import Record
from noface.views.text import cells, count, hanging, moment

ROWS_MAX = 20
"""Rows of a group that are shown without --all."""
_GAP_ISSUES_SHOWN = 5

_TITLES = {
    "running": "running",
    "landing": "landing",
    "approval": "waits for approval: `noface blocked` tells of what",
    "blocked": "blocked: `noface blocked` tells what to do",
    "epic": "divided into parts",
    "waiting": "waiting",
    "ready": "ready",
    "skipped": "skipped",
    "merged": "merged",
}
"""The groups by status, in the order they are shown; faulty files come before what is merged."""


def status_page(document: Record, waits: Sequence[Record], now: float, width: int, *, everything: bool) -> list[str]:
    """Return the lines of the page. `waits` are models that wait for a provider; `now` is epoch seconds."""
    lines = [*_summary(document, width), *_run_lines(document["run"], now, width)]
    for wait in waits:
        text = f"A provider is waited for until {moment(wait['until'], now)}: {wait['reason']}"
        lines += [paint(line, "careful") for line in hanging(text, width)]
    by_status: dict[str, list[Record]] = {}
    related = family(document["issues"])
    for issue in related.top:
        by_status.setdefault(issue["status"], []).append(issue)
    for status in _TITLES:
        if status == "merged":
            lines += _fault_lines(document["faults"], width)
        lines += _group_lines(status, by_status.get(status, []), related, now, width, everything=everything)
    lines += _gap_lines(document["gaps"], width)
    if not document["issues"] and not document["faults"]:
        lines += ["", 'The backlog is empty. Add an issue: noface issue add "What should be done"']
    return lines


def _summary(document: Record, width: int) -> list[str]:
    counts, faults = document["counts"], len(document["faults"])
    parts = [(f"{counts[status]:,} {status}", status) for status in _TITLES if counts.get(status)]
    if faults:
        parts.append((f"{faults:,} faulty", "bad"))
    total = count(len(document["issues"]) + faults, "issue")
    if not parts:
        return [paint(total, "title")]
    lines, line, taken = [], paint(f"{total}:", "title"), cells(total) + 1
    for number, (text, role) in enumerate(parts, 1):
        comma = "," if number < len(parts) else ""
        if taken + cells(text) + 2 > width:
            lines.append(line)
            line, taken = " ", 1
        line += f" {paint(text, role)}{comma}"
        taken += cells(text) + 1 + len(comma)
    return [*lines, line]


def _run_lines(run: Record | None, now: float, width: int) -> list[str]:
    if run is None:
        return [paint("Nothing has been run yet: noface run", "quiet")]
    since = moment(run["started_at"], now)
    if run["running"]:
        return [paint(f"noface is running since {since} (pid {run['pid']})", "active")]
    if run["ended_at"] is None or run["why"] == "cut off":
        return hanging(f"The run of {since} was cut off; `noface run` goes on where it was.", width)
    text = f"Last run {since} to {moment(run['ended_at'], now)}: {run['why'] or 'ended'}"
    return [paint(line, "quiet") for line in hanging(text, width)]


def _group_lines(
    status: str, issues: Sequence[Record], related: Family, now: float, width: int, *, everything: bool
) -> Iterator[str]:
    if not issues:
        return
    yield ""
    yield paint(_TITLES[status], status)
    shown = issues if everything else issues[:ROWS_MAX]
    yield from group_lines(shown, related, now, width)
    rest = len(issues) - len(shown)
    if rest:
        yield f"  … and {rest:,} more {status} (noface status --all)"


def _fault_lines(faults: Sequence[Record], width: int) -> Iterator[str]:
    if faults:
        yield ""
        yield paint("faulty", "bad") + paint("  reported, not run; the rest goes on", "quiet")
        yield from fault_lines(faults, width)


def _gap_lines(gaps: Sequence[Record], width: int) -> Iterator[str]:
    """Return where to read of what workers found missing (L2)."""
    if not gaps:
        return
    ids = list(dict.fromkeys(str(gap["id"]) for gap in gaps))
    named = [f"noface show {name}" for name in ids[:_GAP_ISSUES_SHOWN]]
    more = f", and {len(ids) - len(named)} more issues" if len(ids) > len(named) else ""
    yield ""
    text = f"{count(len(gaps), 'gap')} reported: {', '.join(named)}{more}"
    yield from (paint(line, "careful") for line in hanging(text, width, rest="  "))
