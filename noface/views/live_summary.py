"""The closing lines of a run: what came of it, and what it needs from a person."""

from collections import Counter
from collections.abc import Iterable, Iterator

from noface.store.reader import Reader
from noface.views.live_line import printable, short_title
from noface.views.standing import Row, effective_status, standings
from noface.views.text import count, money

_SHOWN_MAX = 20
_NOTHING_THERE = 'The backlog is empty: noface issue add "What should be done".'


def effective_counts(rows: Iterable[Row]) -> Counter[str]:
    """Count the issues by where they stand, as `noface status` does."""
    listed = list(rows)
    statuses = standings(listed)
    return Counter(effective_status(row, statuses)[0] for row in listed if row["present"])


def closing_lines(reader: Reader, why: str) -> list[str]:
    """Return what came of the run, and what to do next. `why` says how it ended."""
    everything = reader.issues()
    counts = effective_counts(everything)
    told = ", ".join(f"{number} {status}" for status, number in counts.most_common())
    lines = ["", f"{why[:1].upper()}{why[1:]}.", f"The backlog: {told}." if told else _NOTHING_THERE]
    rows = [row for row in everything if row["present"]]
    lines += _named(rows, "blocked", "■")
    lines += _named(rows, "approval", "?")
    lines += [f"  ! {row['id']} cannot land: {printable(row['reason'])}" for row in rows if row["status"] == "landing"]
    lines += [f"  ? {fault.source}: {printable(fault.problem)}" for fault in reader.faults()[:_SHOWN_MAX]]
    lines += _flaky(reader)
    if counts["blocked"] or counts["approval"] or counts["landing"]:
        lines.append("What they need from you: noface blocked")
    costs = [row["cost_usd"] for row in rows if row["cost_usd"] is not None]
    if costs:
        lines.append(f"Cost so far, as the agents report it: {money(sum(costs))}")
    return lines


def _named(rows: Iterable[Row], status: str, mark: str) -> Iterator[str]:
    found = [row for row in rows if row["status"] == status]
    for row in found[:_SHOWN_MAX]:
        yield f"  {mark} {row['id']} {short_title(row['title'])}"
    if len(found) > _SHOWN_MAX:
        yield f"  {mark} … and {len(found) - _SHOWN_MAX} more"


def _flaky(reader: Reader) -> Iterator[str]:
    flaky = reader.flaky_gates()
    if flaky:
        named = ", ".join(f"{gate} ({count(times, 'time')})" for gate, times in flaky.items())
        yield f"{count(len(flaky), 'flaky gate')}: {named}"
