"""What attempts and questions have used up, and what is under way: read from their rows, so nothing can drift.

What is under way is what has a row and no outcome yet. That row is written in the transaction that starts it, so
reserving for it needs no record of its own.
"""

from dataclasses import dataclass

from noface.model.budget import Seen, Spent
from noface.model.taxonomy import INTERRUPTED
from noface.store.database import Database

NEWEST_MAX = 20
"""So many of a model's newest runs tell what the next one may use; older ones were other work, or another model."""

_TOKENS = "NULLIF(COALESCE(tokens_in, 0) + COALESCE(tokens_out, 0), 0)"
_ADVISED = "NULLIF(json_extract(answer, '$.tokens'), 0)"
# A run that failed before it began cost nothing, which tells nothing of the next; nor does one that was cut short.
_SEEN = f"""
    SELECT model, MAX(usd) AS usd, MAX(tokens) AS tokens FROM (
        SELECT *, ROW_NUMBER() OVER (PARTITION BY model, topic ORDER BY at DESC) AS age FROM (
            SELECT model, '' AS topic, finished_at AS at, NULLIF(cost_usd, 0) AS usd, {_TOKENS} AS tokens
            FROM attempts WHERE outcome != '{INTERRUPTED}'
            UNION ALL
            SELECT model, topic, answered_at, NULLIF(cost_usd, 0), {_ADVISED}
            FROM advice WHERE outcome != '{INTERRUPTED}'
        ) WHERE usd IS NOT NULL OR tokens IS NOT NULL
    ) WHERE age <= {NEWEST_MAX} GROUP BY model
"""  # noqa: S608 - put together of constants
_SPENT = f"""
    SELECT SUM(usd), SUM(tokens) FROM (
        SELECT cost_usd AS usd, {_TOKENS} AS tokens FROM attempts WHERE run_id = ?
        UNION ALL
        SELECT cost_usd, {_ADVISED} FROM advice WHERE run_id = ?
    )
"""  # noqa: S608 - the same


@dataclass(frozen=True, slots=True)
class UnderWay:
    """An attempt or a question that has not ended. `think`: it may take longer, and more."""

    model: str
    think: bool = False


class Spending:
    """Reads what models have used."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def of_run(self, run_id: str) -> Spent:
        """Return what a run's attempts and questions have used, as far as anybody said."""
        usd, tokens = self._db.rows(_SPENT, run_id, run_id)[0]
        return Spent(float(usd or 0.0), int(tokens or 0))

    def seen(self) -> dict[str, Seen]:
        """Return the most that one of each model's newest attempts and questions used."""
        return {row["model"]: Seen(row["usd"], row["tokens"]) for row in self._db.rows(_SEEN)}

    def under_way(self) -> tuple[UnderWay, ...]:
        """Return the attempts and questions that models are at work on."""
        rows = self._db.rows(
            "SELECT model, think FROM attempts WHERE outcome IS NULL"
            " UNION ALL SELECT model, 0 FROM advice WHERE outcome IS NULL AND model != ''"
        )
        return tuple(UnderWay(row["model"], bool(row["think"])) for row in rows)
