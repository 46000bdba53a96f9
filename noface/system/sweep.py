"""Kills what a dead supervisor or a dead noface left behind: the processes that carry a marker in their environment."""

import os
import time
from typing import Any

from noface.errors import NofaceError

PATIENCE_S = 10.0
LOOK_AGAIN_S = 0.02


def sweep(marker_name: str, marker_value: str, patience_s: float = PATIENCE_S) -> int:
    """Kill every process of this user with NAME=VALUE in its environment until none is left; how many it were.

    Spares this process and those it descends from. A process started meanwhile is found by the next look, so one
    look is never enough. Raises NofaceError where some are still there after `patience_s` seconds.
    """
    import psutil

    spared = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    killed: set[tuple[int, float]] = set()
    deadline = time.monotonic() + patience_s
    while True:
        found = [
            process
            for process in psutil.process_iter()
            if process.pid not in spared and _carries(process, marker_name, marker_value)
        ]
        if not found:
            return len(killed)
        if time.monotonic() > deadline:
            pids = ", ".join(str(process.pid) for process in found)
            raise NofaceError(
                f"processes that outlived their command do not end, not even by SIGKILL: {pids}",
                "they probably wait for a disk or a network share; noface can go on once they are gone",
            )
        killed.update((process.pid, process.create_time()) for process in found if _kill(process))
        # Not psutil's wait: it would reap children of ours behind the back of whoever waits for them.
        time.sleep(LOOK_AGAIN_S)


def carriers(marker_name: str, marker_value: str) -> tuple[int, ...]:
    """Return the pids of this user's processes with NAME=VALUE in their environment, as `sweep` would kill them."""
    import psutil

    spared = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    found = (process.pid for process in psutil.process_iter() if _carries(process, marker_name, marker_value))
    return tuple(sorted(set(found) - spared))


def _carries(process: Any, name: str, value: str) -> bool:
    import psutil

    try:
        return bool(process.uids().real == os.getuid() and process.environ().get(name) == value)
    except (psutil.Error, OSError):
        # Gone, a zombie, or none of ours.
        return False


def _kill(process: Any) -> bool:
    import psutil

    try:
        process.kill()
    except psutil.Error:
        return False
    return True
