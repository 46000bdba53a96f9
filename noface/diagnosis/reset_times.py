"""When a provider takes requests again, read from what it said: an epoch, a date, a time of day, or a span.

Clocks tell minutes only: a time of day that has just passed means now, another one its next occurrence.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from email.utils import parsedate_to_datetime

from noface.data import Patterns
from noface.model.json_record import epoch

_JUST_PASSED_S = 300.0
_DAY_S = 86_400.0
_FARTHEST_S = 400 * _DAY_S
_HOUR_S = 3_600.0
_MINUTE_S = 60.0
_WINDOWS = {
    "session": 5 * _HOUR_S, "5h": 5 * _HOUR_S, "hourly": _HOUR_S, "daily": _DAY_S, "24h": _DAY_S, "weekly": 7 * _DAY_S,
    "minute": _MINUTE_S, "hour": _HOUR_S, "day": _DAY_S, "week": 7 * _DAY_S,
}  # fmt: skip
_TEXT_MAX = 20_000
_HALF_DAY_H = 12
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_UNITS = (("ms", 0.001), ("mil", 0.001), ("s", 1.0), ("mi", 60.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0),
          ("w", 604_800.0))  # fmt: skip

_RESET = Patterns("reset")
_SPAN_HEADERS = ("retry-after", "x-codex-primary-reset-after-seconds", "x-ratelimit-reset-requests",
                 "x-ratelimit-reset-tokens")  # fmt: skip


@dataclass(frozen=True, slots=True)
class WallClock:
    """What time it is (`now`, epoch seconds) and where: `zone` is local, `named` finds zones such as Europe/Berlin."""

    now: float
    zone: tzinfo = UTC
    named: Callable[[str], tzinfo | None] = lambda _name: None

    def zone_of(self, name: str | None) -> tzinfo | None:
        if name is None:
            return self.zone
        return UTC if name.upper() in ("UTC", "GMT", "Z") else self.named(name)


def reset_time(text: str, clock: WallClock) -> float | None:
    """Return the epoch seconds at which `text` says that a limit ends, None if it says nothing sensible."""
    flat = " ".join(text[:_TEXT_MAX].split())
    named = _RESET["epoch"].search(flat)
    for at in (epoch(float(named[1])) if named else None, *(read(flat, clock) for read in (_iso, _clock_time, _span))):
        if at is not None and clock.now - _FARTHEST_S <= at <= clock.now + _FARTHEST_S:
            return at
    return None


def limit_end(told: Iterable[float | None], texts: Iterable[str], clock: WallClock) -> float | None:
    """Return when a limit ends by the times that were `told` (epoch seconds) and by the texts, None if none says so.

    A limit of five hours ends within five hours. So what the words rule out, as a stamp of another zone, is passed
    over, and a time of day that has passed in the limit's own span was its end. Of the rest the nearest is tried.
    """
    read = {text: reset_time(text, clock) for text in texts}
    known = [at for at in (*told, *read.values()) if at is not None]
    span = next(filter(None, map(_window_of, read)), 0.0)
    if not known or not span:
        return known[0] if known else None
    passed = [at - _DAY_S for at in read.values() if at is not None and clock.now - span < at - _DAY_S <= clock.now]
    latest = clock.now + span + _JUST_PASSED_S
    fitting = [at for at in known if at <= latest] or passed or [latest]
    nearest = min(fitting, key=lambda at: abs(at - clock.now))
    return next(at for at in fitting if abs(at - nearest) < _MINUTE_S)  # a text tells minutes, a stamp seconds


def _window_of(text: str) -> float:
    match = _RESET["window"].search(text[:_TEXT_MAX])
    if match is None:
        return 0.0
    if match["word"]:
        return _WINDOWS[match["word"].lower()]
    count = {"five": 5, "seven": 7}.get(match["count"].lower()) or int(match["count"])
    return count * _WINDOWS[match["unit"].lower()]


def retry_after(headers: Mapping[str, str], clock: WallClock) -> float | None:
    """Return the epoch seconds that an answer's headers name: retry-after (seconds or a date) and its relatives."""
    values = {name.lower(): value.strip() for name, value in headers.items()}
    milliseconds = _plain(values.get("retry-after-ms", ""))
    if milliseconds is not None:
        return clock.now + milliseconds / 1000
    for name in _SPAN_HEADERS:
        value = values.get(name, "")
        seconds = _plain(value)
        if seconds is None:
            seconds = _length(value)
        if seconds is not None:
            return clock.now + seconds
    try:
        return parsedate_to_datetime(values["retry-after"]).timestamp()
    except (KeyError, ValueError, OverflowError):
        return None


def _iso(text: str, clock: WallClock) -> float | None:
    match = _RESET["iso"].search(text)
    if match is None:
        return None
    zone = {"UTC": "+00:00", "Z": "+00:00"}.get((match[2] or "").upper(), match[2] or "")
    try:
        moment = datetime.fromisoformat(match[1] + zone)
        return (moment if moment.tzinfo else moment.replace(tzinfo=clock.zone)).timestamp()
    except (ValueError, OverflowError):
        return None


def _clock_time(text: str, clock: WallClock) -> float | None:
    for match in _RESET["clock"].finditer(text):
        half = (match["half"] or "").lower()
        if not half and not match["minute"]:
            continue  # a bare number is no time
        zone = clock.zone_of(match["zone"] or match["bare"])
        hour, minute = int(match["hour"]), int(match["minute"] or 0)
        if half:
            if not 1 <= hour <= _HALF_DAY_H:
                continue
            hour = hour % _HALF_DAY_H + (_HALF_DAY_H if half[0] == "p" else 0)
        if zone is None:
            continue
        try:
            return _moment(match, hour, minute, datetime.fromtimestamp(clock.now, zone), clock.now)
        except (ValueError, OverflowError, OSError):
            continue
    return None


def _moment(match: re.Match[str], hour: int, minute: int, here: datetime, now: float) -> float:
    # fold=0: of an hour that the end of summer time repeats the first one is meant.
    at = here.replace(hour=hour, minute=minute, second=0, microsecond=0, fold=0)
    if not match["month"]:
        return (at + timedelta(days=1) if at.timestamp() < now - _JUST_PASSED_S else at).timestamp()
    month = _MONTHS.index(match["month"].lower()) + 1
    at = at.replace(year=int(match["year"] or here.year), month=month, day=int(match["day"]))
    # Without a year a date in the past is one of the next year; a day is left for zones.
    if not match["year"] and at.timestamp() < now - 86_400:
        at = at.replace(year=here.year + 1)
    return at.timestamp()


def _span(text: str, clock: WallClock) -> float | None:
    match = _RESET["span"].search(text)
    seconds = _length(match[1]) if match else None
    if seconds is None:
        bare = _RESET["seconds"].search(text)
        seconds = _length(text[bare.start(1) : bare.end(1) + 3]) if bare else None
        if bare and seconds is None:
            seconds = float(bare[1])
    return None if seconds is None else clock.now + seconds


def _length(text: str) -> float | None:
    total, any_part = 0.0, False
    for part in _RESET["part"].finditer(text):
        word = part[2].lower()
        exact = (seconds for start, seconds in _UNITS if word == start or (len(word) > 1 and word.startswith(start)))
        unit = next(exact, None)
        if unit is not None:
            total, any_part = total + float(part[1]) * unit, True
    return total if any_part else None


def _plain(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,12}(?:\.\d{1,9})?", text) else None
