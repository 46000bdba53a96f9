"""The page of `noface status`: what a person wants to know in the morning, what needs them first."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from noface.views.faults import fault_lines
from noface.views.page import paint
from noface.views.rows import Record
from noface.views.text import cells, clean, count, fit, hanging, moment, money, pad

ROWS_MAX = 20
"""Rows of a group that are shown without --all."""
_ID_CELLS_MAX = 16


@dataclass(frozen=True, slots=True)
class _Group:
    """Issues of one status: what to say under each, if anything, and what to do about them."""

    status: str
    title: str
    say: Callable[[Record, float], str]
    advice: str = ""


def status_page(document: Record, waits: Sequence[Record], now: float, width: int, *, everything: bool) -> list[str]:
    """Return the lines of the page. `waits` are models that wait for a provider; `now` is epoch seconds."""
    lines = [_summary(document), *_run_lines(document["run"], now, width)]
    for wait in waits:
        text = f"{wait['model']} waits until {moment(wait['until'], now)}: {wait['reason']}"
        lines += [paint(line, "careful") for line in hanging(text, width)]
    by_status: dict[str, list[Record]] = {}
    for issue in document["issues"]:
        by_status.setdefault(issue["status"], []).append(issue)
    for group in _GROUPS:
        if group.status == "merged":
            lines += _fault_lines(document["faults"], width)
        lines += _group_lines(group, by_status.get(group.status, []), now, width, everything=everything)
    if not document["issues"] and not document["faults"]:
        lines += ["", 'The backlog is empty. Add an issue: noface issue add "What should be done"']
    return lines


def _summary(document: Record) -> str:
    counts, faults = document["counts"], len(document["faults"])
    parts = [
        paint(f"{counts[group.status]:,} {group.status}", group.status) for group in _GROUPS if counts.get(group.status)
    ]
    if faults:
        parts.append(paint(f"{faults:,} faulty", "bad"))
    total = count(len(document["issues"]) + faults, "issue")
    return paint(total, "title") + (f": {', '.join(parts)}" if parts else "")


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


def _group_lines(group: _Group, issues: list[Record], now: float, width: int, *, everything: bool) -> Iterator[str]:
    if not issues:
        return
    yield ""
    yield paint(group.title, group.status) + (paint(f"  {group.advice}", "quiet") if group.advice else "")
    shown = issues if everything else issues[:ROWS_MAX]
    id_cells = min(max(cells(issue["id"]) for issue in shown), _ID_CELLS_MAX)
    for issue in shown:
        facts = _facts(issue)
        name = issue["id"] if cells(issue["id"]) > id_cells else pad(issue["id"], id_cells)
        room = max(width - cells(name) - 4 - (cells(facts) + 2 if facts else 0), 16)
        title = clean(issue["title"]) or "(no title)"
        row = f"  {name}  {pad(title, room) if facts else fit(title, room)}"
        yield f"{row}  {paint(facts, 'quiet')}" if facts else row
        said = group.say(issue, now)
        if said:
            yield from (paint(line, "quiet") for line in hanging(said, width, " " * (id_cells + 4), rows_max=2))
    rest = len(issues) - len(shown)
    if rest:
        yield f"  … and {rest:,} more {group.status} (noface status --all)"


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


def _reason(issue: Record, _now: float) -> str:
    return str(issue["reason"])


def _waiting(issue: Record, now: float) -> str:
    until = issue["until"]
    if until is None:
        return str(issue["reason"])
    when = f"until {moment(until, now)}" if until > now else "may go on now"
    return f"{when}: {issue['reason']}"


def _blocked(issue: Record, _now: float) -> str:
    failure = issue["last_failure"]
    if failure is None:
        return str(issue["reason"])
    return f"{failure['kind']}: {failure['message']}" if failure["message"] else str(failure["kind"])


def _ready(issue: Record, _now: float) -> str:
    """Say why an issue that has been tried is tried again; a fresh one needs no words."""
    return str(issue["reason"]) if issue["attempts"] or issue["last_failure"] else ""


def _nothing(_issue: Record, _now: float) -> str:
    return ""


_GROUPS = (
    _Group("running", "running", _reason),
    _Group("landing", "landing", _reason),
    _Group("approval", "waits for approval", _reason),
    _Group("blocked", "blocked", _blocked, "what to do: noface blocked"),
    _Group("waiting", "waiting", _waiting),
    _Group("ready", "ready", _ready),
    _Group("epic", "epics", _reason),
    _Group("skipped", "skipped", _reason),
    _Group("merged", "merged", _nothing),
)
