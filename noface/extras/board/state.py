"""What the board reads and decides on: the repository's state, opened anew for each page, so that no page is stale."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol

from noface.model.issue import Issue
from noface.store.database import Database
from noface.store.journal import Journal
from noface.store.questions import Questions
from noface.store.reader import Reader
from noface.store.records import IssueRow


class Folders(Protocol):
    """Where the repository lies."""

    @property
    def root(self) -> Path:
        """The working tree's top."""


class OpenState(Protocol):
    """The state as the verbs see it; `exists` is False before the first run, when nothing can be decided."""

    @property
    def location(self) -> Folders:
        """Where the repository lies."""

    @property
    def database(self) -> Database:
        """The database."""

    @property
    def reader(self) -> Reader:
        """What is recorded."""

    @property
    def journal(self) -> Journal:
        """What records a person's decision."""

    @property
    def questions(self) -> Questions:
        """What was asked and answered."""

    def issue(self, row: IssueRow) -> Issue | None:
        """Return an issue as it is written now; None if it is gone or faulty."""

    @property
    def exists(self) -> bool:
        """False before the first run."""


class Displayed(NamedTuple):
    """What a page showed of an issue when a person decided: its status, its newest attempt, and that one's commit."""

    status: str
    attempt: int
    commit: str


def displayed(reader: Reader, issue_id: str) -> Displayed:
    row, newest = reader.issue(issue_id), next(reversed(reader.attempts(issue_id)), None)
    status = row.status if row is not None else ""
    return Displayed(status, newest.number, newest.commit_id or "") if newest is not None else Displayed(status, 0, "")


Open = Callable[[], AbstractContextManager[OpenState]]
"""Opens the state for a page, and closes it after that."""
