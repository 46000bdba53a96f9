"""Durations as people write them in noface.toml: "90s", "10m", "1h30m", or a bare number of seconds."""

import re
from decimal import Decimal

DURATION_PATTERN = r"^(?=\d)(\d+(\.\d+)?d)?(\d+(\.\d+)?h)?(\d+(\.\d+)?m)?(\d+(\.\d+)?s)?$"
"""The same grammar as `parse_duration`'s, for the JSON Schema: days, hours, minutes, seconds, in this order."""

DURATION_MAX_S = 30 * 86400.0
"""The longest duration accepted: beyond some 24 days the poll calls of operating systems overflow anyway."""

EXPECTED = 'a duration such as "90s", "10m" or "1h30m", or a number of seconds'

_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_WHOLE = re.compile(DURATION_PATTERN, re.ASCII)
_PART = re.compile(r"(\d+(?:\.\d+)?)([dhms])", re.ASCII)


def parse_duration(value: object) -> float:
    """Return the seconds that `value` stands for; raise ValueError with what was expected."""
    # fullmatch, since `$` alone would let a trailing newline pass.
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        seconds = float(sum(Decimal(number) * _UNITS[unit] for number, unit in _PART.findall(value)))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value
    else:
        raise ValueError(EXPECTED)
    if not 0 <= seconds <= DURATION_MAX_S:
        raise ValueError(f"a duration from 0 to {format_duration(DURATION_MAX_S)}")
    return float(seconds)


def format_duration(seconds: float) -> str:
    """Write `seconds` the way a person would, such that `parse_duration` gives exactly them back."""
    if seconds != int(seconds):
        return f"{Decimal(repr(seconds)):f}s"
    left, text = int(seconds), ""
    for unit, size in _UNITS.items():
        count, left = divmod(left, size)
        text += f"{count}{unit}" if count else ""
    return text or "0s"
