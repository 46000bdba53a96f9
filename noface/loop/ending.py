"""How a run ends: the exit code (docs/configuration.md), and the reason in a sentence."""

import sqlite3
from dataclasses import dataclass

from noface.core.taxonomy import IssueStatus
from noface.errors import EXIT_ATTENTION, EXIT_DONE, EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_LIMIT
from noface.loop.context import RunContext


@dataclass(frozen=True, slots=True)
class Ended:
    """The exit code of a run, and why it ended."""

    exit_code: int
    why: str


def ended(
    context: RunContext, *, broken: BaseException | None, stopped: bool, limit: str, work_left: bool, faulty: bool
) -> Ended:
    """Say how the run ended. `work_left`: something could still start or is waited for."""
    if broken is not None:
        message = getattr(broken, "message", "") or f"{type(broken).__name__}: {broken}"
        return Ended(EXIT_FAILURE, message)
    if stopped:
        return Ended(EXIT_INTERRUPTED, "interrupted; `noface run` goes on where it was")
    if limit and work_left:
        return Ended(EXIT_LIMIT, limit)
    only = context.settings.only_issues
    known = [row for row in context.reader.issues() if not only or row["id"] in only]
    rows = [row for row in known if row["present"]]
    if faulty or any(not _settled(row) for row in rows):
        return Ended(EXIT_ATTENTION, "finished; some issues need a person")
    gone = [str(row["id"]) for row in known if row["id"] in (context.at_first or ()) and _lost(row)]
    if gone:
        told = ", ".join(gone[:_GONE_SHOWN_MAX]) + (" …" if len(gone) > _GONE_SHOWN_MAX else "")
        why = f"finished, but issues went away while it ran: {told}; was a branch switched, or work stashed?"
        return Ended(EXIT_ATTENTION, why)
    return Ended(EXIT_DONE, "all done")


_GONE_SHOWN_MAX = 10


def _lost(row: sqlite3.Row) -> bool:
    """Tell whether an issue's file is gone before the issue was settled."""
    return not row["present"] and not _settled(row)


def _settled(row: sqlite3.Row) -> bool:
    """Tell whether an issue needs nobody any more. A part that its parent took back is the parent's affair."""
    skipped = row["status"] == IssueStatus.SKIPPED and (row["satisfied"] or row["parent"] is not None)
    return bool(row["status"] == IssueStatus.MERGED or skipped)
