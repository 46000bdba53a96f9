"""Follows a worker's run tick by tick: what it does and has used, whether it lives and keeps to its limit."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from noface.agents.base import Agent, AgentEvent, EventKind, OpenCall, RunPlace, StreamReader, ToolProcesses
from noface.attempt.attempt import Attempt
from noface.attempt.environment import AttemptProgress
from noface.attempt.worker.agent_logs import SHOWS_A_MODEL, LogFollower
from noface.model.attempt import AttemptOrder
from noface.model.budget import priced
from noface.model.quoting import in_dollars, one_line
from noface.model.worker_run import THINKING_FACTOR, EndedBy, ModelSpec, Usage
from noface.process.command import SHOWN_MAX, Running
from noface.process.failpoints import hit

PATIENCE_S = 2.0
"""How long a run may be over its limit: one that is about to end does so by itself, with all its work.

With the next answer of its model that is over: who is asked again does not end.
"""

PATIENCE_WITH_OWN_LIMIT_S = 30.0
"""The same where the agent ends it by itself, which it does between two answers of its model."""

_WORDS_MAX = 160
_READ_MAX = 4000
_NO_PATH = frozenset(" \t\"'`*?|&;<>()$=")
"""Characters of commands and patterns: text with one of these is no path."""


_BEFORE_S = 5.0
"""A process may be somewhat older than the line of the stream that tells of its call."""
_MINUTE_S = 60.0
_SECONDS_MAX = 120.0


@dataclass(frozen=True, slots=True)
class SilentWork:
    """What a silent worker is at: a tool call or a process, and since how many seconds. `gone`: its process is."""

    what: str
    seconds: float
    gone: bool = False

    def __str__(self) -> str:
        long = self.seconds >= _SECONDS_MAX
        time_of = f"{self.seconds / _MINUTE_S:.0f} min" if long else f"{self.seconds:.0f} s"
        began = f"`{one_line(self.what, SHOWN_MAX)}` had run for {time_of}"
        return f"{began}, and its process is gone" if self.gone else began


def silent_work(
    calls: Sequence[tuple[OpenCall, float]], running: Sequence[Running] | None, *, retrying: bool
) -> SilentWork | None:
    """Return the open call that a silent worker is at, of those with their seconds; None if nothing shows that.

    `running` is None if nobody can tell. `retrying`: the program tries its provider again.
    """

    def runs(call: OpenCall, seconds: float) -> bool:
        if call.command and running is not None:
            return any(each.apart or each.seconds <= seconds + _BEFORE_S for each in running)
        return not retrying

    return next((work_of(call, seconds) for call, seconds in calls if runs(call, seconds)), None)


def silent_process(running: Sequence[Running] | None, processes: ToolProcesses | None) -> SilentWork | None:
    """Return the process that a silent worker is at, whose stream tells of no call when it begins; None if none is."""
    tools = [each for each in running or () if processes is ToolProcesses.BELOW or each.apart]
    oldest = max(tools, key=lambda each: each.seconds, default=None) if processes is not None else None
    return SilentWork(oldest.command, oldest.seconds) if oldest is not None else None


def work_of(call: OpenCall, seconds: float, *, gone: bool = False) -> SilentWork:
    return SilentWork(call.command or call.text, seconds, gone)


class CostLimit:
    """The `max_cost_usd` of an order's model, and since when the cost is above it. Times are monotonic."""

    def __init__(self, order: AttemptOrder, patience_s: float) -> None:
        self._model = order.model
        self._think = order.think
        self._patience_s = patience_s
        self._since: tuple[float, int] | None = None

    def passed(self, used: Usage, now: float, answers: int = 0) -> str:
        """Say that the cost has passed the limit for longer than the patience, or an answer; "" if it has not."""
        limit, cost = self._model.max_cost_usd, used.cost_usd
        if limit is None or cost is None or cost <= limit:
            self._since = None
            return ""
        since, first = self._since = self._since or (now, answers)
        if now - since < self._patience_s and answers == first:
            return ""
        return over_limit(self._model, cost, think=self._think)


def over_limit(model: ModelSpec, cost: float, *, think: bool) -> str:
    """Say that a run was stopped at its model's limit, which it had reached with this cost."""
    limit = model.max_cost_usd or 0.0
    once = in_dollars(limit / THINKING_FACTOR)
    raised = f", which is {THINKING_FACTOR} × {once} since it thinks longer" if think else ""
    how = "over" if cost > limit else "at"
    return f"stopped at {in_dollars(cost)}: {how} max_cost_usd = {in_dollars(limit)} of {model.name}{raised}"


class RunWatch:
    """Follows a run, tick by tick. `stopped` says why its cost ended it, "" if it did not.

    `used` is priced; `most` is the highest value so far of each amount. `last_step` is the newest tool call or edit.
    """

    def __init__(self, attempt: Attempt, place: RunPlace, reader: StreamReader, agent: Agent) -> None:
        order, scope = attempt.order, attempt.scope
        self.stdout = Path(place.log_folder, "agent.log")
        self.stderr = Path(place.log_folder, "agent.err")
        self._order = order
        self.memory_max_bytes = scope.env.launcher.memory_max_bytes
        self._workspace = place.seen
        self._reader = reader
        self._agent = agent
        self._limit = CostLimit(order, PATIENCE_WITH_OWN_LIMIT_S if agent.enforces_cost else PATIENCE_S)
        self._scope = scope
        self._last = AttemptProgress(order.issue.id, order.number, "agent", "")
        self._follower = LogFollower(self.stdout, self.stderr, reader, self._send_event)
        self.used = Usage()
        self.most = Usage()
        self.stopped = ""
        self.last_step = ""
        self._step_at = 0.0
        self._opened: dict[str, float] = {}
        self._calls: tuple[tuple[OpenCall, float], ...] = ()
        self._silent: tuple[SilentWork, float] | None = None

    def close(self) -> None:
        self._follower.close()

    def poll(self) -> float | EndedBy | None:
        """Read what is new; return the monotonic time of the last sign of life, or what ends the run.

        That is BUDGET, or IDLE for a program that would ask its provider the same for ever, and pay for it each time.
        """
        hit("output_read")
        life = self.read()
        now, calls = time.monotonic(), self._reader.open_calls
        self._opened = {call.id: self._opened.get(call.id, now) for call in calls}  # when each was first seen
        self._calls = tuple((call, self._opened[call.id]) for call in calls)
        self.stopped = self.stopped or self._limit.passed(self.used, now, self._last.answers)
        if self.stopped:
            return EndedBy.BUDGET
        return EndedBy.IDLE if self._reader.repeats else life

    def read(self) -> float | None:
        life = self._follower.poll()
        self.used = replace(priced(self._reader.used(), self._order.model), session_id=None)  # only amounts
        if self.used != self._last.used or self._reader.quota != self._last.quota:
            self._send(replace(self._last, used=self.used, alive=False))
        return life

    def quiet(self, running: Sequence[Running] | None) -> bool:
        """True if a run that prints nothing works all the same."""
        now = time.monotonic()
        calls = [(call, now - opened) for call, opened in self._calls]
        if self._reader.tells_calls:
            work = silent_work(calls, running, retrying=self._follower.retrying)
        else:
            work = silent_process(running, self._agent.tool_processes)
        self._silent = None if work is None else (work, now)
        return work is not None

    def waited(self, now: float, *, idle: bool) -> str:
        """Say what the run was at, or did last, and for how long before `now`; `idle`: nothing showed that it works."""
        if self._calls:
            call, opened = self._calls[0]
            return f"; {work_of(call, now - opened, gone=idle and bool(call.command))}"
        if self._silent is not None:
            work, seen = self._silent
            return f"; {replace(work, seconds=work.seconds + now - seen)}"
        return f"; {now - self._step_at:.0f} s before, it began with: {self.last_step}" if self.last_step else ""

    def _send_event(self, event: AgentEvent, alive: bool) -> None:
        text = self._scope.env.masker.text(event.text[:_READ_MAX].replace(f"{self._workspace}/", ""))
        text = " ".join(text.split())
        words, file = text[:_WORDS_MAX], file_in(event.kind, text)
        if event.kind in SHOWS_A_MODEL:
            self.last_step, self._step_at = words, time.monotonic()
        issue, number = self._order.issue.id, self._order.number
        used = replace(priced(self._reader.used(), self._order.model), session_id=None)
        self._send(AttemptProgress(issue, number, "agent", words, alive, event.kind, file, used))

    def _send(self, progress: AttemptProgress) -> None:
        used, before = progress.used, self._last.used
        # What a model reads is known as its answer begins, and does not grow; of others only the cost tells.
        read, was = (each.cost_usd if used.tokens_in is None else each.tokens_in for each in (used, before))
        answered = not self._reader.ended and (read or 0) > (was or 0)
        self._last = replace(progress, answers=self._last.answers + answered, quota=self._reader.quota)
        self.most = at_least(progress.used, self.most)
        self._scope.send(self._last)


def at_least(used: Usage, before: Usage) -> Usage:
    """Return what a run used, each amount no less than `before`."""
    dearer = before.cost_usd is not None and (used.cost_usd is None or before.cost_usd > used.cost_usd)
    return replace(
        used,
        cost_usd=before.cost_usd if dearer else used.cost_usd,
        tokens_in=_larger(used.tokens_in, before.tokens_in),
        tokens_out=_larger(used.tokens_out, before.tokens_out),
        tokens_cached=_larger(used.tokens_cached, before.tokens_cached),
        priced=before.priced if dearer else used.priced,
    )


def _larger(one: int | None, other: int | None) -> int | None:
    return max((count for count in (one, other) if count is not None), default=None)


def file_in(kind: EventKind, text: str) -> str:
    target = text.partition(" ")[2].partition(", ")[0]
    if kind is EventKind.EDIT:
        return target
    is_path = ("/" in target or "." in target) and "://" not in target and not any(c in _NO_PATH for c in target)
    return target if kind is EventKind.TOOL and is_path else ""
