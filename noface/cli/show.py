"""`noface show ID`: the story of an issue; `--why` or a number shows how one attempt was judged."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.candidates import any_issue
from noface.cli.verb import ConfigFile, VerbResult, answers
from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.cli.session import ReadSession
    from noface.model.request import GivenUp
    from noface.store.records import IssueRow

_LAST_LINES = 8


@answers("The issue and its attempts, or how one was judged, as JSON.")
def show(
    issue_id: str = typer.Argument(..., metavar="ID", help="The issue.", autocompletion=any_issue),
    number: int | None = typer.Argument(None, metavar="[N]", help="Only this attempt, and how it was judged."),
    why: bool = typer.Option(False, "--why", help="How the newest attempt that failed was judged."),
    report: bool = typer.Option(False, "--report", help="The report of an issue that noface gave up, as JSON."),
    config: ConfigFile = None,
) -> VerbResult | None:
    """Show an issue's attempts, why each failed, and what followed.

    For one attempt: the rule and the lines that decided, the rules that lost, and what the next worker was told.
    """
    import time

    from noface.cli.session import open_session
    from noface.ui import page
    from noface.ui.issues import find_issue
    from noface.ui.logs import last_lines, removed
    from noface.ui.show import show_document, story_page

    session = open_session(config)
    reader = session.reader
    row = find_issue(reader, issue_id)
    if report:
        page.show_json(_abort_report(row))
        return None
    if why or number is not None:
        return _one_attempt(session, row, number)
    document = show_document(reader, row)
    newest = next(reversed(reader.attempts(row.id)), None)
    last = tuple[str, ...]()
    if newest is not None:
        gone = removed(Path(newest.directory))
        last = (f"its files {gone}",) if gone else last_lines(Path(newest.directory), newest.model, _LAST_LINES)
    return VerbResult(document, lambda story, width: story_page(story, last, time.time(), width))


def _one_attempt(session: "ReadSession", row: "IssueRow", number: int | None) -> VerbResult:
    import time

    from noface.ui.issues import find_attempt
    from noface.ui.why import why_document, why_page

    attempts = session.reader.attempts(row.id)
    attempt = find_attempt(attempts, row.id, number)
    if number is None:
        attempt = next((each for each in reversed(attempts) if each.failure), attempt)
    following = next(iter(attempts[attempts.index(attempt) + 1 :]), None)
    return VerbResult(
        why_document(attempt, following), lambda _, width: why_page(attempt, following, time.time(), width)
    )


def _abort_report(row: "IssueRow") -> "GivenUp":
    report = row.block.report if row.block is not None else None
    if report is None:
        raise UsageError(
            f"issue {row.id} is {row.status} and has no report: reports are written when noface gives an issue up",
            f"See its attempts: noface show {row.id}",
        )
    return report
