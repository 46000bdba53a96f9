"""What a person sees while noface runs: a live table in a terminal, plain lines in a pipe, JSON lines for programs."""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from noface.core.codec import encode
from noface.store.reader import Reader
from noface.views.narrate import Narrator


class View(Protocol):
    """Something that shows a run."""

    def announce(self, kind: str, issue_id: str | None, data: dict[str, object]) -> None:
        """Show one event."""

    def finish(self, exit_code: int, why: str) -> None:
        """Show how the run ended."""


@contextmanager
def announcer(*, as_json: bool, reader: Reader) -> Iterator[View]:
    """Return the view that fits where standard output goes."""
    if as_json:
        yield JsonLines()
    elif sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        from noface.views.live import LiveView

        with LiveView(Narrator(reader)) as view:
            yield view
    else:
        yield PlainLines(Narrator(reader))


class JsonLines:
    """One event a line."""

    def announce(self, kind: str, issue_id: str | None, data: dict[str, object]) -> None:
        """Print an event."""
        self._print({"schema": 1, "at": round(time.time(), 3), "event": kind, "issue": issue_id, **data})

    def finish(self, exit_code: int, why: str) -> None:
        """Print nothing: the event `run_ended` has told it."""

    @staticmethod
    def _print(document: dict[str, object]) -> None:
        sys.stdout.write(json.dumps(encode(document)) + "\n")
        sys.stdout.flush()


class PlainLines:
    """A line for everything that matters, with the time."""

    def __init__(self, narrator: Narrator) -> None:
        self._narrator = narrator

    def announce(self, kind: str, issue_id: str | None, data: dict[str, object]) -> None:
        """Print the line for an event, if it has one."""
        line = self._narrator.line(kind, issue_id, data)
        if line is not None:
            self._print(f"{time.strftime('%H:%M:%S')} {line.mark} {line.text}")

    def finish(self, exit_code: int, why: str) -> None:
        """Print the summary."""
        del exit_code
        for text in self._narrator.summary(why):
            self._print(text)

    @staticmethod
    def _print(text: str) -> None:
        sys.stdout.write(text.encode(sys.stdout.encoding or "utf-8", "replace").decode(sys.stdout.encoding or "utf-8"))
        sys.stdout.write("\n")
        sys.stdout.flush()
