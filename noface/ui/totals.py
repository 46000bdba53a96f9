"""The totals of the live view: issues by status, what the run has used up, and what is waited for."""

from collections.abc import Mapping
from dataclasses import dataclass

from noface.model.budget import Budget, Spent
from noface.store.reader import Reader
from noface.store.spending import Spending
from noface.ui.narrate import away, printable
from noface.ui.status import as_they_stand, counts_of

Purse = tuple[Spending, Budget]
"""Where a run's money is counted, and how much of it there is."""


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
        counts=counts_of(row for row in as_they_stand(rows) if row.present or row.status == "merged"),
        spent=_spent_by_run(reader, purse),
        budget=purse[1] if purse is not None else None,
        away=tuple(away(name, breaker, now) for name, breaker in breakers if breaker.open(now)),
        waits=tuple((until, printable(f"{row.id}: {row.reason}")) for until, row in waiting),
    )


def _spent_by_run(reader: Reader, purse: Purse | None) -> Spent | None:
    run = reader.last_run()
    return purse[0].of_run(run.id) if purse is not None and run is not None else None
