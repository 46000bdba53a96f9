"""Draws the live view's block: the rows at work, models that rest, and the totals. Pure; fits any terminal."""

from rich.text import Text

from noface.model.budget import Spent
from noface.ui.announcer import Totals
from noface.ui.live_state import MAIN, Role, Row, State
from noface.ui.narrate import when
from noface.ui.text import cells, count, duration, fit, money, pad

_ID_CELLS_MAX = 16
_TITLE_FROM = 48
"""Cells between id and time from which on a row of one line has room for the title as well."""
_STYLES = {Role.ATTEMPT: "", Role.QUESTION: "magenta", Role.CHECK: "cyan", Role.LANDING: "green"}
_TROUBLED = ("retry", "limit", "error")


def row_lines(state: State, width: int, now: float, rows_max: int, *, double: bool) -> list[Text]:
    """Return a line for each row, or two where `double`; of more than `rows_max` rows, how many more there are."""
    rows = state.at_work
    shown = rows if len(rows) <= rows_max else rows[: max(rows_max - 1, 0)]
    id_cells = max((min(cells(_name(row)), _ID_CELLS_MAX) for row in shown), default=0)
    draw = _two if double else _one
    lines = [line for row in shown for line in draw(row, width, id_cells, now)]
    if len(shown) < len(rows):
        lines.append(Text(fit(f" … and {len(rows) - len(shown)} more at work", width), style="dim"))
    return lines


def elapsed(seconds: float) -> str:
    """Return a duration as a clock shows it."""
    minutes, rest = divmod(int(max(seconds, 0.0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _two(row: Row, width: int, id_cells: int, now: float) -> list[Text]:
    end = _end(row, now)
    title_room = max(width - id_cells - cells(end) - 5, 1)
    first = Text.assemble(
        (f" {pad(_name(row), id_cells)}", "bold cyan"),
        f"  {pad(row.facts.title, title_room)}",
        (f"  {end}", "dim"),
    )
    room = max(width - id_cells - 3, 1)
    what = fit(_what(row, short=False), room)
    step = _step(row, room - cells(what) - 3)
    dot = (" · ", "dim") if step else ""
    return [first, Text.assemble(" " * (id_cells + 3), (what, _style(row)), dot, (step, _step_style(row)))]


def _one(row: Row, width: int, id_cells: int, now: float) -> list[Text]:
    end = _end(row, now)
    room = max(width - id_cells - cells(end) - 5, 1)
    title_room = room * 2 // 5 if room >= _TITLE_FROM else 0
    what = fit(_what(row, short=True), max((room - title_room) * 3 // 5, 1))
    rest = room - cells(what) - 2 - (title_room + 2 if title_room else 0)
    return [
        Text.assemble(
            (f" {pad(_name(row), id_cells)}  ", "bold cyan"),
            f"{pad(row.facts.title, title_room)}  " if title_room else "",
            (f"{what}  ", _style(row)),
            (pad(_step(row, rest), max(rest, 1)) if rest > 0 else "", _step_style(row)),
            (f"  {end}", "dim"),
        )
    ]


def _name(row: Row) -> str:
    return "main" if row.issue_id == MAIN else row.issue_id


def short_count(number: int) -> str:
    """Return a count of tokens in thousands or millions."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return str(number)


def _end(row: Row, now: float) -> str:
    """Return what stands at the right: what the issue has cost so far, where somebody said, and the time."""
    return f"{_spent(row)} {elapsed(now - row.since):>5}".lstrip(" ").rjust(5)


def _spent(row: Row) -> str:
    """Return dollars, of what has ended and what is under way; tokens of the latter where nobody knows its price."""
    costs = [cost for cost in (row.facts.cost_usd, row.usd) if cost is not None]
    tokens = f"{short_count(row.tokens)} tok" if row.tokens and row.usd is None else ""
    return " + ".join(part for part in (money(sum(costs)) if costs else "", tokens) if part)


def _what(row: Row, *, short: bool) -> str:
    facts = row.facts
    match row.role:
        case Role.ATTEMPT:
            thinks = (" +think" if short else ", thinking longer") if facts.think else ""
            return f"{facts.number if short else f'attempt {facts.number}'} {facts.model}{thinks}".strip()
        case Role.QUESTION:
            return row.asks.removeprefix("asks ") + "?" if short else row.asks
        case Role.LANDING:
            return "landing"
        case Role.CHECK:
            before = "on main" if row.issue_id == MAIN else "before the first attempt"
            long = "its parts have landed" if facts.status == "epic" else before
            return "checks" if short else long


def _step(row: Row, room: int) -> str:
    """Return what was seen last, in `room` cells; of a file's path the end is what matters."""
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
    if room <= 1:
        return ""
    before = text.removesuffix(row.file)
    if not row.file or before == text or cells(text) <= room or room < cells(before) + 6:
        return fit(text, room)
    file = row.file
    while cells(before) + cells(file) + 1 > room:
        file = file[1:]
    return f"{before}…{file}"


def _style(row: Row) -> str:
    return "magenta" if row.facts.think and row.role is Role.ATTEMPT else _STYLES[row.role]


def _step_style(row: Row) -> str:
    return "yellow" if row.kind in _TROUBLED else "dim" if row.phase != "agent" else ""


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
    "waiting": "yellow",
    "epic": "magenta",
    "ready": "",
    "skipped": "dim",
}
"""The statuses in the order in which they are counted, with their styles."""


def block(state: State, totals: Totals, width: int, height: int, now: float, clock: float) -> list[Text]:
    """Return the block's lines, none wider than `width` cells and not more than fit into `height` rows.

    `now` is a monotonic time, `clock` the same moment in epoch seconds.
    """
    ending = _ending(state, totals, width, now)
    away = [] if state.idle_until is not None else [Text(fit(f" {text}", width), "yellow") for text in totals.away]
    lines_max = max(height - 1 - _TOLD_ABOVE, 1 + len(ending))
    rule = [Text("─" * width, style="dim")] if height >= _RULE_FROM else []
    away = away[: min(_AWAY_MAX, max(lines_max - len(ending) - 2, 0))]
    room = lines_max - len(ending) - len(rule) - len(away)
    at_work = len(state.at_work)
    double = 2 * at_work <= min(room, max(height // 2 - 1, 0))
    rows = row_lines(state, width, now, max(room // 2 if double else room, 1), double=double)
    lines = [*rule, *(rows or _idle(state, totals, width, clock)), *away, *ending][-max(height - 1, 1) :]
    for line in lines:
        line.truncate(width)  # only where not even the columns' own width is there
    return lines


def _idle(state: State, totals: Totals, width: int, clock: float) -> list[Text]:
    """Say what everything waits for, and until when."""
    until = state.idle_until
    if until is None:
        return []
    first = f" everything waits until {when(until, clock)}, {duration(max(until - clock, 0.0))} more"
    why = totals.away or tuple(told for at, told in totals.waits if at == until)
    return [Text(fit(first, width), "yellow"), *(Text(fit(f"   {told}", width), "dim") for told in why[:_AWAY_MAX])]


def _ending(state: State, totals: Totals, width: int, now: float) -> list[Text]:
    left = _counts(totals)
    tried = count(state.attempts, "attempt") if state.attempts else ""
    parts = ("stopping" if state.stopping else "", tried, *_spent_by_run(state, totals), elapsed(now - state.began))
    right = " · ".join(part for part in parts if part)
    gap = width - left.cell_len - cells(right)
    if gap > 1:
        return [Text.assemble(left, " " * gap, (right, "dim"))]
    left.truncate(width, overflow="ellipsis")
    return [left, Text(fit(f" {right}", width), "dim")]


def _spent_by_run(state: State, totals: Totals) -> tuple[str, ...]:
    """Return dollars and tokens, with what is under way: what is limited; else dollars, or else tokens."""
    if totals.spent is None:
        return ()
    usd = totals.spent.usd + sum(row.usd or 0.0 for row in state.at_work)
    spent = Spent(usd, totals.spent.tokens + sum(row.tokens or 0 for row in state.at_work))
    usd_max, tokens_max = (totals.budget.usd, totals.budget.tokens) if totals.budget is not None else (None, None)
    told = []
    if spent.usd or usd_max is not None:
        told.append(money(spent.usd) + (f" of {money(usd_max)}" if usd_max is not None else ""))
    if tokens_max is not None or (spent.tokens and not told):
        limit = f" of {short_count(tokens_max)}" if tokens_max is not None else ""
        told.append(f"{short_count(spent.tokens)}{limit} tokens")
    return tuple(told)


def _counts(totals: Totals) -> Text:
    shown = [(f"{totals.counts[name]} {name}", style) for name, style in _STATUSES.items() if totals.counts.get(name)]
    text = Text(" ")
    for position, (told, style) in enumerate(shown):
        text.append(" · " if position else "", "dim")
        text.append(told, style)
    return text
