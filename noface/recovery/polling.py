"""When noface asks another machine again: often while something changes there, seldom while nothing does. Pure.

While nothing changes the pause grows from `Pace.base_s` to `Pace.longest_s`; one change, and it is short again. Where
the other side is away, its own word stands: nobody asks before `away_until`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

GROWTH = 1.5
LONGEST_S = 300.0
_GROWN_MAX = 40
"""No pause grows longer by more steps than these, and their power is a number that a float can hold."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How often a topic is asked about: every `base_s` seconds, and while nothing changes at last every `longest_s`."""

    base_s: float = 60.0
    longest_s: float = LONGEST_S

    def shared(self, topics: int) -> "Pace":
        """Return the pace of each of several topics that together ask no more often than one would."""
        many = max(topics, 1)
        return Pace(self.base_s * many, max(self.longest_s, self.base_s) * many)

    def pause(self, quiet: int) -> float:
        return min(self.base_s * GROWTH ** min(quiet, _GROWN_MAX), max(self.longest_s, self.base_s))


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of the last call about a topic, which ended `at`; `quiet` calls in a row found no change."""

    at: float
    quiet: int = 0
    away_until: float | None = None


def answered(before: Asked | None, at: float, *, changed: bool) -> Asked:
    """Return what is known after a call that was answered. The first call finds no change: there is no before."""
    return Asked(at) if before is None or changed else Asked(at, before.quiet + 1)


def refused(before: Asked | None, at: float, until: float) -> Asked:
    return Asked(at, before.quiet if before is not None else 0, max(at, until))


def next_time(asked: Asked | None, pace: Pace) -> float:
    if asked is None:
        return 0.0
    if asked.away_until is not None:
        return asked.away_until
    return asked.at + pace.pause(asked.quiet)


def is_due(asked: Asked | None, pace: Pace, now: float) -> bool:
    """True if it is time to ask; also if the clock was set back, so that nothing waits for a time long past."""
    until = next_time(asked, pace)
    longest = pace.pause(_GROWN_MAX)
    set_back = asked is not None and asked.away_until is None and asked.at > now + longest
    return now >= until or set_back


def away_until(topics: Iterable[Asked | None], now: float) -> float | None:
    times = [asked.away_until for asked in topics if asked is not None and asked.away_until is not None]
    return max((until for until in times if until > now), default=None)
