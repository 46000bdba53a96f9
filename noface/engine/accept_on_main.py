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
    """`unwritten` are paths that the commands name for tests which main does not have: the worker writes them."""

    failing: int
    failure: Failure | None = None
    unwritten: tuple[str, ...] = ()


def recorded_on_main(reader: Reader, issue: Issue) -> AcceptOnMain | None:
    try:
        record = json.loads(reader.fact(f"{_FACT}{issue.id}") or "{}")
        return decode(AcceptOnMain, record) if record.get("issue") == issue.content_hash else None
    except (ValueError, TypeError, KeyError):
        return None


def fact_of(issue: Issue, result: AcceptOnMain) -> tuple[str, str]:
    return f"{_FACT}{issue.id}", json.dumps({"issue": issue.content_hash, **encode(result)})


def accept_on_main(context: RunContext, issue: Issue) -> Failure | None:
    recorded = recorded_on_main(context.reader, issue)
    return recorded.failure if recorded is not None else None


def unwritten_on_main(context: RunContext, issue: Issue) -> tuple[str, ...]:
    recorded = recorded_on_main(context.reader, issue)
    return recorded.unwritten if recorded is not None else ()
