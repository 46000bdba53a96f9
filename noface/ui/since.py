"""Reads a past time as people write it: 8h, 22:00, yesterday 22:00, monday, 2026-11-22T22:00."""

import re
from datetime import datetime, time, timedelta

from noface.errors import UsageError
from noface.ui.text import clean, moment

RUN = "run"
"""The word for the beginning of the newest run."""
_FORMS = '8h, 1d12h, 22:00, today, yesterday, "yesterday 22:00", monday, 2026-11-22, "2026-11-22 22:00", or run'
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY_CHARS_MIN = 3
_CLOCK = re.compile(
    r"(?:(?P<day>[a-z]+)(?: +at)? +)?(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?", re.ASCII
)
_UNITS = re.compile(r"(?<=\d) ?(weeks?|days?|hours?|minutes?|mins?)\b", re.ASCII)
_DAYS_BACK = re.compile(r"(?P<count>\d{1,4})(?P<unit>[dw])", re.ASCII)
"""Longer than a duration of the configuration may be."""


def since_when(text: str, now: float, last_run: float | None) -> float:
    """Return the time that `text` names, in epoch seconds; a clock and a day are the last before `now`, of local time.

    `last_run` is when the newest run began, with those right before it that were cut off. Raises UsageError if `text`
    names no time, or one that is to come.
    """
    word = " ".join(text.lower().split())
    if word in (RUN, "last run"):
        if last_run is None:
            raise UsageError("nothing has been run yet, so there is no run to look back to", "Begin with: noface run")
        return last_run
    try:
        at = _named(word, datetime.fromtimestamp(now).astimezone().replace(tzinfo=None))
    except (ValueError, OverflowError, OSError):
        at = None
    if at is None:
        raise UsageError(f'--since: "{clean(text)[:80]}" is no time', f"Write {_FORMS} (the newest run).")
    if at > now:
        raise UsageError(f"--since: {moment(at, now)} is still to come", f"Write a time that has passed: {_FORMS}.")
    return at


def until_when(text: str, now: float) -> float:
    """Return the next time that a clock shows `text`, of local time, in epoch seconds. Raises UsageError."""
    match = _CLOCK.fullmatch(" ".join(text.lower().split()))
    here = datetime.fromtimestamp(now).astimezone().replace(tzinfo=None)
    try:
        clock = time(int(match["hour"]), int(match["minute"])) if match is not None and match["day"] is None else None
    except ValueError:
        clock = None
    if clock is None:
        raise UsageError(f'--until: "{clean(text)[:80]}" is no time of the clock', "Write it as 07:00.")
    return (datetime.combine(here.date(), clock) + timedelta(days=clock <= here.time())).timestamp()


def _named(word: str, here: datetime) -> float | None:
    """Return the time that a word names; `here` is now in local time. Raises ValueError if it is none after all."""
    from noface.config.values import parse_duration

    if (match := _CLOCK.fullmatch(word)) is not None:
        clock = time(int(match["hour"]), int(match["minute"]), int(match["second"] or 0))
        if match["day"] is None:
            return (datetime.combine(here.date(), clock) - timedelta(days=clock > here.time())).timestamp()
        day = _day(match["day"], here, clock)
        return datetime.combine(day, clock).timestamp() if day is not None else None
    if word[:1].isalpha():
        day = _day(word, here, time())
        return day.timestamp() if day is not None else None
    if "-" in word:
        return datetime.fromisoformat(word.upper()).timestamp()
    back = _UNITS.sub(lambda unit: unit[1][0], word.removesuffix(" ago")).replace(" ", "")
    if (days := _DAYS_BACK.fullmatch(back)) is not None:
        return (here - timedelta(days=int(days["count"]) * (len(_DAYS) if days["unit"] == "w" else 1))).timestamp()
    return here.timestamp() - parse_duration(back)


def _day(word: str, here: datetime, clock: time) -> datetime | None:
    """Return the beginning of the day that is meant: of a week's day the last on which `clock` has passed."""
    today = datetime.combine(here.date(), time())
    if word in ("today", "yesterday"):
        return today - timedelta(days=word == "yesterday")
    meant = [at for at, name in enumerate(_DAYS) if len(word) >= _DAY_CHARS_MIN and name.startswith(word)]
    if not meant:
        return None
    back = (here.weekday() - meant[0]) % len(_DAYS)
    return today - timedelta(days=back or (len(_DAYS) if clock > here.time() else 0))
