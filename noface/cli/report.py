"""`noface report`: the night on one page, in a terminal or as one HTML file."""

from errno import EDQUOT, ENOSPC
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.verb import ConfigFile, VerbResult, answers
from noface.errors import UsageError
from noface.ui.text import clean, hanging

if TYPE_CHECKING:
    from noface.report.night import Night


@answers("The whole night as JSON.")
def report(
    since: str = typer.Option(
        "run", "--since", metavar="WHEN", help="From when on: 8h, 22:00, yesterday, a date, or run, the newest."
    ),
    html: Path | None = typer.Option(None, "--html", metavar="FILE", help="Write it as a web page, all in one file."),
    as_json: bool = False,
    config: ConfigFile = None,
) -> VerbResult | None:
    """Show on one page what came of a night."""
    import sys
    import time
    from os import environ
    from pydoc import pager
    from shutil import get_terminal_size

    from noface.cli.session import open_session
    from noface.report.night import read_night
    from noface.report.page import headline, night_page
    from noface.ui import page
    from noface.ui.since import since_when

    session, now = open_session(config), time.time()
    at = since_when(since, now, session.reader.night_began())
    night = read_night(session.reader, at, now, session.location.root)
    if html is None:
        lines = night_page(night, page.width())
        if as_json or not sys.stdin.isatty() or not sys.stdout.isatty() or len(lines) < get_terminal_size().lines:
            return VerbResult(night, night_page)
        environ.setdefault("LESS", "-R")  # colours
        pager("\n".join(lines))  # else a person would see the end of it first
        return None
    _write(html, night)
    return VerbResult(night, lambda night, width: hanging(f"Wrote {clean(str(html))}: {headline(night)}", width))


def _write(path: Path, night: "Night") -> None:
    from noface.data.extras import extra
    from noface.process.files import write_atomic

    place = path.resolve()  # a link stays: what it leads to is replaced
    problem, hint = "it is no ordinary file", "Name a file that can be written"
    if not place.exists() or place.is_file():
        try:
            return write_atomic(place, extra("night as HTML")(night).encode("utf-8", "replace"))
        except OSError as error:
            problem = error.strerror or str(error)
            hint = "Make room, or write elsewhere" if error.errno in (ENOSPC, EDQUOT) else hint
    raise UsageError(
        f"--html: {clean(str(path))} cannot be written: {problem}", f"{hint}. What was there is as it was."
    )
