"""How an issue's `accept` commands did on main before its first attempt, as the store keeps it."""

import json
from dataclasses import dataclass

from noface.engine.context import RunContext
from noface.model.codec import decode, encode
from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.store.reader import Reader

_FACT = "accept_on_main:"


@dataclass(frozen=True, slots=True)
class AcceptOnMain:
    """How an issue's `accept` commands do on main: how many of their tests fail, and the failure of the first.

    `unwritten` are paths that they name for tests which main does not have there: the worker is to write them.
    """

    failing: int
    failure: Failure | None = None
    unwritten: tuple[str, ...] = ()


def recorded_on_main(reader: Reader, issue: Issue) -> AcceptOnMain | None:
    """Return how the commands that the issue has now did, None if that is not known."""
    try:
        record = json.loads(reader.fact(f"{_FACT}{issue.id}") or "{}")
        return decode(AcceptOnMain, record) if record.get("issue") == issue.content_hash else None
    except (ValueError, TypeError, KeyError):
        return None


def fact_of(issue: Issue, result: AcceptOnMain) -> tuple[str, str]:
    """Return the name and the text of the fact that keeps what was found."""
    return f"{_FACT}{issue.id}", json.dumps({"issue": issue.content_hash, **encode(result)})


def accept_on_main(context: RunContext, issue: Issue) -> Failure | None:
    """Return how the issue's commands failed on main before its first attempt, None if that is not known."""
    recorded = recorded_on_main(context.reader, issue)
    return recorded.failure if recorded is not None else None


def unwritten_on_main(context: RunContext, issue: Issue) -> tuple[str, ...]:
    """Return the paths that the issue's commands name for tests which main did not have before its first attempt."""
    recorded = recorded_on_main(context.reader, issue)
    return recorded.unwritten if recorded is not None else ()
