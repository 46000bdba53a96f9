"""Follows an issue: what its workers and gates write, attempt after attempt, until it has come to rest."""

import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from noface.model.actions import action_text
from noface.model.taxonomy import happened
from noface.process.files import open_regular
from noface.process.lock import runs
from noface.process.startup import reader_is_gone
from noface.store.reader import Reader
from noface.store.records import AttemptRow, EventRow
from noface.ui import page
from noface.ui.logs import Readable, typed_reader
from noface.ui.narrate import Narrator

_READ_BYTES = 256 * 1024


class Tail:
    """The growing end of one file. `begin_bytes` is how much of what is there already is read; None means all.

    `cut` is true if reading began in the middle. A file that became shorter is read from its beginning.
    """

    def __init__(self, path: Path, begin_bytes: int | None = None) -> None:
        self._path = path
        self._begin_bytes = begin_bytes
        self._position = 0
        self.cut = False

    def read(self) -> bytes:
        """Return what is new, at most 256 KiB of it; b"" if there is nothing."""
        descriptor = open_regular(self._path)
        if descriptor is None:
            return b""
        try:
            size = os.fstat(descriptor).st_size
            if self._begin_bytes is not None:
                self._position = max(size - self._begin_bytes, 0)
                self.cut, self._begin_bytes = self._position > 0, None
            if size < self._position:
                self._position = 0
            data = os.pread(descriptor, _READ_BYTES, self._position)
        finally:
            os.close(descriptor)
        self._position += len(data)
        return data


_FILES_MAX = 500


@dataclass(frozen=True, slots=True)
class Source:
    """A log: its path, what a heading calls it, the gate that wrote it, or whether an agent's stream is in it."""

    path: Path
    title: str
    gate: str = ""
    streamed: bool = False


def sources(directory: Path, gate: str = "") -> list[Source]:
    """Return the logs that are there; with `gate`, those of that gate alone. What is not there yet may come."""
    if gate:
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", gate)  # as gates/run.py names them
        return [source for source in _gates(directory) if source.gate == stem]
    own = [Source(directory / "agent.log", "the worker", streamed=True), Source(directory / "agent.err", "agent.err")]
    return [source for source in [*own, *_gates(directory)] if source.path.exists()]


def _gates(directory: Path) -> Iterator[Source]:
    for folder, where in (("gates", ""), ("landing", " on the merge with main")):
        for path in sorted((directory / folder).glob("**/*"), key=_written_at)[:_FILES_MAX]:
            if path.suffix in (".out", ".err"):
                again = ", once more" if path.parent.name.startswith(("again-", "steady-")) else ""
                parts = path.relative_to(directory).parts
                place = " on main" if "main" in parts else " with main's tests" if "judges" in parts else where
                errors = ", errors" if path.suffix == ".err" else ""
                yield Source(path, f"gate {path.stem}{place}{again}{errors}", path.stem)


def _written_at(path: Path) -> float:
    with suppress(OSError):  # it may be gone
        return path.stat().st_mtime
    return 0.0


_POLL_S = 0.2
_BEGIN_BYTES = 16 * 1024
_BEGIN_STREAM_BYTES = 256 * 1024
_AT_REST = {
    "merged": "is merged",
    "blocked": "is blocked; see `noface blocked {id}`",
    "approval": "waits for your approval; see `noface blocked {id}`",
    "skipped": "is skipped",
    "epic": "is divided into parts; `noface show {id}` names them",
}

AgentOf = Callable[[Path, str], str]
"""Names the agent that wrote a log, by its folder and the model; "" where nobody knows."""


def noface_at_work(reader: Reader) -> bool:
    run = reader.last_run()
    return run is not None and run.ended_at is None and runs(run.pid)


class Follower:
    """Prints what is added to the logs of an issue, an attempt or a gate, and what happens; `raw`: byte for byte."""

    def __init__(
        self, reader: Reader, agent_of: AgentOf, issue_id: str, number: int | None, *, gate: str, raw: bool
    ) -> None:
        self._reader, self._agent_of = reader, agent_of
        self._issue_id, self._number, self._gate, self._raw = issue_id, number, gate, raw
        self._narrator = Narrator(self._reader)
        self._seen = self._reader.newest_event()
        self._attempt: AttemptRow | None = None
        self._logs: dict[Path, tuple[Source, Tail, Readable]] = {}
        self._heading = ""
        self._first = True

    def run(self) -> None:
        """Print until the issue, or the attempt, has come to rest, or the noface that works on it is gone."""
        if not self._turn_to(self._newest()):
            self._say(f"issue {self._issue_id} has no attempt yet; waiting for one")
        while not reader_is_gone():
            row = self._reader.issue(self._issue_id)
            events = self._reader.events(self._issue_id, self._seen)
            over = self._over(row.status if row is not None else "gone", self._newest())
            wrote = self._drain()  # after looking: what was written until the end is still shown
            if self._tell(events) or wrote:
                continue
            if over:
                self._finish()
                self._say(over)
                return
            time.sleep(_POLL_S)

    def _newest(self) -> AttemptRow | None:
        attempts = self._reader.attempts(self._issue_id)
        return next((each for each in reversed(attempts) if self._number in (None, each.number)), None)

    def _over(self, status: str, attempt: AttemptRow | None) -> str:
        """Say why there is nothing more to follow; "" while there is."""
        if self._number is not None and attempt is not None and attempt.outcome is not None:
            return f"attempt {attempt.number} {happened(attempt.outcome)}"
        if self._number is None and status in _AT_REST:
            return f"{self._issue_id} {_AT_REST[status].format(id=self._issue_id)}"
        if noface_at_work(self._reader):
            return ""
        if attempt is not None and attempt.outcome is None:
            return f"attempt {attempt.number} was cut off, its noface is gone; `noface run` goes on where it was"
        return f"no noface is at work any more, and {self._issue_id} is {status}; `noface run` goes on"

    def _turn_to(self, attempt: AttemptRow | None) -> bool:
        if attempt is None:
            return False
        self._finish()
        before = self._reader.attempt(attempt.issue_id, attempt.number - 1)
        action = before.action if before is not None else None
        how = (action and action_text(action.kind, "started")) or ("thinking longer" if attempt.think else "")
        self._say(f"attempt {attempt.number} with {attempt.model}{f', {how}' if how else ''}")
        self._attempt, self._heading = attempt, "the worker"
        return True

    def _drain(self) -> bool:
        if self._attempt is None:
            return False
        for source in sources(Path(self._attempt.directory), self._gate):
            if source.path not in self._logs:
                self._logs[source.path] = self._opened(source)
        self._first = False
        wrote = False
        for source, tail, readable in self._logs.values():
            while data := tail.read():
                wrote = True
                if self._raw:
                    sys.stdout.buffer.write(data)
                    sys.stdout.flush()
                else:
                    self._show(source, readable.feed(data, cut=tail.cut))
        return wrote

    def _opened(self, source: Source) -> tuple[Source, Tail, Readable]:
        reader = None
        if source.streamed and not self._raw:
            reader = typed_reader(self._agent_of(source.path.parent, self._attempt.model if self._attempt else ""))
        begin = _BEGIN_STREAM_BYTES if reader is not None else _BEGIN_BYTES
        return source, Tail(source.path, begin if self._first else None), Readable(reader)

    def _show(self, source: Source, lines: list[str]) -> None:
        if lines and source.title != self._heading:
            self._heading = source.title
            self._say(source.title)
        page.show(lines)

    def _finish(self) -> None:
        self._flush()
        self._logs.clear()

    def _flush(self) -> None:
        for source, _, readable in self._logs.values():
            self._show(source, readable.rest())

    def _tell(self, events: list[EventRow]) -> bool:
        """Print what has happened; stop where the next attempt begins, turn to it, and tell that."""
        for event in events:
            self._seen = event.id
            lines = self._narrator.lines(event.kind, self._issue_id, event.data)
            if event.kind == "issue_running":
                number = self._attempt.number if self._attempt is not None else 0
                later = (each for each in self._reader.attempts(self._issue_id) if each.number > number)
                if self._number is None and self._turn_to(next(later, None)):
                    return True
                continue  # a question, which the event before it has told
            if lines:
                self._flush()
            for line in lines:
                self._say(f"{line.mark} {line.text}")
        return False

    def _say(self, text: str) -> None:
        if not self._raw:
            page.show([page.paint(f"── {text}", "quiet")])
