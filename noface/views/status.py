"""`noface status`: where every issue stands, and the page of it, what needs a person first.

Scripts read the records: add keys, never rename. Nothing heavier than json is imported, since a look must be quick.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from noface.views.page import paint
from noface.views.text import cells, clean, count, fit, hanging, moment, money, pad

Record = dict[str, Any]
Row = sqlite3.Row

NOT_DONE = "skipped, not done"
"""What stands for an issue that was left undone where others ask whether they may start."""

_SETTLED = ("merged", "skipped")
_STUCK = ("blocked", "approval", NOT_DONE)


def standings(rows: Sequence[Row]) -> dict[str, str]:
    """Return each issue's status by id, NOT_DONE for those that were skipped without main holding what they ask for."""
    return {row["id"]: _standing(row) for row in rows}


def effective_status(row: Row, statuses: Mapping[str, str]) -> tuple[str, str]:
    """Return an issue's status and reason, where what it depends on is looked at, too.

    `statuses` are those of `standings`. What the work turned out to need counts as what the issue names itself.
    """
    status, reason = str(row["status"]), str(row["reason"])
    if status not in ("ready", "waiting") or (row["depends_on"] == "[]" and row["needs"] == "[]"):
        return status, reason
    needed = dict.fromkeys([*json.loads(row["depends_on"]), *json.loads(row["needs"])])
    open_ones = [name for name in needed if statuses.get(name) not in _SETTLED]
    if not open_ones:
        over = status == "waiting" and row["until"] is None
        return ("ready", "what it waited for is merged") if over else (status, reason)
    stuck = [f"{name} is {statuses[name]}" for name in open_ones if statuses.get(name) in _STUCK]
    reason = f"waits for {', '.join(open_ones)} to be merged"
    return "waiting", f"{reason}; {', '.join(stuck)}" if stuck else reason


def done(record: Record) -> bool:
    """Tell whether what an issue asks for is on main; `record` has its status and `satisfied`."""
    return record["status"] == "merged" or (record["status"] == "skipped" and bool(record["satisfied"]))


def progress(parts: Sequence[Record]) -> str:
    """Return how far an epic is; "" where it has no parts."""
    if not parts:
        return ""
    return f"{sum(done(part) for part in parts)} of {len(parts)} part{'s' if len(parts) != 1 else ''} merged"


def _standing(row: Row) -> str:
    status = str(row["status"])
    return NOT_DONE if status == "skipped" and not row["satisfied"] else status


def issue_records(rows: Sequence[Row]) -> list[Record]:
    """Return the issues as `status --json` lists them; those that wait for another one are shown as waiting."""
    statuses = standings(rows)
    parts: dict[str, list[str]] = {}
    for row in rows:
        if row["parent"] is not None:
            parts.setdefault(row["parent"], []).append(row["id"])
    return [_issue_record(row, statuses, parts.get(row["id"], [])) for row in rows]


def status_document(
    rows: Sequence[Row], faults: Sequence[Record], run: Record | None, gaps: Sequence[Record] = ()
) -> Record:
    """Return the document of `noface status`. `gaps` are what workers of the newest run found missing (L2)."""
    issues = issue_records(rows)
    if run is None or not run["running"]:
        issues = [_cut_off(issue) for issue in issues]
    counts: dict[str, int] = {}
    for issue in issues:
        counts[issue["status"]] = counts.get(issue["status"], 0) + 1
    return {"issues": issues, "counts": counts, "faults": list(faults), "gaps": list(gaps), "run": run}


def _cut_off(issue: Record) -> Record:
    """Return an issue as it stands where nobody is at work: what was cut off is ready to go on."""
    if issue["status"] != "running":
        return issue
    return issue | {"status": "ready", "reason": f"{issue['reason']} was cut off; it goes on with the next run"}


def run_record(row: Row | None, *, alive: bool) -> Record | None:
    """Return a run; `alive` tells whether its process still works. None where nothing has been run yet."""
    if row is None:
        return None
    return {
        "id": row["id"],
        "pid": row["pid"],
        "started_at": row["started_at"],
        "ended_at": row["ended_at"],
        "exit_code": row["exit_code"],
        "why": row["ended_why"],
        "running": row["ended_at"] is None and alive,
    }


def _issue_record(row: Row, statuses: Mapping[str, str], parts: list[str]) -> Record:
    status, reason = effective_status(row, statuses)
    kind = row["last_kind"]
    return {
        "id": row["id"],
        "title": row["title"],
        "status": status,
        "attempts": row["attempts"],
        "model": row["model"],
        "last_failure": {"kind": kind, "message": row["last_message"] or ""} if kind else None,
        "branch": row["branch"],
        "merged_commit": row["merged_commit"],
        "cost_usd": row["cost_usd"],
        "reason": reason,
        "until": row["until"],
        "priority": row["priority"],
        "satisfied": bool(row["satisfied"]),
        "parent": row["parent"],
        "parts": parts,
    }


def fault_lines(faults: Sequence[Record], width: int) -> Iterator[str]:
    """Return the lines of faults or warnings: source, problem, and the hint below."""
    for fault in faults:
        yield from hanging(f"{fault['source']}: {fault['problem']}", width, "  ", "    ")
        if fault["hint"]:
            yield from (paint(line, "quiet") for line in hanging(fault["hint"], width, "    → ", "      "))


_ID_CELLS_MAX = 16
_STATUS_CELLS = 8
_INDENT = 2
_LEVELS_MAX = 4


@dataclass(frozen=True, slots=True)
class Family:
    """The issues of a status, each with those it was divided into; `top` are those that stand by themselves."""

    top: tuple[Record, ...]
    parts: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)


def family(issues: Sequence[Record]) -> Family:
    """Part the issues from their parts; a part whose parent is gone stands by itself."""
    known = {issue["id"] for issue in issues}
    parts: dict[str, tuple[Record, ...]] = {}
    for issue in issues:
        if issue["parent"] in known:
            parts[issue["parent"]] = (*parts.get(issue["parent"], ()), issue)
    return Family(tuple(issue for issue in issues if issue["parent"] not in known), parts)


def group_lines(shown: Sequence[Record], related: Family, now: float, width: int) -> Iterator[str]:
    """Return the lines of a group's issues, which share the columns."""
    id_cells = min(max(cells(issue["id"]) for issue in shown), _ID_CELLS_MAX)
    for issue in shown:
        yield from _issue_lines(issue, related, now, width, id_cells, 0)


def _issue_lines(issue: Record, related: Family, now: float, width: int, id_cells: int, level: int) -> Iterator[str]:
    parts = related.parts.get(issue["id"], ())
    indent = " " * _INDENT * (level + 1)
    name = issue["id"] if cells(issue["id"]) > id_cells else pad(issue["id"], id_cells)
    start = f"{indent}{name}  "
    taken = cells(start)
    if level:  # the group's heading tells the status of those that stand by themselves
        start += f"{paint(pad(issue['status'], _STATUS_CELLS), issue['status'])}  "
        taken += _STATUS_CELLS + 2
    facts = _facts(issue, parts)
    room = max(width - taken - (cells(facts) + 2 if facts else 0), 16)
    title = clean(issue["title"]) or "(no title)"
    yield f"{start}{pad(title, room)}  {paint(facts, 'quiet')}" if facts else start + fit(title, room)
    said = _said(issue, now)
    if said:
        yield from (
            paint(line, "quiet") for line in hanging(said, width, " " * (cells(indent) + id_cells + 2), rows_max=2)
        )
    if parts and level < _LEVELS_MAX:
        part_cells = min(max(cells(part["id"]) for part in parts), _ID_CELLS_MAX)
        for part in parts:
            yield from _issue_lines(part, related, now, width, part_cells, level + 1)


def _facts(issue: Record, parts: Sequence[Record]) -> str:
    """Return what stands at the right: how far the parts are, the landed commit, attempts, model, cost."""
    merged = issue["status"] == "merged"
    kept = "already on main" if issue["satisfied"] else "not done"
    shown = [
        progress(parts) if not merged else "",
        kept if issue["status"] == "skipped" else "",
        issue["merged_commit"][:10] if merged and issue["merged_commit"] else "",
        count(issue["attempts"], "attempt") if issue["attempts"] else "",
        fit(clean(issue["model"] or ""), 20) if issue["attempts"] and not merged and not parts else "",
        money(issue["cost_usd"]),
    ]
    return " · ".join(fact for fact in shown if fact)


def _said(issue: Record, now: float) -> str:
    """Return what stands below an issue: why it is where it is. Nothing for fresh and merged ones, and for epics."""
    status, reason, failure, until = issue["status"], str(issue["reason"]), issue["last_failure"], issue["until"]
    if status == "blocked" and failure is not None:
        return f"{failure['kind']}: {failure['message']}" if failure["message"] else str(failure["kind"])
    if status == "waiting" and until is not None:
        return f"{f'until {moment(until, now)}' if until > now else 'may go on now'}: {reason}"
    if status in ("merged", "epic") or (status == "ready" and not issue["attempts"] and failure is None):
        return ""
    return reason


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
