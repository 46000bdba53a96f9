"""The page of `noface status`: what a person wants to know in the morning, what needs them first."""

from collections.abc import Iterator, Sequence

from noface.views.faults import fault_lines
from noface.views.page import paint
from noface.views.rows import Record
from noface.views.text import cells, clean, count, fit, hanging, moment, money, pad

ROWS_MAX = 20
"""Rows of a group that are shown without --all."""
_ID_CELLS_MAX = 16


_TITLES = {
    "running": "running",
    "landing": "landing",
    "approval": "waits for approval",
    "blocked": "blocked: `noface blocked` tells what to do",
    "waiting": "waiting",
    "ready": "ready",
    "epic": "epics",
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
    for issue in document["issues"]:
        by_status.setdefault(issue["status"], []).append(issue)
    for status in _TITLES:
        if status == "merged":
            lines += _fault_lines(document["faults"], width)
        lines += _group_lines(status, by_status.get(status, []), now, width, everything=everything)
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


def _group_lines(status: str, issues: list[Record], now: float, width: int, *, everything: bool) -> Iterator[str]:
    if not issues:
        return
    yield ""
    yield paint(_TITLES[status], status)
    shown = issues if everything else issues[:ROWS_MAX]
    id_cells = min(max(cells(issue["id"]) for issue in shown), _ID_CELLS_MAX)
    for issue in shown:
        facts = _facts(issue)
        name = issue["id"] if cells(issue["id"]) > id_cells else pad(issue["id"], id_cells)
        room = max(width - cells(name) - 4 - (cells(facts) + 2 if facts else 0), 16)
        title = clean(issue["title"]) or "(no title)"
        row = f"  {name}  {pad(title, room) if facts else fit(title, room)}"
        yield f"{row}  {paint(facts, 'quiet')}" if facts else row
        said = _said(issue, now)
        if said:
            yield from (paint(line, "quiet") for line in hanging(said, width, " " * (id_cells + 4), rows_max=2))
    rest = len(issues) - len(shown)
    if rest:
        yield f"  … and {rest:,} more {status} (noface status --all)"


def _facts(issue: Record) -> str:
    """Return what stands at the right: the landed commit, attempts, model, cost."""
    merged = issue["status"] == "merged"
    parts = [
        issue["merged_commit"][:10] if merged and issue["merged_commit"] else "",
        count(issue["attempts"], "attempt") if issue["attempts"] else "",
        fit(clean(issue["model"] or ""), 20) if issue["attempts"] and not merged else "",
        money(issue["cost_usd"]),
    ]
    return " · ".join(part for part in parts if part)


def _fault_lines(faults: Sequence[Record], width: int) -> Iterator[str]:
    if faults:
        yield ""
        yield paint("faulty", "bad") + paint("  reported, not run; the rest goes on", "quiet")
        yield from fault_lines(faults, width)


def _said(issue: Record, now: float) -> str:
    """Return what stands below an issue: why it is where it is. Nothing for fresh and merged ones."""
    status, reason, failure, until = issue["status"], str(issue["reason"]), issue["last_failure"], issue["until"]
    if status == "blocked" and failure is not None:
        return f"{failure['kind']}: {failure['message']}" if failure["message"] else str(failure["kind"])
    if status == "waiting" and until is not None:
        return f"{f'until {moment(until, now)}' if until > now else 'may go on now'}: {reason}"
    if status == "merged" or (status == "ready" and not issue["attempts"] and failure is None):
        return ""
    return reason
