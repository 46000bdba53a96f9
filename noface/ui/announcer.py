"""What a person sees while noface runs: a live table in a terminal, plain lines in a pipe, JSON lines for programs.

Also the totals and the closing lines, which the table and the plain lines share.
"""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from noface.model.budget import Budget, Spent
from noface.model.codec import encode
from noface.store.reader import Reader
from noface.store.records import IssueRow
from noface.store.spending import Spending
from noface.ui.narrate import Narrator, away, printable, short_title
from noface.ui.status import effective_status, standings
from noface.ui.text import count, money

_SHOWN_MAX = 20
_NOTHING_THERE = 'The backlog is empty: noface issue add "What should be done".'


def effective_counts(rows: Iterable[IssueRow]) -> Counter[str]:
    """Count the issues by where they stand, as `noface status` does."""
    listed = list(rows)
    statuses = standings(listed)
    return Counter(effective_status(row, statuses)[0] for row in listed if row.present)


def closing_lines(reader: Reader, why: str) -> list[str]:
    """Return what came of the run, and what to do next. `why` says how it ended."""
    everything = reader.issues()
    counts = effective_counts(everything)
    counted = ", ".join(f"{number} {status}" for status, number in counts.most_common())
    lines = ["", f"{why[:1].upper()}{why[1:]}.", f"The backlog: {counted}." if counted else _NOTHING_THERE]
    rows = [row for row in everything if row.present]
    lines += _named(rows, "blocked", "■")
    lines += _named(rows, "approval", "?")
    lines += [f"  ! {row.id} cannot land: {printable(row.reason)}" for row in rows if row.status == "landing"]
    lines += [f"  ? {fault.source}: {printable(fault.problem)}" for fault in reader.faults()[:_SHOWN_MAX]]
    lines += _flaky(reader)
    if counts["blocked"] or counts["approval"] or counts["landing"]:
        lines.append("What they need from you: noface blocked")
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    if costs:
        lines.append(f"Cost so far, as the agents report it: {money(sum(costs))}")
    return lines


def _named(rows: Iterable[IssueRow], status: str, mark: str) -> Iterator[str]:
    named = [row for row in rows if row.status == status]
    for row in named[:_SHOWN_MAX]:
        yield f"  {mark} {row.id} {short_title(row.title)}"
    if len(named) > _SHOWN_MAX:
        yield f"  {mark} … and {len(named) - _SHOWN_MAX} more"


def _flaky(reader: Reader) -> Iterator[str]:
    flaky = reader.flaky_gates()
    if flaky:
        named = ", ".join(f"{gate} ({count(times, 'time')})" for gate, times in flaky.items())
        yield f"{count(len(flaky), 'flaky gate')}: {named}"


@dataclass(frozen=True, slots=True)
class Purse:
    """Where a run's money is counted, and how much of it there is."""

    spending: Spending
    budget: Budget


@dataclass(frozen=True, slots=True)
class Totals:
    """Issues by status; what this run has used up, None where nobody counts; models that rest, in words.

    `waits` are the issues that wait for a time: epoch seconds, and what is told of them.
    """

    counts: Mapping[str, int]
    spent: Spent | None = None
    budget: Budget | None = None
    away: tuple[str, ...] = ()
    waits: tuple[tuple[float, str], ...] = ()


def look_up(reader: Reader, purse: Purse | None, now: float) -> Totals:
    """Return the totals as they are; `now` is epoch seconds."""
    rows = reader.issues()
    breakers = sorted(reader.waits().items(), key=lambda item: item[1].until)
    waiting = [(row.until, row) for row in rows if row.status == "waiting" and row.until is not None]
    return Totals(
        counts=effective_counts(rows),
        spent=_spent_by_run(reader, purse),
        budget=purse.budget if purse is not None else None,
        away=tuple(away(name, breaker, now) for name, breaker in breakers if breaker.open(now)),
        waits=tuple((until, printable(f"{row.id}: {row.reason}")) for until, row in waiting),
    )


def _spent_by_run(reader: Reader, purse: Purse | None) -> Spent | None:
    run = reader.last_run()
    return purse.spending.of_run(run.id) if purse is not None and run is not None else None


class View(Protocol):
    """Something that shows a run."""

    def announce(self, kind: str, issue_id: str | None, data: dict[str, object]) -> None:
        """Show one event."""

    def finish(self, exit_code: int, why: str) -> None:
        """Show how the run ended."""


@contextmanager
def announcer(*, as_json: bool, reader: Reader, purse: Purse | None = None) -> Iterator[View]:
    """Return the view that fits where standard output goes. `purse` is where the run's money is counted."""
    if as_json:
        yield JsonLines()
    elif live_wanted():
        from noface.ui.live import LiveView

        with LiveView(reader, purse) as view:
            yield view
    else:
        yield PlainLines(reader)


def live_wanted() -> bool:
    """Tell whether a table can be drawn: on a terminal that a person looks at. NO_COLOR only takes its colours."""
    return (
        sys.stdout.isatty() and not os.environ.get("CI") and os.environ.get("TERM", "") not in ("", "dumb", "unknown")
    )


class JsonLines:
    """One event a line. That there is nothing to do until a time is printed once, however often it is told."""

    def __init__(self) -> None:
        self._waits_until: object = None

    def announce(self, kind: str, issue_id: str | None, data: dict[str, object]) -> None:
        """Print an event."""
        if kind == "waiting":
            if data.get("until") == self._waits_until:
                return
            self._waits_until = data.get("until")
        self._print({"schema": 1, "at": round(time.time(), 3), "event": kind, "issue": issue_id, **data})

    def finish(self, exit_code: int, why: str) -> None:
        """Print nothing: the event `run_ended` has told it."""

    @staticmethod
    def _print(document: dict[str, object]) -> None:
        _say(json.dumps(encode(document)))


class PlainLines:
    """A line for everything that matters, with the time; nothing in it steers a terminal."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._narrator = Narrator(reader)

    def announce(self, kind: str, issue_id: str | None, data: dict[str, object]) -> None:
        """Print the lines for an event, if it has any."""
        for line in self._narrator.lines(kind, issue_id, data):
            self._print(f"{time.strftime('%H:%M:%S')} {line.mark} {line.text}")

    def finish(self, exit_code: int, why: str) -> None:
        """Print the summary."""
        del exit_code
        for text in closing_lines(self._reader, why):
            self._print(text)

    @staticmethod
    def _print(text: str) -> None:
        encoding = sys.stdout.encoding or "utf-8"
        _say(text.encode(encoding, "replace").decode(encoding))


def _say(line: str) -> None:
    """Print a line. Where nobody reads any more the work goes on, unseen (see process/startup)."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
