"""`noface status`: where every issue stands, and what needs a person."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.verb import ConfigFile, VerbResult, answers

if TYPE_CHECKING:
    from noface.store.overview import Room


@answers("The whole status as JSON.")
def status(
    everything: bool = typer.Option(False, "--all", help="Show every issue, however many are ready or merged."),
    since: str | None = typer.Option(
        None, "--since", metavar="WHEN", help="Only what happened since then: 8h, 22:00, yesterday, a date, run."
    ),
    config: ConfigFile = None,
) -> VerbResult:
    """Show where every issue stands."""
    import time

    from noface.cli.fast_path import overview
    from noface.ui.status import ListedFault, happened_since, run_of, status_document, status_page

    rows = overview(Path.cwd(), config)
    row = rows.last_run()
    run = run_of(row, alive=row is not None and row.ended_at is None and _runs(row.pid))
    run = run._replace(paused_at=rows.paused()) if run is not None and run.running else run
    gaps = rows.gaps(row.id) if row is not None else []
    faults = [ListedFault(fault.source, fault.problem, fault.hint) for fault in rows.faults()]
    now = time.time()
    of_models = rows.model_waits(now), rows.unsteady(), rows.attempts_made(), rows.pull_urls(), rows.behind()
    document = status_document(rows.listed(), faults, run, gaps, *of_models)
    left_out = (ListedFault(fault.source, fault.problem, fault.hint) for fault in rows.left_out())
    document = document._replace(left_out=tuple(left_out))
    document = document._replace(
        tracker_away=rows.tracker_away(),
        disk=_with_free(rows.workspaces()),
        hosts=rows.hosts(),
        quotas=rows.quotas(now),
    )
    if since is not None:
        from noface.ui.since import since_when

        at = since_when(since, now, row.started_at if row is not None else None)
        document = happened_since(document, at, rows.happened_since(at))
    return VerbResult(document, lambda document, width: status_page(document, now, width, everything=everything))


def _with_free(room: "Room | None") -> "Room | None":
    import os

    try:
        system = os.statvfs(room.folder) if room is not None else None
    except OSError:
        return None
    return room._replace(free=system.f_bavail * system.f_frsize) if room is not None and system else None


def _runs(pid: int) -> bool:
    from noface.process.lock import runs

    return runs(pid)
