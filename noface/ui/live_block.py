"""The live view's block: what is known of a run, how events change it, and how it is drawn; it fits any terminal."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from rich.text import Text

from noface.store.reader import Reader
from noface.ui.narrate import away, printable, when
from noface.ui.status import as_they_stand, counts_of
from noface.ui.text import cells, count, duration, fit, money, pad

_COUNTED = ("attempt_finished", "answered")
"""Events from which on what a worker has used is among the issue's and the run's costs."""


class Role(StrEnum):
    """What a row's worker does. CHECK: gates run without an attempt."""

    ATTEMPT = "attempt"
    QUESTION = "question"
    CHECK = "check"
    LANDING = "landing"


@dataclass(frozen=True, slots=True)
class WorkFacts:
    """What the rows of the database tell of an issue; number, model and think are those of its newest attempt."""

    title: str = ""
    status: str = ""
    number: int = 0
    model: str = ""
    think: bool = False
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class WorkRow:
    """One issue at work.

    `asks` names model and topic of a question. `step` is what was seen last, `kind` the agent's event behind it.
    `since` is a monotonic time. `usd` is what the worker under way has used so far, as far as it reports that; what has
    ended is in `facts`.
    """

    issue_id: str
    facts: WorkFacts
    role: Role
    since: float
    asks: str = ""
    phase: str = ""
    step: str = ""
    kind: str = ""
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class RunState:
    """The rows, and what a run has come to; `idle_until` is set while there is nothing to do: epoch seconds, or 0."""

    began: float
    rows: tuple[WorkRow, ...] = ()
    attempts: int = 0
    idle_until: float | None = None
    idle_for: str = ""
    stopping: bool = False
    paused: bool = False

    def row(self, issue_id: str) -> WorkRow | None:
        return next((row for row in self.rows if row.issue_id == issue_id), None)


@dataclass(frozen=True, slots=True)
class Totals:
    """Issues by status; the dollars that this run has spent; models that rest, in words."""

    counts: Mapping[str, int]
    usd: float = 0.0
    away: tuple[str, ...] = ()


def look_up(reader: Reader, now: float) -> Totals:
    """Return the totals as they are; `now` is epoch seconds."""
    rows, run = reader.issues(), reader.last_run()
    breakers = sorted(reader.waits().items(), key=lambda item: item[1].until)
    return Totals(
        counts=counts_of(row for row in as_they_stand(rows) if row.present or row.status == "merged"),
        usd=reader.spent_in(run.id).usd if run is not None else 0.0,
        away=tuple(away(name, breaker, now) for name, breaker in breakers if breaker.open(now)),
    )


def wants_facts(state: RunState, kind: str, issue_id: str | None) -> bool:
    """True if `advance` needs to know about the issue from the database."""
    row = state.row(issue_id) if issue_id else None
    if kind == "progress":
        return bool(issue_id) and row is None
    return kind in ("issue_running", "issue_landing") or (row is not None and kind in _COUNTED)


def advance(
    state: RunState, kind: str, issue_id: str | None, data: Mapping[str, object], facts: WorkFacts, now: float
) -> RunState:
    """Return the state after an event; `now` is monotonic. `facts` count if `wants_facts` asked for them."""
    if kind == "progress":
        return _progress(state, issue_id, data, facts, now) if issue_id else state
    if kind == "waiting":
        landing = tuple(row for row in state.rows if row.role is Role.LANDING)
        return replace(
            state, rows=landing, idle_until=_number(data.get("until")), idle_for=printable(data.get("reason") or "")
        )
    if kind == "paused":
        return replace(state, paused=str(data.get("text", "")).startswith("paused"))
    if kind == "stopping":
        return replace(state, stopping=True)
    if kind in _COUNTED and (row := state.row(issue_id or "")) is not None:
        return _placed(state, replace(row, facts=facts, usd=None))
    if not kind.startswith("issue_") or issue_id is None:
        return state
    state = replace(state, idle_until=None)
    reason = printable(data.get("reason", ""))
    match kind:
        case "issue_running" if reason.startswith("asks "):
            return _placed(state, WorkRow(issue_id, facts, Role.QUESTION, now, asks=reason))
        case "issue_running":
            row = WorkRow(issue_id, facts, Role.ATTEMPT, now)
            return replace(_placed(state, row), attempts=state.attempts + 1)
        case "issue_landing" if reason.startswith("passed"):
            return _placed(state, WorkRow(issue_id, facts, Role.LANDING, now, step="waits for its turn"))
        case "issue_landing":
            return _placed(state, WorkRow(issue_id, facts, Role.LANDING, now, step=f"held: {reason}"))
        case _:
            return _without(state, issue_id)


def _progress(state: RunState, issue_id: str, data: Mapping[str, object], facts: WorkFacts, now: float) -> RunState:
    row = state.row(issue_id)
    if row is None:
        roles = {"running": Role.ATTEMPT, "landing": Role.LANDING}
        row = WorkRow(issue_id, facts, roles.get(facts.status, Role.CHECK), now)
    if row.role is Role.ATTEMPT and data.get("number") not in (None, 0, row.facts.number):
        return state  # of candidates at work at once the newest is shown
    phase, step, did = (printable(data.get(name) or "") for name in ("phase", "text", "kind"))
    if (usd := _number(data.get("cost_usd"))) is not None:  # noface's own steps tell nothing of it
        row = replace(row, usd=usd)
    return _placed(state, replace(row, phase=phase, step=step, kind=did))


def _placed(state: RunState, row: WorkRow) -> RunState:
    at = next((at for at, other in enumerate(state.rows) if other.issue_id == row.issue_id), len(state.rows))
    return replace(state, rows=(*state.rows[:at], row, *state.rows[at + 1 :]))


def _without(state: RunState, issue_id: str) -> RunState:
    return replace(state, rows=tuple(row for row in state.rows if row.issue_id != issue_id))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


_ID_CELLS_MAX = 16
_STYLES = {Role.ATTEMPT: "", Role.QUESTION: "magenta", Role.CHECK: "cyan", Role.LANDING: "green"}
_TROUBLED = ("retry", "limit", "error")


def row_lines(state: RunState, width: int, now: float, rows_max: int) -> list[Text]:
    """Return two lines for each row; of more than `rows_max` rows, how many more there are."""
    rows = state.rows
    visible = rows if len(rows) <= rows_max else rows[: max(rows_max - 1, 0)]
    id_cells = max((min(cells(row.issue_id), _ID_CELLS_MAX) for row in visible), default=0)
    lines = [line for row in visible for line in _row(row, width, id_cells, now)]
    if len(visible) < len(rows):
        lines.append(Text(fit(f" … and {len(rows) - len(visible)} more at work", width), style="dim"))
    return lines


def elapsed(seconds: float) -> str:
    minutes, rest = divmod(int(max(seconds, 0.0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _row(row: WorkRow, width: int, id_cells: int, now: float) -> list[Text]:
    end = f"{_spent(row)} {elapsed(now - row.since):>5}".lstrip(" ").rjust(5)
    title_room = max(width - id_cells - cells(end) - 5, 1)
    first = Text.assemble(
        (f" {pad(row.issue_id, id_cells)}", "bold cyan"), f"  {pad(row.facts.title, title_room)}", (f"  {end}", "dim")
    )
    room = max(width - id_cells - 3, 1)
    what = fit(_what(row), room)
    style = "magenta" if row.facts.think and row.role is Role.ATTEMPT else _STYLES[row.role]
    step = _step(row, room - cells(what) - 3)
    step_style = "yellow" if row.kind in _TROUBLED else "dim" if row.phase != "agent" else ""
    dot = (" · ", "dim") if step else ""
    return [first, Text.assemble(" " * (id_cells + 3), (what, style), dot, (step, step_style))]


def _spent(row: WorkRow) -> str:
    costs = [cost for cost in (row.facts.cost_usd, row.usd) if cost is not None]
    return money(sum(costs)) if costs else ""


def _what(row: WorkRow) -> str:
    facts = row.facts
    match row.role:
        case Role.ATTEMPT:
            return f"attempt {facts.number} {facts.model}{', thinking longer' if facts.think else ''}".strip()
        case Role.QUESTION:
            return row.asks
        case Role.LANDING:
            return "landing"
        case Role.CHECK:
            return "on main as it is"


def _step(row: WorkRow, room: int) -> str:
    match row.phase:
        case "gate":
            text = "gates" if row.step in ("", "running the gates") else f"gates: {row.step}"
        case "workspace":
            text = "prepares the workspace"
        case "agent" if not row.kind:
            text = "begins"  # noface's own step: nothing has been seen of the agent yet
        case "":
            text = row.step or "begins"
        case _:
            text = row.step
    return fit(text, room) if room > 1 else ""


_TOLD_ABOVE = 4
"""Lines that stay for what has happened, above the block."""
_RULE_FROM = 14
_AWAY_MAX = 2
_STATUSES = {
    "merged": "green",
    "blocked": "bold red",
    "approval": "bold yellow",
    "running": "cyan",
    "landing": "green",
    "review": "green",
    "waiting": "yellow",
    "epic": "magenta",
    "ready": "",
    "skipped": "dim",
}
"""The statuses in the order in which they are counted, with their styles."""


def block(state: RunState, totals: Totals, width: int, height: int, now: float, clock: float) -> list[Text]:
    """Return the block's lines, none wider than `width` cells and not more than fit into `height` rows.

    `now` is a monotonic time, `clock` the same moment in epoch seconds.
    """
    ending = _ending(state, totals, width, now)
    away = [] if state.idle_until is not None else [Text(fit(f" {text}", width), "yellow") for text in totals.away]
    lines_max = max(height - 1 - _TOLD_ABOVE, 1 + len(ending))
    rule = [Text("─" * width, style="dim")] if height >= _RULE_FROM else []
    away = away[: min(_AWAY_MAX, max(lines_max - len(ending) - 2, 0))]
    room = lines_max - len(ending) - len(rule) - len(away)
    rows = row_lines(state, width, now, max(room // 2, 1))
    lines = [*rule, *(rows or _idle(state, totals, width, clock)), *away, *ending][-max(height - 1, 1) :]
    for line in lines:
        line.truncate(width)  # only where not even the columns' own width is there
    return lines


def _idle(state: RunState, totals: Totals, width: int, clock: float) -> list[Text]:
    until = state.idle_until
    if until is None:
        return []
    end = f" until {when(until, clock)}, {duration(max(until - clock, 0.0))} more" if until else f": {state.idle_for}"
    first = f" everything waits{end}"
    why = totals.away[:_AWAY_MAX]
    return [Text(fit(first, width), "yellow"), *(Text(fit(f"   {reason}", width), "dim") for reason in why)]


def _ending(state: RunState, totals: Totals, width: int, now: float) -> list[Text]:
    numbers = [(f"{totals.counts[name]} {name}", style) for name, style in _STATUSES.items() if totals.counts.get(name)]
    left = Text(" ")
    for position, (number, style) in enumerate(numbers):
        left.append(" · " if position else "", "dim")
        left.append(number, style)
    tried = count(state.attempts, "attempt") if state.attempts else ""
    mark = "stopping" if state.stopping else "paused" if state.paused else ""
    usd = totals.usd + sum(row.usd or 0.0 for row in state.rows)
    parts = (mark, tried, money(usd) if usd else "", elapsed(now - state.began))
    right = " · ".join(part for part in parts if part)
    gap = width - left.cell_len - cells(right)
    if gap > 1:
        return [Text.assemble(left, " " * gap, (right, "dim"))]
    left.truncate(width, overflow="ellipsis")
    return [left, Text(fit(f" {right}", width), "dim")]
