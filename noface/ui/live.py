"""The live view in a terminal: what happened scrolls by, what is under way stands below it.

The loop's thread only hands over what happened; one thread of the view draws, at most four times a second.
"""

import io
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Self

from rich.console import Console, ConsoleDimensions, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.text import Text

from noface.errors import NofaceError
from noface.store.reader import Reader
from noface.ui.live_block import RunState, Totals, WorkFacts, advance, block, look_up, wants_facts
from noface.ui.narrate import Line, Narrator, printable
from noface.ui.summary import RunTally, run_summary, summary_lines
from noface.ui.text import hanging

_FRAME_S = 0.25
_CLOCK_FROM = 60
_TROUBLE = "✗■?!…"
_CLOSING_ROWS_MAX = 3
_REST_FACTOR = 20
"""Counting takes a twentieth of the time at most, however long the backlog is."""
_NOBODY = WorkFacts()


class _Block:
    """The rows of the newest frame, which rich draws below whatever it prints."""

    rows: Sequence[Text] = ()

    def __rich_console__(self, _console: Console, _options: ConsoleOptions) -> RenderResult:
        yield from self.rows


class LiveView:
    """Shows events as they come, and a block of the issues being worked on below them."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._narrator = Narrator(reader)
        self._tally = RunTally()
        self._state = RunState(time.monotonic())
        self._totals = Totals({})
        self._recount = True
        self._recount_from = 0.0
        self._lines: deque[tuple[float, Line]] = deque()
        self._gone = False
        self._broken: Exception | None = None
        self._descriptor = sys.stdout.fileno()
        self._done = threading.Event()
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a mark that the terminal's encoding lacks must not end the run
        self._console = Console(highlight=False)
        self._below = _Block()
        self._live = Live(self._below, console=self._console, auto_refresh=False, transient=True)
        self._painter = threading.Thread(target=self._paint, name="view", daemon=True)

    def __enter__(self) -> Self:
        self._live.start()
        self._painter.start()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._stop()

    def announce(self, kind: str, issue_id: str | None, data: dict[str, object]) -> None:
        """Take an event; it is shown with the next frame. Raises what broke one, for once."""
        now = time.monotonic()
        self._tally.saw(kind, issue_id, time.time())
        wanted = wants_facts(self._state, kind, issue_id)
        facts = self._facts(issue_id) if issue_id and wanted else _NOBODY
        before, self._state = self._state, advance(self._state, kind, issue_id, data, facts, now)
        idle = kind == "waiting" and self._state.idle_until == before.idle_until
        self._recount = self._recount or wanted or not (kind == "progress" or idle)
        if kind != "waiting":  # the block says so
            at = time.time()
            self._lines.extend((at, line) for line in self._narrator.lines(kind, issue_id, data))
        if (broken := self._broken) is not None:
            self._broken = None
            raise broken

    def finish(self, why: str) -> None:
        self._stop()
        width, _ = _terminal_size(self._descriptor)
        for line in summary_lines(run_summary(self._reader, why, self._tally, time.time())):
            for row in _rows(f"{line.mark} " if line.mark else "", line, width - 1, _CLOSING_ROWS_MAX):
                self._console.print(row)

    def _facts(self, issue_id: str) -> WorkFacts:
        row = self._reader.issue(issue_id)
        if row is None:
            return _NOBODY
        facts = WorkFacts(printable(row.title), row.status, cost_usd=row.cost_usd)
        for newest in self._reader.attempts(issue_id)[-1:]:
            facts = replace(facts, number=newest.number, model=newest.model, think=newest.think)
        return facts

    # Drawing: by the painter's thread only, until it has ended

    def _paint(self) -> None:
        while not self._done.wait(_FRAME_S):
            try:
                self._frame()
            except Exception as error:  # noqa: BLE001 - the next frame is drawn anew, and the loop's thread tells it
                self._broken = error

    def _stop(self) -> None:
        if self._done.is_set():
            return
        self._done.set()
        self._painter.join()
        self._frame(last=True)
        with suppress(OSError):
            self._live.stop()

    def _frame(self, *, last: bool = False) -> None:
        """Print what has happened since the last frame, and draw the block anew below it; `last` removes the block."""
        if self._gone:
            return
        width, height = _terminal_size(self._descriptor)
        self._below.rows = () if last else self._block(width, height)
        timed = [self._lines.popleft() for _ in range(len(self._lines))]
        new = [row for at, line in timed for row in _timed(at, line, width - 1)]
        try:
            with self._console:
                self._console.size = ConsoleDimensions(width, height)
                if new:
                    self._console.print(Group(*new))
                else:
                    self._live.refresh()
        except OSError:
            self._gone = True  # the terminal was closed; the work goes on, or ends by its own signal

    def _block(self, width: int, height: int) -> list[Text]:
        began = time.monotonic()
        if self._recount and began >= self._recount_from:
            self._recount = False
            with suppress(NofaceError):  # the loop meets the same trouble, and tells it
                self._totals = look_up(self._reader, time.time())
            self._recount_from = began + _REST_FACTOR * (time.monotonic() - began)
        return block(self._state, self._totals, width - 1, height, time.monotonic(), time.time())


def _timed(at: float, line: Line, width: int) -> list[Text]:
    clock = f"{time.strftime('%H:%M', time.localtime(at))} " if width >= _CLOCK_FROM else ""
    return _rows(f"{clock}{line.mark} ", line, width, 2 if line.mark in _TROUBLE else 1, dim=len(clock))


def _rows(first: str, line: Line, width: int, rows_max: int, dim: int = 0) -> list[Text]:
    rows = [Text(row) for row in hanging(line.text, width, first, rows_max=rows_max) or [first]]
    rows[0].stylize(line.style, dim, len(first) + len(line.head))
    rows[0].stylize("dim", 0, dim)
    for row in rows:
        row.truncate(width, overflow="ellipsis")
    return rows


def _terminal_size(descriptor: int) -> tuple[int, int]:
    try:
        columns, rows = os.get_terminal_size(descriptor)
    except OSError:
        columns, rows = 0, 0
    return columns or 80, rows or 24
