"""What the store asks and what it returns: the statements of queries.sql, and a record for each row, its JSON read.

Named tuples, since `noface status` needs them: a dataclass of that size takes five times as long to make.
"""

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

from noface.model.description import OneOf, Timestamp

if TYPE_CHECKING:
    from noface.model.actions import NextAction
    from noface.model.failure import Failure
    from noface.model.failure_document import Steps
    from noface.model.history import Advice
    from noface.model.request import PersonRequest
    from noface.model.worker_run import Resumed, WorkerReport

SCHEMA_VERSION = 8
"""The schema that schema.sql makes and these queries know."""

_KIND = "noface.model.taxonomy.FailureKind"
_T = TypeVar("_T")


class IssueRow(NamedTuple):
    """An issue as the backlog and the loop left it. schema.sql says what each column is for.

    `block` is what a person needs to know of an issue that waits for them (recovery/blocked), else None.
    `content_hash` is what the issue says now, `blocked_hash` what it said when it was last worked on or blocked, or "".
    """

    id: str
    present: bool
    title: str
    priority: int
    source: str
    depends_on: tuple[str, ...]
    status: str
    reason: str
    until: float | None
    epoch: int
    note: str
    attempts: int
    model: str | None
    last_kind: str | None
    last_message: str | None
    branch: str | None
    merged_commit: str | None
    cost_usd: float | None
    block: "PersonRequest | None"
    satisfied: bool
    wanted_model: str | None
    wanted_attempts: int | None
    granted_paths: tuple[str, ...]
    needs: tuple[str, ...]
    parent: str | None
    content_hash: str
    blocked_hash: str
    cause: str

    @property
    def edited(self) -> bool:
        """True if a person has edited it since it was blocked or skipped: the next run lifts that."""
        return self.status in ("blocked", "skipped") and self.blocked_hash not in ("", self.content_hash)


LEARNED = "learned"
"""The fact that holds the landings that main told of when the database did not know them."""
UNSTEADY = "unsteady"
"""The fact that holds the tests that fail now and then on main."""
READS = "reads"
"""The fact that holds which files of main its test gates read."""


class GateRun(NamedTuple):
    """A gate."""

    name: Annotated[str, "Its name."]
    passed: Annotated[bool, "Whether it is green, or red only where main was."]
    hard: Annotated[bool, "Whether it must be."] = True
    seconds: Annotated[float, "How long it ran."] = 0.0
    kind: Annotated[str | None, OneOf(_KIND), "Why it failed; null where it did not."] = None
    memo: Annotated[bool, "Whether the result was remembered from an earlier run on the same tree."] = False
    flaky: Annotated[bool, "Whether it failed, and passed when it was run again, or but for unsteady tests."] = False
    unsteady: Annotated[tuple[str, ...], "Tests that failed and count for nobody: they fail now and then on main."] = ()


class AttemptRow(NamedTuple):
    """A worker run. `outcome` and `finished_at` are None while it is under way; `partial` is what each step left.

    `slot` is the workspace that it had, `doubts` what somebody had to look at before it landed.
    """

    issue_id: str
    number: int
    model: str
    tier: int
    think: bool
    directory: str
    started_at: float
    finished_at: float | None
    outcome: str | None
    charged: bool
    commit_id: str | None
    candidate: str | None
    cost_usd: float | None
    tokens_in: int | None
    tokens_out: int | None
    session_id: str | None
    failure: "Failure | None"
    action: "NextAction | None"
    gates: tuple[GateRun, ...]
    notes: tuple[str, ...]
    changed: tuple[str, ...]
    lines: int
    report: "WorkerReport | None"
    partial: "Steps | None"
    resumed: "Resumed | None"
    slot: int
    doubts: tuple[str, ...]

    @property
    def seconds(self) -> float | None:
        """How long it took; None while it is under way."""
        return None if self.finished_at is None else round(self.finished_at - self.started_at, 3)


class RunRow(NamedTuple):
    """A noface that works through the backlog, or did. `ended_at` is None while it works or where it was killed."""

    id: str
    pid: int
    started_at: float
    ended_at: float | None
    exit_code: int | None
    ended_why: str


class EventRow(NamedTuple):
    """Something that happened."""

    id: int
    at: float
    run_id: str
    kind: str
    data: Mapping[str, object]
    issue_id: str | None


class QuestionRow(NamedTuple):
    """Something that was asked about an issue after an attempt; `answer` and `outcome` are None while it is open."""

    issue_id: str
    after: int
    topic: str
    model: str
    asked_at: float
    answered_at: float | None
    outcome: str | None
    answer: "Advice | None"
    cost_usd: float | None


class DecisionRow(NamedTuple):
    """A decision."""

    attempt: Annotated[int, "The attempt it is about."]
    verdict: Annotated[str, OneOf("noface.model.history.Verdict"), "What was decided."]
    note: Annotated[str, "What was said with it."]
    at: Annotated[float, Timestamp, "When."]


class PullRow(NamedTuple):
    """The pull request of an issue, as noface knows it. schema.sql says what each column is for."""

    issue_id: str
    attempt: int
    branch: str
    head: str
    pushed: str
    base: str
    tree: str
    number: int | None
    url: str
    state: str
    rounds: int
    seen: Mapping[str, Any]
    checks: str
    at: float


_TABLES: Mapping[type[Any], str] = {
    IssueRow: "issues",
    AttemptRow: "attempts",
    RunRow: "runs",
    EventRow: "events",
    QuestionRow: "advice",
    DecisionRow: "approvals",
    PullRow: "pull_requests",
}


@cache
def _queries() -> Mapping[str, str]:
    entries = Path(__file__).with_name("queries.sql").read_text("utf-8").split("-- name: ")[1:]
    named = (entry.partition("\n") for entry in entries)
    return {name: re.sub(r"^--.*\n", "", sql, flags=re.MULTILINE).strip().rstrip(";") for name, _, sql in named}


def query(name: str) -> str:
    """Return the statement of that name in queries.sql."""
    return _queries()[name]


def select(kind: type[Any], which: str) -> str:
    """Return the query for records of a kind; `which` is its end: WHERE, ORDER BY."""
    return f"SELECT {', '.join(kind._fields)} FROM {_TABLES[kind]} {which}"  # noqa: S608 - our own names


def read(kind: type[_T], rows: Iterable[sqlite3.Row]) -> list[_T]:
    """Return the records of rows that have their columns. Raises ValueError or TypeError if one cannot be read."""
    names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined] # a NamedTuple
    columns: list[Iterable[Any]] = list(zip(*map(itemgetter(*names), rows), strict=True))
    for at, name in enumerate(names if columns else ()):
        if name in _FROM_COLUMN:
            columns[at] = map(_FROM_COLUMN[name], columns[at])
    return [*map(kind._make, zip(*columns, strict=True))]  # type: ignore[attr-defined] # by columns it takes half as long


def value(row: sqlite3.Row, name: str) -> Any:
    """Return what a column holds."""
    convert = _FROM_COLUMN.get(name)
    return row[name] if convert is None else convert(row[name])


def _texts(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(json.loads(text))


def _mapping(text: str | None) -> Any:
    return json.loads(text) if text else None


def _record(kind: str) -> Callable[[str | None], Any]:
    """Return what reads a record, or None; `kind` is its class as `module:name`, which is imported when one is read."""

    def read_record(text: str | None) -> Any:
        from pkgutil import resolve_name

        from noface.model.codec import decode

        return decode(resolve_name(kind), json.loads(text)) if text else None

    return read_record


def _request(text: str | None) -> "PersonRequest | None":
    """Return what a person is asked; what earlier versions left out, or had as null, takes its default."""
    if not text:
        return None
    from noface.model.codec import decode
    from noface.model.request import PersonRequest

    return decode(PersonRequest, {name: value for name, value in json.loads(text).items() if value is not None})


def _answer(text: str | None) -> "Advice | None":
    """Return an answer. Of a question that was cut short only the cause is kept: topic and attempt have columns."""
    if not text:
        return None
    from noface.model.codec import decode
    from noface.model.history import Advice, Topic

    return decode(Advice, {"topic": Topic.DIAGNOSIS, "after": 0, **json.loads(text)})


def _gates(text: str) -> tuple[GateRun, ...]:
    from noface.model.codec import decode

    return tuple(decode(GateRun, item) for item in json.loads(text))


_FROM_COLUMN: Mapping[str, Callable[[Any], Any]] = {
    "present": bool,
    "satisfied": bool,
    "think": bool,
    "charged": bool,
    "depends_on": _texts,
    "granted_paths": _texts,
    "needs": _texts,
    "notes": _texts,
    "changed": _texts,
    "doubts": _texts,
    "block": _request,
    "partial": _mapping,
    "gates": _gates,
    "action": _record("noface.model.actions:NextAction"),
    "failure": _record("noface.model.failure:Failure"),
    "report": _record("noface.model.worker_run:WorkerReport"),
    "resumed": _record("noface.model.worker_run:Resumed"),
    "data": lambda text: _mapping(text) or {},
    "answer": _answer,
    "seen": lambda text: _mapping(text) or {},
}
"""How a column that is not a plain value becomes one. A column means the same in every table."""
