"""What an issue has cost: its attempts, and the questions asked about it. Kept in its row, so that looking is cheap."""

import sqlite3


def count_cost(connection: sqlite3.Connection, issue_id: str) -> None:
    """Bring an issue's cost up to its rows; added up anew each time, so that it cannot drift. None: nobody told."""
    connection.execute(
        "UPDATE issues SET cost_usd = (SELECT SUM(cost_usd) FROM ("
        "SELECT cost_usd FROM attempts WHERE issue_id = :id UNION ALL SELECT cost_usd FROM advice WHERE issue_id = :id"
        ")) WHERE id = :id",
        {"id": issue_id},
    )
