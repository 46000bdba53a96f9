"""The two of `noface tools` that serve scripts.

`fetch` brings the copy of a tracker's issues up to date without a run, and writes
nothing there; `schema` prints the JSON Schemas of what other programs read from noface and write for it.
"""

from collections.abc import Iterator
from pathlib import Path

import typer

from noface.cli.verb import ConfigFile, VerbResult, answers, meant


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


@answers("The list as JSON; a schema is JSON anyway.")
def schema(
    name: str = typer.Argument("", metavar="[NAME]", show_default=False, help="Which one; without it, all are listed."),
) -> VerbResult | None:
    """Print the JSON Schema of orders, reports, or `--json` output.

    The schemas follow draft 2020-12.
    """
    import json

    from noface.ui import page
    from noface.ui.published import SCHEMAS, list_of_schemas, published, schemas_page

    if name:
        page.show([json.dumps(published(meant(name, SCHEMAS, "schema", "schemas")), indent=2)])
        return None
    return VerbResult({"schemas": list_of_schemas()}, schemas_page)
