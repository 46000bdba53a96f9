"""What a person sees while noface runs: a live table in a terminal, plain lines in a pipe, JSON lines for programs."""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from noface.model.codec import encode
from noface.store.reader import Reader
from noface.ui.narrate import Narrator
from noface.ui.summary import RunTally, run_summary, summary_lines

_NO_SCREEN = ("", "dumb", "unknown")


class View(Protocol):
    """Something that shows a run."""

    def announce(self, kind: str, issue_id: str | None, data: dict[str, object]) -> None:
        """Show one event."""

    def finish(self, why: str) -> None:
        """Show how the run ended."""


@contextmanager
def announcer(*, as_json: bool, reader: Reader) -> Iterator[View]:
    """Return the view that fits where standard output goes. NO_COLOR only takes the colours of the live one."""
    if as_json:
        yield JsonLines(reader)
    elif sys.stdout.isatty() and not os.environ.get("CI") and os.environ.get("TERM", "") not in _NO_SCREEN:
        from noface.ui.live import LiveView

        with LiveView(reader) as view:
            yield view
    else:
        yield PlainLines(reader)


class JsonLines:
    """One event a line. That there is nothing to do until a time is printed once, however often it is told."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._tally = RunTally()
        self._waits_until: object = None

    def announce(self, kind: str, issue_id: str | None, data: dict[str, object]) -> None:
        """Print an event; before the last one, what came of the run."""
        now = time.time()
        self._tally.saw(kind, issue_id, now)
        if kind == "run_ended":
            self._summary(str(data.get("why", "")), now)
        if kind == "waiting":
            if data.get("until") == self._waits_until:
                return
            self._waits_until = data.get("until")
        _say(json.dumps(encode({"schema": 1, "at": round(now, 3), "event": kind, "issue": issue_id, **data})))

    def finish(self, why: str) -> None:
        """Print nothing: the event `run_ended` has told it."""

    def _summary(self, why: str, now: float) -> None:
        summary = run_summary(self._reader, why, self._tally, now)

        def ids(status: str) -> list[str]:
            return [issue.id for issue in summary.issues(status)]

        fields = {
            "issues": len(self._tally.worked_on),
            "attempts": self._tally.attempts,
            "landed": [issue.id for issue in summary.landed],
            "blocked": ids("blocked"),
            "approval": ids("approval"),
            "held": ids("landing"),
            "withdrawn": [issue.id for issue in summary.withdrawn],
            "review": ids("review"),
            "waiting": ids("waiting"),
            "ready": ids("ready"),
            "faulty": [fault.source for fault in summary.status.faults],
            "next": summary.next_command or None,
        }
        self.announce("summary", None, fields)


class PlainLines:
    """A line for everything that matters, with the time; nothing in it steers a terminal."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._narrator = Narrator(reader)
        self._tally = RunTally()

    def announce(self, kind: str, issue_id: str | None, data: dict[str, object]) -> None:
        self._tally.saw(kind, issue_id, time.time())
        for line in self._narrator.lines(kind, issue_id, data):
            self._print(f"{time.strftime('%H:%M:%S')} {line.mark} {line.text}")

    def finish(self, why: str) -> None:
        for line in summary_lines(run_summary(self._reader, why, self._tally, time.time())):
            self._print(f"{line.mark} {line.text}" if line.mark else line.text)

    @staticmethod
    def _print(text: str) -> None:
        encoding = sys.stdout.encoding or "utf-8"
        _say(text.encode(encoding, "replace").decode(encoding))


def _say(line: str) -> None:
    """Print a line. If nobody reads any more the work goes on, unseen (see process/startup)."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
