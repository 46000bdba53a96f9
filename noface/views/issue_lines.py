"""The lines of one issue in `noface status`: what it is, how far it is, why it is there; its parts below it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from noface.views.page import paint
from noface.views.standing import Record, progress
from noface.views.text import cells, clean, count, fit, hanging, moment, money, pad

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
