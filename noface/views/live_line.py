"""A line of a run's story, and an event in the form in which words are found for it. Pure."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from noface.views.text import clean, fit, moment

_TITLE_MAX = 48
_TEXT_MAX = 300
_LISTED_MAX = 8
_NEAR_S = 120.0


@dataclass(frozen=True, slots=True)
class Line:
    """A line to show: a mark, what happened, and what is told of it; `style` is that of mark and head in colours."""

    mark: str
    head: str
    rest: str = ""
    style: str = ""

    @property
    def text(self) -> str:
        """The line without its mark."""
        return f"{self.head}: {self.rest}" if self.rest else self.head


@dataclass(frozen=True, slots=True)
class Told:
    """An event: the issue ("" for none) with its title, the event's data, and the time in epoch seconds."""

    issue: str
    title: str
    data: Mapping[str, object]
    now: float

    def said(self, name: str) -> str:
        """Return a field as one printable line, "" where it is not there."""
        value = self.data.get(name)
        return "" if value is None else printable(value)

    def listed(self, name: str) -> str:
        """Return a list as people write it, cut after a few of its members."""
        value = self.data.get(name)
        members = [printable(member) for member in value] if isinstance(value, (list, tuple)) else []
        more = f" and {len(members) - _LISTED_MAX} more" if len(members) > _LISTED_MAX else ""
        return ", ".join(members[:_LISTED_MAX]) + more

    def number(self, name: str) -> float | None:
        """Return a number, None where it is none."""
        value = self.data.get(name)
        return float(value) if isinstance(value, int | float) else None


def printable(text: object, chars_max: int = _TEXT_MAX) -> str:
    """Return text on one line without control characters, so that an agent's words cannot steer the terminal."""
    return fit(clean(str(text)), chars_max)


def short_title(title: object) -> str:
    """Return an issue's title as lines about it end with it."""
    return printable(title, _TITLE_MAX)


def when(until: float, now: float) -> str:
    """Return a time to wait for; with its seconds where it is near."""
    return time.strftime("%H:%M:%S", time.localtime(until)) if abs(until - now) < _NEAR_S else moment(until, now)
