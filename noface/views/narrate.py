"""Tells a run as it happens: finds the line for each event, and leaves out what the event before it has told."""

import time
from collections.abc import Mapping

from noface.core.breaker import Breaker
from noface.store.reader import Reader
from noface.views.live_line import Line, Told, printable, short_title, when
from noface.views.live_words import words

__all__ = ["Line", "Narrator", "printable"]

_TELL_WHY_READY = frozenset({"action", "answered", "attempt_finished", "attempt_overruled", "parts_failed"})
"""What has told why an issue is ready again."""


class Narrator:
    """Finds the words for events; titles and models' waits come from the rows."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._before: dict[str, str] = {}
        self._away: dict[str, Breaker] = {}
        self._waiting_said = 0.0

    def lines(self, kind: str, issue_id: str | None, data: Mapping[str, object]) -> list[Line]:
        """Return the lines for an event: none where there is nothing to tell, and none for events nobody knows."""
        if kind == "progress":
            return self._breakers() if self._away else []
        found = self._breakers() if kind in ("action", "answered") or kind.startswith("issue_") else []
        line = self._line(kind, issue_id or "", data)
        if issue_id is not None:
            self._before[issue_id] = kind
        return [*found, line] if line is not None else found

    def _line(self, kind: str, issue_id: str, data: Mapping[str, object]) -> Line | None:
        if kind == "waiting":
            return self._wait(data)
        if kind == "issue_ready" and self._before.get(issue_id) in _TELL_WHY_READY:
            return None
        return words(kind, Told(issue_id, self.title(issue_id), data, time.time()))

    def title(self, issue_id: str) -> str:
        """Return an issue's title, shortened."""
        row = self._reader.issue(issue_id) if issue_id else None
        return short_title(row["title"]) if row is not None else ""

    def _wait(self, data: Mapping[str, object]) -> Line | None:
        until = float(str(data.get("until", 0.0)))
        if until == self._waiting_said:
            return None
        self._waiting_said = until
        return Line("…", f"nothing to do until {time.strftime('%H:%M:%S', time.localtime(until))}", style="dim")

    def _breakers(self) -> list[Line]:
        """Tell which models' providers went away or came back since the last look: no event of its own says so."""
        waits, before = self._reader.waits(), self._away
        self._away = waits
        now = time.time()
        found = [Line("·", f"{printable(name)} answers again", style="green") for name in before if name not in waits]
        for name, breaker in waits.items():
            if (name not in before or before[name].until != breaker.until) and breaker.open(now):
                found.append(Line("…", away(name, breaker, now), _after_many(breaker), "yellow"))
        return found


def away(name: str, breaker: Breaker, now: float) -> str:
    """Say why a model rests and until when."""
    what = printable(breaker.kind.replace("_", " ").lower() or "away")
    return f"{printable(name)}: {what} until {when(breaker.until, now)}"


def _after_many(breaker: Breaker) -> str:
    return f"{breaker.failures} failures in a row" if breaker.failures > 1 else ""
