"""`noface why ID [N]`: how an attempt was judged, what also matched, and what followed."""

import typer

from noface.cli.candidates import attempt_number, tried_issue
from noface.cli.verb import ConfigFile, VerbResult, answers


@answers("The evidence chain as JSON.")
def why(
    issue_id: str = typer.Argument(..., metavar="ID", help="The issue.", autocompletion=tried_issue),
    number: int | None = typer.Argument(
        None, metavar="N", help="The attempt; by default the newest that failed.", autocompletion=attempt_number
    ),
    config: ConfigFile = None,
) -> VerbResult:
    """Show why an attempt failed. The rule and lines that decided, and the rules that lost."""
    from noface.cli.session import open_session
    from noface.ui.issues import find_attempt, find_issue
    from noface.ui.why import why_document, why_page

    reader = open_session(config).reader
    attempts = reader.attempts(find_issue(reader, issue_id).id)
    attempt = find_attempt(attempts, issue_id, number)
    if number is None:
        attempt = next((each for each in reversed(attempts) if each.failure), attempt)
    following = next(iter(attempts[attempts.index(attempt) + 1 :]), None)
    return VerbResult(why_document(attempt, following), lambda _, width: why_page(attempt, following, width))
