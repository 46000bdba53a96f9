"""`noface tools fetch`: bring the copy of a tracker's issues up to date without a run. Nothing is written there."""

from collections.abc import Iterator
from pathlib import Path

from noface.cli.verb import ConfigFile, VerbResult, answers


@answers("What was fetched, as JSON.")
def fetch(config: ConfigFile = None) -> VerbResult:
    """Fetch the issues from the tracker. A run does so by itself.

    Exit code 3 where some are faulty.
    """
    from noface.cli.connections import connect
    from noface.cli.wiring import remote_issues
    from noface.config.load import load
    from noface.errors import EXIT_ATTENTION, EXIT_DONE, UsageError
    from noface.git.locate import locate
    from noface.git.repository import discover
    from noface.process.lock import RepositoryLock
    from noface.trackers.base import open_tracker
    from noface.ui.status import fault_lines
    from noface.ui.text import count

    location = locate(Path.cwd())
    loaded = load(location.root, config)
    tracker = open_tracker(loaded.tracker_settings, location.root, location.state_dir)
    remote = remote_issues(loaded, tracker)
    if remote is None:
        raise UsageError("the issues lie in the repository: there is nothing to fetch", "See them: noface issues")
    github = connect(loaded, discover(Path.cwd(), loaded.project.main)).github
    if github is not None:
        remote.tracker.use(github)
    with RepositoryLock(location.state_dir / "lock"):
        remote.tracker.refresh()
    backlog = tracker.backlog()

    def lines(_: object, width: int) -> Iterator[str]:
        yield f"{count(len(backlog.issues), 'issue')} for noface: noface issues"
        yield from fault_lines((*backlog.faults, *backlog.warnings), width)

    document = {"issues": len(backlog.issues), "faults": backlog.faults, "warnings": backlog.warnings}
    return VerbResult(document, lines, EXIT_ATTENTION if backlog.faults else EXIT_DONE)
