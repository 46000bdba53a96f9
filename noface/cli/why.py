"""`noface why ID [N]`: how an attempt was judged, what also matched, and what followed."""

from typing import TYPE_CHECKING

import typer

from noface.cli.candidates import attempt_number, tried_issue
from noface.cli.verb import Answer, ConfigFile, answers
from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.store.records import AttemptRow


@answers("The evidence chain as JSON.")
def why(
    issue_id: str = typer.Argument(..., metavar="ID", help="The issue.", autocompletion=tried_issue),
    number: int | None = typer.Argument(
        None, metavar="N", help="The attempt; by default the newest that failed.", autocompletion=attempt_number
    ),
    config: ConfigFile = None,
) -> Answer:
    """Show why an attempt failed. The rule and lines that decided, and the rules that lost."""
    from noface.cli.session import open_session
    from noface.ui.issues import find_issue
    from noface.ui.why import why_document, why_page

    reader = open_session(config).reader
    attempts = reader.attempts(find_issue(reader, issue_id).id)
    place = _chosen(attempts, issue_id, number)
    following = attempts[place + 1] if place + 1 < len(attempts) else None
    return Answer(why_document(attempts[place], following), why_page)


def _chosen(attempts: "list[AttemptRow]", issue_id: str, number: int | None) -> int:
    """Return the place of the attempt that is meant."""
    if not attempts:
        raise UsageError(f"issue {issue_id} has no attempt yet", f"Run it: noface run --issue {issue_id}")
    if number is None:
        failed = [place for place, attempt in enumerate(attempts) if attempt.failure]
        return failed[-1] if failed else len(attempts) - 1
    for place, attempt in enumerate(attempts):
        if attempt.number == number:
            return place
    known = ", ".join(str(attempt.number) for attempt in attempts)
    raise UsageError(f"issue {issue_id} has no attempt {number}", f"Its attempts: {known}.")
