"""Draws the live view's block: the rows at work, models that rest, and the totals. Pure; fits any terminal."""

from rich.text import Text

from noface.core.budget import Spent
from noface.views.live_line import when
from noface.views.live_rows import elapsed, row_lines, short_count
from noface.views.live_state import State
from noface.views.live_totals import Totals
from noface.views.text import cells, count, duration, fit, money

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
    parts = ("stopping" if state.stopping else "", tried, *_spent(state, totals), elapsed(now - state.began))
    right = " · ".join(part for part in parts if part)
    gap = width - left.cell_len - cells(right)
    if gap > 1:
        return [Text.assemble(left, " " * gap, (right, "dim"))]
    left.truncate(width, overflow="ellipsis")
    return [left, Text(fit(f" {right}", width), "dim")]


def _spent(state: State, totals: Totals) -> tuple[str, ...]:
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
