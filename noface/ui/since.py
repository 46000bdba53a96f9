"""Reads a past time as people write it: 8h, 22:00, yesterday, 2026-11-22T22:00."""

import re
from datetime import datetime, time, timedelta

from noface.errors import UsageError
from noface.ui.text import clean, moment

RUN = "run"
"""The word for the beginning of the newest run."""
_FORMS = '8h, 1d12h, 22:00, yesterday, 2026-11-22, "2026-11-22 22:00", or run'
_CLOCK = re.compile(r"\d{1,2}:\d\d", re.ASCII)


def since_when(text: str, now: float, last_run: float | None) -> float:
    """Return the past time that `text` names, in epoch seconds; `last_run` is when that began. Raises UsageError."""
    word = " ".join(text.lower().split())
    if word == RUN:
        if last_run is None:
            raise UsageError("nothing has been run yet, so there is no run to look back to", "Begin with: noface run")
        return last_run
    try:
        at = _named(word, datetime.fromtimestamp(now).astimezone().replace(tzinfo=None))
    except (ValueError, OverflowError, OSError):
        raise UsageError(f'--since: "{clean(text)[:80]}" is no time', f"Write {_FORMS} (the newest run).") from None
    if at > now:
        raise UsageError(f"--since: {moment(at, now)} is still to come", f"Write a time that has passed: {_FORMS}.")
    return at


def until_when(text: str, now: float) -> float:
    here = datetime.fromtimestamp(now).astimezone().replace(tzinfo=None)
    try:
        clock = time.fromisoformat(text.strip().zfill(5) if _CLOCK.fullmatch(text.strip()) else "")
    except ValueError:
        raise UsageError(f'--until: "{clean(text)[:80]}" is no time of the clock', "Write it as 07:00.") from None
    return (datetime.combine(here.date(), clock) + timedelta(days=clock <= here.time())).timestamp()


def _named(word: str, here: datetime) -> float:
    """Return the time that a word names; `here` is now in local time. Raises ValueError if it is none."""
    from noface.config.values import parse_duration

    if word == "yesterday":
        return (datetime.combine(here.date(), time()) - timedelta(days=1)).timestamp()
    if _CLOCK.fullmatch(word):
        clock = time.fromisoformat(word.zfill(5))
        return datetime.combine(here.date() - timedelta(days=clock > here.time()), clock).timestamp()
    if "-" in word:
        return datetime.fromisoformat(word.upper()).timestamp()
    return here.timestamp() - parse_duration(word)
