"""What attempts and questions have used up, and what is under way: read from their rows, so nothing can drift."""

from noface.model.budget import Estimate, Spent
from noface.store.database import Database
from noface.store.records import query

NEWEST_MAX = 20
"""How many of a model's newest runs count for what the next one may use; older ones were other work."""


class Spending:
    """Reads what models have used."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def of_run(self, run_id: str) -> Spent:
        usd, tokens = self._db.rows(query("spent"), run_id, run_id)[0]
        return Spent(float(usd or 0.0), int(tokens or 0))

    def peaks(self) -> dict[str, Estimate]:
        return {row["model"]: Estimate(**row) for row in self._db.rows(query("peaks"), NEWEST_MAX)}

    def under_way(self) -> tuple[tuple[str, bool], ...]:
        return tuple((row["model"], bool(row["think"])) for row in self._db.rows(query("under_way")))
