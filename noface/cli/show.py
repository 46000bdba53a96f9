"""`noface show ID`: the story of an issue, with the rule and the lines that decided each attempt."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.candidates import any_issue
from noface.cli.verb import ConfigFile, VerbResult, answers
from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.model.request import GivenUp
    from noface.store.records import IssueRow

_LAST_LINES = 8


@answers("The issue and its attempts as JSON.")
def show(
    issue_id: str = typer.Argument(..., metavar="ID", help="The issue.", autocompletion=any_issue),
    report: bool = typer.Option(False, "--report", help="The report of an issue that noface gave up, as JSON."),
    config: ConfigFile = None,
) -> VerbResult | None:
    """Show an issue's attempts, why each failed, and what followed."""
    import time

    from noface.cli.session import open_session
    from noface.ui import page
    from noface.ui.issues import find_issue
    from noface.ui.logs import last_lines, removed
    from noface.ui.show import story_page
    from noface.ui.story import show_document

    session = open_session(config)
    reader = session.reader
    row = find_issue(reader, issue_id)
    if report:
        page.show_json(_abort_report(row))
        return None
    document = show_document(reader, row, session.location.has_branch)
    newest = next(reversed(reader.attempts(row.id)), None)
    last = tuple[str, ...]()
    if newest is not None:
        gone = removed(Path(newest.directory))
        last = (f"its files {gone}",) if gone else last_lines(Path(newest.directory), newest.model, _LAST_LINES)
    return VerbResult(document, lambda story, width: story_page(story, last, time.time(), width))


def _abort_report(row: "IssueRow") -> "GivenUp":
    """Return the report that was made when noface gave the issue up (K6)."""
    report = row.block.report if row.block is not None else None
    if report is None:
        raise UsageError(
            f"issue {row.id} is {row.status} and has no report: reports are written when noface gives an issue up",
            f"See its attempts: noface show {row.id}",
        )
    return report
