"""What a person decides on the board, by the functions of the verbs: the same rows change.

A decision is about what its page showed. If the issue has gone on since, it is refused and nothing changes: nobody
approves work that they have not seen.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

from noface.cli.session import ReadSession
from noface.errors import UsageError
from noface.model.history import Verdict
from noface.store import decisions
from noface.store.reader import Reader
from noface.store.records import IssueRow
from noface.ui.issues import find_issue


class Displayed(NamedTuple):
    """What a page showed of an issue when a person decided: its status, its newest attempt, and that one's commit."""

    status: str
    attempt: int
    commit: str


def displayed(reader: Reader, issue_id: str) -> Displayed:
    row, newest = reader.issue(issue_id), next(reversed(reader.attempts(issue_id)), None)
    status = row.status if row is not None else ""
    return Displayed(status, newest.number, newest.commit_id or "") if newest is not None else Displayed(status, 0, "")


Open = Callable[[], AbstractContextManager[ReadSession]]
"""Opens the state for a page, and closes it after that."""


VERBS = {"approve": "Approve", "reject": "Reject", "retry": "Retry", "skip": "Skip", "note": "Keep the note"}
"""What can be decided, and what its button says."""
_FOR_LATER = ("ready", "waiting", "running", "landing")
_NOTHING_RUN = ("nothing has run yet, so there is nothing to decide", "Start with: noface run")


def possible(row: IssueRow) -> tuple[str, ...]:
    if not row.present:
        return ()
    checks = {"retry": decisions.no_retrying, "skip": decisions.no_skipping}
    asked = ("approve", "reject") if row.takes_yes else ()
    others = tuple(verb for verb, no in checks.items() if no(row) is None)
    return (*asked, *others, *(("note",) if row.status in _FOR_LATER else ()))


def decide(state: ReadSession, issue_id: str, verb: str, note: str, seen: Displayed) -> str:
    """Carry out what a person decided on an issue as they saw it; return what was done. Raises UsageError."""
    text, now = decisions.sound_note(note), time.time()
    if not state.exists:
        raise UsageError(*_NOTHING_RUN)
    with state.database.transaction():
        row = find_issue(state.reader, issue_id)
        if displayed(state.reader, row.id) != seen:
            raise UsageError(
                f"issue {row.id} has gone on since this page was made: it is {row.status} now, and nothing was changed",
                "Look at it as it is now, then decide.",
            )
        match verb:
            case "approve" | "reject":
                if verb == "reject" and not text:
                    raise UsageError("say why: without a reason the next worker would do the same again")
                verdict = Verdict.APPROVED if verb == "approve" else Verdict.REJECTED
                case = decisions.open_case(state.reader, row, verdict)
                if case.settled is None:
                    said = (verdict, text, "a person")
                    decisions.decide(now, state.journal, state.questions, state.reader, case, said)
                return f"Issue {row.id} is {verdict.value}."
            case "retry":
                _refuse(decisions.no_retrying(row) or decisions.gone(row) or decisions.taken_back(state.reader, row))
                decisions.give_back(state.journal, state.questions, state.reader, now, row, text, "retried by a person")
                return f"Issue {row.id} is ready; its counters start again."
            case "skip":
                _refuse(decisions.no_skipping(row) or decisions.gone(row))
                decisions.skip(now, state.journal, row)
                return f"Issue {row.id} is left undone."
            case "note":
                _refuse(decisions.gone(row))
                if row.status not in _FOR_LATER:
                    raise UsageError(f"issue {row.id} is {row.status}: no worker follows who would read a note")
                if not text:
                    raise UsageError("the note is empty")
                decisions.keep_note(state.questions, state.reader, now, row, text, row.epoch)
                return f"The next worker on issue {row.id} reads the note."
            case _:
                raise UsageError(f"there is nothing to decide called {verb[:20]}")


def _refuse(problem: UsageError | None) -> None:
    if problem is not None:
        raise problem
