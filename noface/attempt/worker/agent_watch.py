"""Follows a worker's run tick by tick: what it does and has used, whether it lives and keeps to its limit.

The stream of a lost run tells what it has used.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from noface.agents.base import (
    ANSWER_MAX,
    SESSION,
    Agent,
    AgentEvent,
    EventKind,
    OpenCall,
    RunPlace,
    StreamReader,
    ToolProcesses,
)
from noface.attempt.attempt import Attempt
from noface.attempt.environment import AttemptEnvironment, AttemptProgress
from noface.attempt.isolation import session_environment
from noface.model.attempt import AttemptOrder
from noface.model.budget import priced
from noface.model.quoting import in_dollars, one_line
from noface.model.worker_run import THINKING_FACTOR, AgentRun, EndedBy, ModelSpec, Session, Usage
from noface.process.command import LOG_BYTES_MAX, SHOWN_MAX, Running
from noface.process.environment import agent_environment
from noface.process.failpoints import hit
from noface.process.files import open_regular, read_bounded
from noface.secrets.masked_records import masked_record

PATIENCE_S = 2.0
"""How long a run may be over its limit: one that is about to end does so by itself, with all its work.

With the next answer of its model that is over: who is asked again does not end.
"""

PATIENCE_WITH_OWN_LIMIT_S = 30.0
"""The same where the agent ends it by itself, which it does between two answers of its model."""

GRACE_S = 10.0
"""So long a program may stay after its last event: it may still write down its session, or end its servers."""

_WORDS_MAX = 160
_READ_MAX = 4000
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
    """Return the open call that a silent worker is at; `running` is None if nobody can tell."""

    def runs(call: OpenCall, seconds: float) -> bool:
        if call.command and running is not None:
            return any(each.apart or each.seconds <= seconds + _BEFORE_S for each in running)
        return not retrying

    return next(
        (SilentWork(call.command or call.text, seconds) for call, seconds in calls if runs(call, seconds)), None
    )


def silent_process(running: Sequence[Running] | None, processes: ToolProcesses | None) -> SilentWork | None:
    """Return the process that a silent worker is at, whose stream tells of no call when it begins; None if none is."""
    tools = [each for each in running or () if processes is ToolProcesses.BELOW or each.apart]
    oldest = max(tools, key=lambda each: each.seconds, default=None) if processes is not None else None
    return SilentWork(oldest.command, oldest.seconds) if oldest is not None else None


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
        self._over_since: float | None = None

    def close(self) -> None:
        self._follower.close()

    def poll(self) -> float | EndedBy | None:
        """Read what is new; return the monotonic time of the last sign of life, or what ends the run.

        That is BUDGET, or IDLE for a program that would ask its provider the same for ever, and pay for it each time,
        or LAST_EVENT for one that stays though its work is over, and waits for nothing that it has announced.
        """
        hit("output_read")
        life = self.read()
        now, calls = time.monotonic(), self._reader.open_calls
        self._opened = {call.id: self._opened.get(call.id, now) for call in calls}  # when each was first seen
        self._calls = tuple((call, self._opened[call.id]) for call in calls)
        self.stopped = self.stopped or self._limit.passed(self.used, now, self._last.answers)
        if self.stopped:
            return EndedBy.BUDGET
        over = self._reader.ended and not self._reader.awaits
        self._over_since = (self._over_since or now) if over else None
        if self._over_since is not None and now - self._over_since >= GRACE_S:
            return EndedBy.LAST_EVENT
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
            return f"; {SilentWork(call.command or call.text, now - opened, idle and bool(call.command))}"
        if self._silent is not None:
            work, seen = self._silent
            return f"; {replace(work, seconds=work.seconds + now - seen)}"
        return f"; {now - self._step_at:.0f} s before, it began with: {self.last_step}" if self.last_step else ""

    def _send_event(self, event: AgentEvent, alive: bool) -> None:
        text = self._scope.env.masker.text(event.text[:_READ_MAX].replace(f"{self._workspace}/", ""))
        words = " ".join(text.split())[:_WORDS_MAX]
        if event.kind in SHOWS_A_MODEL:
            self.last_step, self._step_at = words, time.monotonic()
        issue, number = self._order.issue.id, self._order.number
        used = replace(priced(self._reader.used(), self._order.model), session_id=None)
        self._send(AttemptProgress(issue, number, "agent", words, alive, event.kind, used))

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


BEHIND_BYTES_MAX = 16 << 20
"""A reader that is further behind skips the part between: only a flood is that fast."""

SHOWS_A_MODEL = (EventKind.TOOL, EventKind.EDIT)
"""Only a model that answers uses tools; text may be a provider's error."""

_CHUNK_BYTES = 1 << 20


class LogFollower:
    """Feeds a growing log to a reader. `retrying`: the last event is that the program tries its provider again."""

    def __init__(
        self, stdout: Path, stderr: Path, reader: StreamReader, send_event: Callable[[AgentEvent, bool], None]
    ) -> None:
        self._stdout = stdout
        self._stderr = stderr
        self._reader = reader
        self._send_event = send_event
        self._log: int | None = None
        self._offset = 0
        self._stderr_size = 0
        self.last_life: float | None = None
        self.retrying = False

    def close(self) -> None:
        if self._log is not None:
            os.close(self._log)
            self._log = None

    def poll(self) -> float | None:
        """Read what was new when this began; return the monotonic time of the last sign of life, None before any."""
        if self._log is None:
            self._log = open_regular(self._stdout)
        event: AgentEvent | None = None
        answers = False
        for data in self._new_data(self._log) if self._log is not None else ():
            events = self._reader.feed(data)
            event = next((e for e in reversed(events) if e.kind is not EventKind.RESULT), event)
            answers = answers or any(e.kind in SHOWS_A_MODEL for e in events)
            self.retrying = events[-1].kind is EventKind.RETRY if events else self.retrying
            if self._reader.any_output_is_life or any(e.alive for e in events):
                self.last_life = time.monotonic()
        size = self._stderr.lstat().st_size if self._reader.any_output_is_life and self._stderr.is_file() else 0
        if size != self._stderr_size:
            self._stderr_size, self.last_life = size, time.monotonic()
        if event is not None:
            self._send_event(event, answers)
        return self.last_life

    def _new_data(self, log: int) -> Iterator[bytes]:
        size = os.fstat(log).st_size
        self._offset = min(self._offset, size)  # it may have been cut off
        if size - self._offset > BEHIND_BYTES_MAX:
            self._offset = size - BEHIND_BYTES_MAX // 2
            self._reader.feed(b"\n")  # so that no line is made of two halves
        while self._offset < size:
            data = os.pread(log, min(_CHUNK_BYTES, size - self._offset), self._offset)
            if not data:
                return
            self._offset += len(data)
            yield data


def lost_run(env: AttemptEnvironment, model: ModelSpec, log: Path, session: Session | None = None) -> AgentRun | None:
    """Return the run, in that `session`, that wrote `log`, as far as the log shows it; None if it shows nothing."""
    reader = _fed(env, model, log, session)
    if reader is None:
        return None
    usage = priced(reader.used(), model)
    printed = tail(log, ANSWER_MAX) if reader.any_output_is_life else reader.verdict(None, "").answer
    if usage.cost_usd is None and usage.tokens is None and not usage.session_id and not printed.strip():
        return None
    run = AgentRun(exit_code=None, signal=None, ended_by=EndedBy.LOST, seconds=0.0, usage=usage, answer=printed)
    return masked_record(run, env.masker)


def tail(log: Path, size: int) -> str:
    try:
        return read_bounded(log, 0, size)
    except OSError:
        return ""


def session_files(agent: Agent, model: ModelSpec, directory: Path) -> dict[str, str]:
    variables = agent_environment(agent.environment, model, model.env)
    session = directory / SESSION
    boxed = any(session.glob("home*"))
    return session_environment(str(session), variables, agent.homes) if boxed else dict(variables)


def lost_usage(env: AttemptEnvironment, model: ModelSpec, log: Path) -> Usage:
    reader = _fed(env, model, log, None)
    return priced(reader.used(), model) if reader is not None else Usage()


def _fed(env: AttemptEnvironment, model: ModelSpec, log: Path, session: Session | None) -> StreamReader | None:
    agent = env.agents.get(model.agent)
    descriptor = open_regular(log) if agent is not None else None
    if agent is None or descriptor is None:
        return None
    reader = agent.reader(session_files(agent, model, log.parent), session)
    # Where the disk fails, the part read so far has to do: noface may be ending because of it.
    with suppress(OSError), os.fdopen(descriptor, "rb") as file:
        left = LOG_BYTES_MAX
        while left > 0 and (data := file.read(min(_CHUNK_BYTES, left))):
            left -= len(data)
            reader.feed(data)
    return reader
