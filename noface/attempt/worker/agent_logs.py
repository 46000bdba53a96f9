"""Reads workers' streams, while they grow and after a lost run: signs of life, and what was used."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from noface.agents.base import ANSWER_MAX, SESSION, Agent, AgentEvent, EventKind, StreamReader
from noface.attempt.environment import AttemptEnvironment
from noface.attempt.isolation import session_environment
from noface.model.budget import priced
from noface.model.worker_run import AgentRun, EndedBy, ModelSpec, Session, Usage
from noface.process.command import LOG_BYTES_MAX
from noface.process.environment import agent_environment
from noface.process.files import open_regular, read_bounded
from noface.secrets.masked_records import masked_record

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
    """Return the environment that leads to a run's session files; its logs lie in `directory`."""
    variables = agent_environment(agent.environment, model, model.env)
    session = directory / SESSION
    boxed = any(session.glob("home*"))
    return session_environment(str(session), variables, agent.homes) if boxed else dict(variables)


def lost_usage(env: AttemptEnvironment, model: ModelSpec, log: Path) -> Usage:
    """Return what the run that wrote `log` has used; nothing without a log. `model` is with its variables."""
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
