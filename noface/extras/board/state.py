"""What the board reads and decides on: the repository's state, opened anew for each page, so that no page is stale."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

from noface.cli.session import ReadSession
from noface.store.reader import Reader


class Displayed(NamedTuple):
    """What a page showed of an issue when a person decided: its status, its newest attempt, and that one's commit."""

    status: str
    attempt: int
    commit: str


def displayed(reader: Reader, issue_id: str) -> Displayed:
    row, newest = reader.issue(issue_id), next(reversed(reader.attempts(issue_id)), None)
    status = row.status if row is not None else ""
    return Displayed(status, newest.number, newest.commit_id or "") if newest is not None else Displayed(status, 0, "")


Open = Callable[[], AbstractContextManager[ReadSession]]
"""Opens the state for a page, and closes it after that."""
