"""Opens what commands that only look need: no git; nothing that writes, no pydantic unless issue files have changed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noface.git.locate import RepositoryFolders, locate
from noface.model.issue import Backlog, Issue
from noface.store.database import Database
from noface.store.reader import Reader
from noface.trackers.base import IssueTracker, SingleReader

if TYPE_CHECKING:
    from noface.store.journal import Journal
    from noface.store.questions import Questions
    from noface.store.records import IssueRow


@dataclass(frozen=True, slots=True)
class ReadSession:
    """A repository's state as a looking command sees it; `exists` is False before the first run."""

    location: RepositoryFolders
    database: Database
    reader: Reader
    tracker: IssueTracker
    exists: bool

    @property
    def journal(self) -> "Journal":
        from noface.store.journal import Journal

        return Journal(self.database)

    @property
    def questions(self) -> "Questions":
        from noface.store.questions import Questions

        return Questions(self.database, self.journal)

    def backlog(self) -> Backlog:
        """Return the backlog as the tracker has it; without the parts that breakdowns made."""
        return self.tracker.backlog(merged_ids(self.reader))

    def issue(self, row: "IssueRow") -> Issue | None:
        """Return an issue of the backlog as its tracker has it; None if it is gone or faulty."""
        if isinstance(self.tracker, SingleReader) and row.present:
            # The rows are up to date, so that the issue is sound beside the others; its file has the rest.
            issue = self.tracker.read(row.source)
            if issue is not None and issue.id == row.id:
                return replace(issue, depends_on=row.depends_on)
        backlog = with_own_parts(self.backlog(), self.database)
        return next((each for each in backlog.issues if each.id == row.id), None)


def open_session(config: Path | None = None, *, fetch: bool = False) -> ReadSession:
    """Open the state of the repository around the current folder, with the issue rows up to date.

    Before the first run nothing is written: the rows are made in memory. With `fetch` issues on another machine are
    fetched first. Raises UsageError, ConfigError or StoreError, and ForgeError if that fails.
    """
    location = locate(Path.cwd())
    path = location.state_dir / "state.db"
    exists = path.exists()
    database = Database.at(path)
    tracker = _tracker(location.root, location.state_dir, config)
    if fetch:
        _fetch(tracker, location.root, config)
    reader = Reader(database)
    fingerprint = tracker.fingerprint()
    if reader.fact("fingerprint") != fingerprint:
        from noface.store.journal import Journal

        backlog = without_unknown(tracker.backlog(merged_ids(reader)), location.root, config)
        backlog = with_own_parts(backlog, database)
        if exists:  # what is written to the disk holds no secret of the environment
            from noface.process.masking import known_secrets
            from noface.secrets.masked_records import masked_record

            backlog = masked_record(backlog, known_secrets(()))
        Journal(database).sync_backlog(backlog, fingerprint)
    return ReadSession(location, database, reader, tracker, exists)


def _fetch(tracker: IssueTracker, root: Path, config: Path | None) -> None:
    from noface.trackers.base import RemoteTracker

    if not isinstance(tracker, RemoteTracker):
        return
    from noface.cli.connections import fetch_issues
    from noface.config import load
    from noface.git.repository import discover

    loaded = load.load(root, config)
    fetch_issues(tracker, loaded, discover(root, loaded.project.main))


def without_unknown(backlog: Backlog, root: Path, config: Path | None) -> Backlog:
    """Return the backlog with issues that no model may work on among the faults, as a run sees it."""
    if not any(issue.model is not None or issue.tier is not None for issue in backlog.issues):
        return backlog
    from noface.cli.policy_records import model_specs
    from noface.config.load import load
    from noface.errors import ConfigError
    from noface.model.backlog import without_unknown_models

    try:
        loaded = load(root, config)
    except ConfigError:
        return backlog
    return without_unknown_models(backlog, model_specs(loaded, root))


def with_own_parts(backlog: Backlog, database: Database) -> Backlog:
    from noface.recovery.schedule import with_parts
    from noface.store.journal import Journal
    from noface.store.questions import Questions

    return replace(backlog, issues=with_parts(backlog.issues, Questions(database, Journal(database)).children()))


def merged_ids(reader: Reader) -> tuple[str, ...]:
    return tuple(reader.merged())


def _tracker(root: Path, state: Path, config: Path | None) -> IssueTracker:
    from noface.config import load
    from noface.data.trackers import tracker_settings
    from noface.errors import ConfigError
    from noface.trackers.base import open_tracker

    try:
        path = load.find(root, config)
    except ConfigError:
        if config is not None:
            raise
        tables: Mapping[str, Any] = {}
    else:
        tables = load.tables(load.read(path), str(path))
    settings = tracker_settings(tables)
    return open_tracker(settings or load.load(root, config).tracker_settings, root, state)
