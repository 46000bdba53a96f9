"""The local clock that reset times are read by: now, the local time zone, and the zones that have names."""

import os
import time
from datetime import datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

from noface.diagnosis.reset_times import WallClock

_LOCAL_TIME = Path("/etc/localtime")


def local_clock(now: float | None = None, zone: str | None = None) -> WallClock:
    """Return the clock at `now` (epoch seconds, by default this moment) in `zone` (by default the local one).

    Raises ValueError for a zone that does not exist.
    """
    here = _local_zone() if zone is None else named_zone(zone)
    if here is None:
        raise ValueError(f"there is no time zone {zone!r}")
    return WallClock(time.time() if now is None else now, here, named_zone)


def named_zone(name: str) -> tzinfo | None:
    """Return the zone of the IANA database that is called `name`, None where there is none."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return None


def _local_zone() -> tzinfo | None:
    """Return the zone of TZ or of the system, else the offset from UTC that holds just now."""
    name = os.environ.get("TZ", "").removeprefix(":")
    zone = named_zone(name) if name else None
    if zone is not None:
        return zone
    if not name:
        try:
            with _LOCAL_TIME.open("rb") as file:
                return ZoneInfo.from_file(file)
        except (OSError, ValueError):
            pass  # a system without the file keeps its zone elsewhere
    return datetime.now().astimezone().tzinfo
