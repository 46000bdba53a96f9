"""Reading durations."""

import re

UNITS = {"h": 3600, "m": 60, "s": 1}


def seconds(text: str) -> int:
    """Give the seconds of "1h30m". Raises ValueError."""
    parts = re.findall(r"(\d+)([hms])", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"{text!r} is no duration")
    return sum(int(number) * UNITS[unit] for number, unit in parts)
