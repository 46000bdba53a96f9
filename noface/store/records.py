"""What the store asks and what it returns: the statements of queries.sql, and a record for each row, its JSON read.

Named tuples, since `noface status` needs them: a dataclass of that size takes five times as long to make.
"""

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import starmap
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

from noface.model.description import Minimum, OneOf, Timestamp

if TYPE_CHECKING:
    from noface.model.actions import NextAction
    from noface.model.failure import Failure
    from noface.model.failure_document import Steps, TaskFailure
    from noface.model.history import Advice
    from noface.model.request import PersonRequest
    from noface.model.worker_run import Resumed, WorkerReport
    from noface.recovery.pull_rounds import Followed

SCHEMA_VERSION = 12

_KIND = "noface.model.taxonomy.FailureKind"
_OUTCOMES = ("PASSED", "INTERRUPTED")
_Cost = Annotated[float | None, "What it has cost, in dollars; null where nobody said."]
_T = TypeVar("_T")


class IssueRow(NamedTuple):
    """An issue as the backlog and the loop left it. schema.sql says what each column is for.

    The fields after `cause` are no columns: whoever shows the issue knows them.
    """

    id: Annotated[str, "Its id."]
    present: bool
    title: Annotated[str, "Its title."]
    priority: Annotated[int, "0 is most urgent."]
    source: Annotated[str, "Where a person edits it."]
    depends_on: Annotated[tuple[str, ...], "Ids of issues that must be merged first."]
    status: Annotated[str, OneOf("noface.model.taxonomy.IssueStatus"), "Where it stands."]
    reason: Annotated[str, "Why it stands there; may be empty."]
    until: Annotated[float | None, Timestamp, "While it waits for a time: until when."]
    epoch: int
    note: Annotated[str, "What a person said for the next attempt."]
    attempts: Annotated[int, "The attempts that count against its limit, since it was last given back."]
    model: Annotated[str | None, "The entry of [models] that worked on it last."]
    last_kind: Annotated[str | None, OneOf(_KIND), "How its last attempt failed; null where it did not."]
    last_message: Annotated[str | None, "What went wrong in it."]
    branch: Annotated[str | None, "The branch with its best work."]
    merged_commit: Annotated[str | None, "The commit of main that holds it."]
    cost_usd: _Cost
    block: "PersonRequest | None"
    satisfied: Annotated[bool, "Skipped since main holds already what it asks for."]
    wanted_model: Annotated[str | None, "The entry of [models] that a person wants it to begin with."]
    wanted_attempts: Annotated[int | None, "The number of attempts that a person allowed."]
    granted_paths: Annotated[tuple[str, ...], "Paths that a person allowed it to change as well."]
    needs: Annotated[tuple[str, ...], "Ids of issues that the work turned out to need."]
    parent: Annotated[str | None, "The issue it is a part of."]
    content_hash: str
    blocked_hash: str
    cause: str
    all_attempts: Annotated[int, "All attempts that were made, whether they count or not."] = 0
    pull_url: Annotated[str | None, "The address of its newest pull request."] = None
    happened_at: Annotated[float | None, Timestamp, "With --since: the last time that something happened to it."] = None

    @property
    def takes_yes(self) -> bool:
        """True if it waits for a yes or a no: for approval, or blocked with such a question."""
        blocked = self.status == "blocked" and self.block is not None and bool(self.block.wants)
        return blocked or self.status == "approval"

    @property
    def edited(self) -> bool:
        return self.status in ("blocked", "skipped") and self.blocked_hash not in ("", self.content_hash)


LEARNED = "learned"
"""The fact that holds the landings that main told of when the database did not know them."""
UNSTEADY = "unsteady"
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
    """A worker run. `slot` is the workspace that it had, `doubts` what somebody had to look at before it landed."""

    issue_id: str
    number: Annotated[int, Minimum(1), "Its number."]
    model: Annotated[str, "The entry of [models] that made it."]
    tier: int
    think: Annotated[bool, "Whether extended thinking was asked for."]
    directory: str
    started_at: Annotated[float, Timestamp, "When it began."]
    finished_at: float | None
    outcome: Annotated[str | None, OneOf(_KIND, _OUTCOMES), "What came of it; null while it is under way."]
    charged: Annotated[bool, "Whether it counts against the issue's attempts."]
    commit_id: Annotated[str | None, "The commit that keeps its work."]
    candidate: str | None
    cost_usd: _Cost
    tokens_in: Annotated[int | None, "Tokens read; null where nobody said."]
    tokens_out: Annotated[int | None, "Tokens written; null where nobody said."]
    session_id: Annotated[str | None, "What the agent calls its session; null where it told none."]
    failure: Annotated["Failure | None", "How it failed; null where it did not."]
    action: Annotated["NextAction | None", "What followed it; null while that is open."]
    gates: Annotated[tuple[GateRun, ...], "The gates that ran on its work."]
    notes: Annotated[tuple[str, ...], "What else a person should know."]
    changed: Annotated[tuple[str, ...], "The paths it changed."]
    lines: Annotated[int, "How many lines it added and deleted."]
    report: Annotated[
        "WorkerReport | None", "What the worker said of its work (see the schema `report`); null where it said nothing."
    ]
    partial: Annotated["Steps | None", "What each step of the attempt left; null where nothing was kept."]
    resumed: Annotated["Resumed | None", "An earlier session that it was to go on with; null where it began afresh."]
    slot: int
    doubts: tuple[str, ...]

    @property
    def cost_estimated(self) -> Annotated[bool, "Whether the cost is priced from the tokens: its agent told none."]:
        from noface.model.budget import ESTIMATED

        return ESTIMATED in self.notes

    @property
    def task_failure(
        self,
    ) -> Annotated["TaskFailure | None", "The failure with all that is known of it; null without one."]:
        """The failure with reason, details, steps and metrics (P2, P10)."""
        from noface.recovery.reported import task_failure

        if self.failure is None:
            return None
        metrics = {name: getattr(self, name) for name in ("cost_usd", "tokens_in", "tokens_out", "seconds")}
        known = {name: number for name, number in metrics.items() if number is not None}
        return task_failure(self.failure, partial=self.partial, metrics=known)

    @property
    def seconds(self) -> Annotated[float | None, "How long it took; null while it is under way."]:
        return None if self.finished_at is None else round(self.finished_at - self.started_at, 3)


class RunRow(NamedTuple):
    """A noface that works through the backlog, or did. Who shows it knows `running` and `paused_at`: no columns."""

    id: Annotated[str, "Its id."]
    pid: Annotated[int, Minimum(1), "Its process."]
    started_at: Annotated[float, Timestamp, "When it began."]
    ended_at: Annotated[float | None, Timestamp, "When it ended; null while it works, or where it was killed."]
    exit_code: Annotated[int | None, "Its exit code; null likewise."]
    ended_why: Annotated[str, "Why it ended."]
    running: Annotated[bool, "Whether it is at work now."] = False
    paused_at: Annotated[float | None, Timestamp, "Since when it is paused; null if it is not."] = None


class EventRow(NamedTuple):
    """Something that happened."""

    id: int
    at: float
    run_id: str
    kind: str
    data: Mapping[str, object]
    issue_id: str | None


class QuestionRow(NamedTuple):
    """Something that was asked about an issue after an attempt."""

    issue_id: str
    after: Annotated[int, Minimum(1), "The attempt it is about."]
    topic: Annotated[str, OneOf("noface.model.history.Topic"), "What was asked."]
    model: Annotated[str, "The entry of [models] that was asked; empty where noface answered itself."]
    asked_at: Annotated[float, Timestamp, "When."]
    answered_at: Annotated[float | None, Timestamp, "When it was answered."]
    outcome: Annotated[
        str | None, OneOf("noface.model.history.AdviceOutcome", ("INTERRUPTED",)), "What came of it; null while open."
    ]
    answer: Annotated["Advice | None", "The answer; null while it is open."]
    cost_usd: _Cost

    @property
    def task_failure(
        self,
    ) -> Annotated["TaskFailure | None", "What was wrong with the form of an answer, and the answer."]:
        from noface.recovery.reported import task_failure

        broken = self.answer.failure if self.answer is not None else None
        return task_failure(broken) if broken is not None else None


class PullRow(NamedTuple):
    """The pull request of an issue, as noface knows it. schema.sql says what each column is for."""

    issue_id: str
    attempt: Annotated[int, "The attempt whose work it shows."]
    branch: Annotated[str, "The branch on the remote that it comes from."]
    head: Annotated[str, "The commit that noface has pushed there, or is about to push."]
    pushed: str
    base: str
    tree: str
    number: Annotated[int | None, "Its number; null before it is open."]
    url: Annotated[str, "Where it is; empty before it is open."]
    state: Annotated[str, OneOf("noface.store.pull_requests.PullStep"), "How far it has come; see the events."]
    rounds: Annotated[int, "How often checks or reviews were answered, since the issue was last given back."]
    seen: Mapping[str, Any]
    checks: Annotated[str, "How its checks stand; empty where that is not known yet."]
    at: float

    @property
    def followed(self) -> "Followed":
        from noface.model.codec import decode, view
        from noface.recovery.pull_rounds import Followed, PullSeen

        return view(Followed, self, number=self.number or 0, seen=decode(PullSeen, self.seen))

    @property
    def waits_for(self) -> Annotated[str, OneOf("noface.recovery.pull_rounds.WaitsFor", ("",)), "What it waits for."]:
        return str(self.seen.get("waits_for", ""))

    @property
    def red(self) -> Annotated[tuple[tuple[str, str], ...], "The checks that were red when last seen: name, address."]:
        return tuple((str(name), str(url)) for name, url in self.seen.get("failed", ()))


_TABLES: Mapping[type[Any], str] = {
    IssueRow: "told_issues",
    AttemptRow: "attempts",
    RunRow: "runs",
    EventRow: "events",
    QuestionRow: "advice",
    PullRow: "pull_requests",
}


@cache
def _queries() -> Mapping[str, str]:
    entries = Path(__file__).with_name("queries.sql").read_text("utf-8").split("-- name: ")[1:]
    named = (entry.partition("\n") for entry in entries)
    return {name: re.sub(r"^--.*\n", "", sql, flags=re.MULTILINE).strip().rstrip(";") for name, _, sql in named}


def query(name: str) -> str:
    return _queries()[name]


def select(kind: type[Any], which: str) -> str:
    return f"SELECT {', '.join(_columns(kind))} FROM {_TABLES[kind]} {which}"  # noqa: S608 - our own names


def _columns(kind: type[Any]) -> tuple[str, ...]:
    return tuple(name for name in kind._fields if name not in kind._field_defaults)


def read(kind: type[_T], rows: Iterable[sqlite3.Row]) -> list[_T]:
    """Return the records of rows that have their columns. Raises ValueError or TypeError if one cannot be read."""
    names = _columns(kind)
    columns: list[Iterable[Any]] = list(zip(*map(itemgetter(*names), rows), strict=True))
    for at, name in enumerate(names if columns else ()):
        if name in _FROM_COLUMN:
            columns[at] = map(_FROM_COLUMN[name], columns[at])
    return [*starmap(kind, zip(*columns, strict=True))]  # by columns it takes half as long


def value(row: sqlite3.Row, name: str) -> Any:
    convert = _FROM_COLUMN.get(name)
    return row[name] if convert is None else convert(row[name])


def _texts(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(json.loads(text))


def _mapping(text: str | None) -> Any:
    return json.loads(text) if text else None


def _record(kind: str) -> Callable[[str | None], Any]:
    """Return what reads a record, or None; `kind` is its class as `module:name`, imported when one is read."""

    def read_record(text: str | None) -> Any:
        from pkgutil import resolve_name

        from noface.model.codec import decode

        return decode(resolve_name(kind), json.loads(text)) if text else None

    return read_record


def _gates(text: str) -> tuple[GateRun, ...]:
    from noface.model.codec import decode

    return decode(tuple[GateRun, ...], json.loads(text))


_FROM_COLUMN: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("present", "satisfied", "think", "charged"), bool),
    **dict.fromkeys(("depends_on", "granted_paths", "needs", "notes", "changed", "doubts"), _texts),
    "block": _record("noface.model.request:PersonRequest"),
    "partial": _mapping,
    "gates": _gates,
    "action": _record("noface.model.actions:NextAction"),
    "failure": _record("noface.model.failure:Failure"),
    "report": _record("noface.model.worker_run:WorkerReport"),
    "resumed": _record("noface.model.worker_run:Resumed"),
    "data": lambda text: _mapping(text) or {},
    "answer": _record("noface.model.history:Advice"),
    "seen": lambda text: _mapping(text) or {},
}
"""How a column that is not a plain value becomes one. A column means the same in every table."""
