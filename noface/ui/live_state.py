"""What the live view knows of a run, and how events change it. Pure.

A row belongs to an issue that is being worked on. Its place stays free for a moment when the issue pauses, so that
the next attempt, or another issue, takes that place, and the other rows stay where they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from noface.ui.narrate import printable

MAIN = ""
"""What stands in an issue's place while the gates run on main itself; no issue has this id."""


_COUNTED = ("attempt_finished", "answered")
"""Events from which on what a worker has used is among the issue's and the run's costs."""


class Role(StrEnum):
    """What a row's worker does. CHECK: gates run without an attempt, before an issue's first or after its parts'."""

    ATTEMPT = "attempt"
    QUESTION = "question"
    CHECK = "check"
    LANDING = "landing"


@dataclass(frozen=True, slots=True)
class IssueFacts:
    """What the rows of the database tell of an issue; number, model and think are those of its newest attempt."""

    title: str = ""
    status: str = ""
    number: int = 0
    model: str = ""
    think: bool = False
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One issue at work; a vacant row only keeps its place.

    `asks` names model and topic of a question. `step` is what was seen last, `kind` the agent's event behind it, and
    `file` what that was about. `since` is a monotonic time. `usd` and `tokens` are what the worker under way has used
    so far, as far as it told; what has ended is in `facts`.
    """

    issue_id: str
    facts: IssueFacts
    role: Role
    since: float
    asks: str = ""
    phase: str = ""
    step: str = ""
    kind: str = ""
    file: str = ""
    vacant: bool = False
    usd: float | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class State:
    """The rows, and what a run has come to. `idle_until` (epoch seconds) is set while there is nothing to do."""

    began: float
    rows: tuple[Row, ...] = ()
    attempts: int = 0
    idle_until: float | None = None
    stopping: bool = False

    @property
    def at_work(self) -> tuple[Row, ...]:
        """The rows to show."""
        return tuple(row for row in self.rows if not row.vacant)

    def row(self, issue_id: str) -> Row | None:
        """Return an issue's row, a vacant one as well."""
        return next((row for row in self.rows if row.issue_id == issue_id), None)


def wants_facts(state: State, kind: str, issue_id: str | None) -> bool:
    """Tell whether `advance` needs to know about the issue from the database."""
    row = state.row(issue_id) if issue_id else None
    match kind:
        case "issue_running" | "issue_landing":
            return bool(issue_id)
        case "progress":
            return bool(issue_id) and (row is None or row.vacant)
        case _:
            return row is not None and kind in _COUNTED


def advance(
    state: State, kind: str, issue_id: str | None, data: Mapping[str, object], facts: IssueFacts, now: float
) -> State:
    """Return the state after an event; `now` is monotonic. `facts` count where `wants_facts` asked for them."""
    if kind == "progress":
        return _progress(state, issue_id or MAIN, data, facts, now)
    if kind == "preflight":
        return _placed(state, Row(MAIN, IssueFacts("its gates, before any work"), Role.CHECK, now, phase="gate"))
    if kind == "waiting":
        landing = tuple(row for row in state.rows if row.role is Role.LANDING and not row.vacant)
        return replace(state, rows=landing, idle_until=_number(data.get("until")))
    if kind == "stopping":
        return replace(state, stopping=True)
    if kind in _COUNTED and (row := state.row(issue_id or MAIN)) is not None:
        return _placed(state, replace(row, facts=facts, usd=None, tokens=None))
    if not kind.startswith("issue_") or issue_id is None:
        return state
    return _status(replace(_vacated(state, MAIN), idle_until=None), kind, issue_id, data, facts, now)


def _status(state: State, kind: str, issue_id: str, data: Mapping[str, object], facts: IssueFacts, now: float) -> State:
    reason = printable(data.get("reason", ""))
    match kind:
        case "issue_running" if reason.startswith("asks "):
            return _placed(state, Row(issue_id, facts, Role.QUESTION, now, asks=reason))
        case "issue_running":
            row = Row(issue_id, facts, Role.ATTEMPT, now)
            return replace(_placed(state, row), attempts=state.attempts + 1)
        case "issue_landing" if reason.startswith("passed"):
            return _placed(state, Row(issue_id, facts, Role.LANDING, now, step="waits for its turn"))
        case "issue_landing":
            return _placed(state, Row(issue_id, facts, Role.LANDING, now, step=f"held: {reason}"))
        case _:
            return _vacated(state, issue_id)


def _progress(state: State, issue_id: str, data: Mapping[str, object], facts: IssueFacts, now: float) -> State:
    row = state.row(issue_id)
    if issue_id != MAIN:
        state = _vacated(state, MAIN)
    if row is None or row.vacant:
        if issue_id == MAIN:
            return state  # told late: the gates on main have ended before anything else began
        roles = {"running": Role.ATTEMPT, "landing": Role.LANDING}
        row = Row(issue_id, facts, roles.get(facts.status, Role.CHECK), now)
    phase, step, did, file = (printable(data.get(name) or "") for name in ("phase", "text", "kind", "file"))
    usd, tokens = _number(data.get("cost_usd")), _number(data.get("tokens"))
    if usd is not None or tokens is not None:  # noface's own steps tell nothing of it
        row = replace(row, usd=usd, tokens=None if tokens is None else int(tokens))
    return _placed(state, replace(row, phase=phase, step=step, kind=did, file=file, vacant=False))


def _placed(state: State, row: Row) -> State:
    """Put a row where the issue's row is, else in the first place that is free, else at the end."""
    taken = [at for at, other in enumerate(state.rows) if other.issue_id == row.issue_id]
    free = [at for at, other in enumerate(state.rows) if other.vacant]
    at = (taken or free or [len(state.rows)])[0]
    return replace(state, rows=(*state.rows[:at], row, *state.rows[at + 1 :]))


def _vacated(state: State, issue_id: str) -> State:
    rows = tuple(replace(row, vacant=True) if row.issue_id == issue_id else row for row in state.rows)
    return replace(state, rows=rows if any(not row.vacant for row in rows) else ())


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
