"""`noface blocked [ID...]`: what needs a person, in a line an issue; of those named all there is to tell."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.candidates import any_issue
from noface.cli.verb import ConfigFile, VerbResult, answers
from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.store.overview import Overview
    from noface.store.records import IssueRow


@answers("The same as JSON.")
def blocked(
    issue_ids: list[str] = typer.Argument(
        None, metavar="[ID...]", help="Tell all of these; without, a line of each.", autocompletion=any_issue
    ),
    config: ConfigFile = None,
) -> VerbResult:
    """Show the issues that need you, and what you can do.

    Issues that are blocked, wait for your approval, or cannot land.
    """
    from noface.cli.fast_path import overview
    from noface.ui.blocked import blocked_document
    from noface.ui.blocked_page import blocked_page, issues_page

    known = overview(Path.cwd(), config)
    waiting, held = known.waiting_for_a_person(), known.held()
    if not issue_ids:
        edited = known.waiting_for_a_person(edited=True)
        return VerbResult(blocked_document(waiting, held), partial(blocked_page, edited=edited))
    wanted = _wanted(known, issue_ids, [*waiting, *held])
    waiting, held = ([row for row in rows if row.id in wanted] for rows in (waiting, held))
    return VerbResult(blocked_document(waiting, held), issues_page)


def _wanted(known: "Overview", issue_ids: Sequence[str], rows: "Sequence[IssueRow]") -> set[str]:
    """Return the ids that are meant. Raises UsageError for one that is unknown, or needs nobody."""
    from noface.ui.issues import find_issue
    from noface.ui.status import edited_since

    ids = {row.id for row in rows}
    meant = {name if name in ids else find_issue(known, name).id for name in issue_ids}
    for name in sorted(meant - ids):
        row = known.issue(name)
        if row is not None and row.edited:
            raise UsageError(f"issue {name} was {edited_since(row)}", "To have it go on: noface run")
        status = row.status if row is not None else "gone"
        raise UsageError(f"issue {name} is {status} and needs nothing of you", f"To read its story: noface show {name}")
    return meant
