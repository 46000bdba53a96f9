"""The live view in a terminal: what happened scrolls by, what is under way stands below it."""

import time
from collections import OrderedDict
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from noface.views.narrate import Narrator, printable

_SETTLED = ("issue_merged", "issue_blocked", "issue_ready", "issue_waiting", "issue_skipped", "issue_landing")

_BASELINE = "main"


@dataclass(slots=True)
class _Working:
    since: float
    what: str
    phase: str = ""
    text: str = ""


class LiveView:
    """Shows events as they come, and a table of the issues being worked on."""

    def __init__(self, narrator: Narrator) -> None:
        self._narrator = narrator
        self._console = Console(highlight=False)
        self._working: OrderedDict[str, _Working] = OrderedDict()
        self._counts = ""
        self._began = time.monotonic()
        self._live = Live(console=self._console, refresh_per_second=4, get_renderable=self._render, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def announce(self, kind: str, issue_id: str | None, data: dict[str, object]) -> None:
        """Show one event."""
        if kind == "progress":
            self._progress(issue_id or _BASELINE, data)
            return
        if kind.startswith("issue_"):
            self._working.pop(_BASELINE, None)
        if kind == "issue_running" and issue_id is not None:
            self._working[issue_id] = _Working(time.monotonic(), printable(data.get("reason", ""), 40))
        elif kind in _SETTLED and issue_id is not None:
            self._working.pop(issue_id, None)
        if kind.startswith("issue_"):
            counts = self._narrator.counts()
            self._counts = " · ".join(f"{count} {status}" for status, count in counts.most_common())
        line = self._narrator.line(kind, issue_id, data)
        if line is not None:
            self._console.print(Text(f"{line.mark} {line.text}", style=line.style))

    def finish(self, exit_code: int, why: str) -> None:
        """Show the summary."""
        del exit_code
        self._live.stop()
        for text in self._narrator.summary(why):
            self._console.print(Text(text))

    def _progress(self, issue_id: str, data: dict[str, object]) -> None:
        working = self._working.get(issue_id)
        if working is None:
            working = self._working[issue_id] = _Working(time.monotonic(), "")
        working.phase = str(data.get("phase", ""))
        working.text = printable(data.get("text", ""), 120)

    def _render(self) -> RenderableType:
        table = Table.grid(padding=(0, 1), expand=True)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        now = time.monotonic()
        for issue_id, working in list(self._working.items()):
            table.add_row(
                Text(f"  {issue_id}", style="cyan"),
                Text(_elapsed(now - working.since), style="dim"),
                Text(working.phase or "…"),
                Text(working.text or working.what, style="dim"),
            )
        total = Text(f"  {_elapsed(now - self._began)}  {self._counts}", style="dim")
        return Group(table, total)


def _elapsed(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
