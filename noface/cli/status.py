"""`noface status`: where every issue stands, and what needs a person."""

from pathlib import Path

import typer

from noface.cli.verb import ConfigFile, VerbResult, answers


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
    from noface.ui.status import happened_since, status_now, status_page

    rows, now = overview(Path.cwd(), config), time.time()
    document = status_now(rows, now)
    if since is not None:
        from noface.ui.since import since_when

        at = since_when(since, now, rows.night_began())
        document = happened_since(document, at, rows.happened_since(at))
    return VerbResult(document, lambda document, width: status_page(document, now, width, everything=everything))
