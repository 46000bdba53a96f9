"""Who descends from a process, who carries a marker in its environment, and ending all of them.

Linux's /proc and prctl; harmless if they are missing. Used by supervisors: standard library only (psutil is imported
where `sweep` and `carriers` need it, which supervisors never call), and nothing that is slow to import.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from noface.errors import NofaceError

FREEZE_PASSES_MAX = 100
SET_CHILD_SUBREAPER = 36
PATIENCE_S = 10.0
LOOK_AGAIN_S = 0.02
IDLE_CPU_S = 0.2
COMMAND_BYTES_MAX = 1000
BOXING = "bwrap"
"""The name of the program that makes a sandbox, as the system knows its processes."""


def prctl(option: int, value: int) -> bool:
    return bool(sys.platform == "linux" and libc().prctl(option, value, 0, 0, 0) == 0)


@cache
def libc() -> Any:
    """Return the C library, with the functions that were called before: looking them up again costs a fork pages."""
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def children(pid: int) -> list[int]:
    """List the direct children of a process, as far as /proc lists them."""
    pids: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            pids.extend(map(int, (task / "children").read_bytes().split()))
    except OSError:
        if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
            return children_by_scan(pid)
    return pids


def children_by_scan(pid: int) -> list[int]:
    """Find the same on kernels that keep no lists of children. Empty if there is no /proc."""
    pids = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            # Split behind the last parenthesis: a program may have blanks and parentheses in its name (proc(5)).
            parent = int((entry / "stat").read_bytes().rpartition(b")")[2].split()[1])
        except (OSError, IndexError):
            continue
        if parent == pid:
            pids.append(int(entry.name))
    return pids


def below(roots: Sequence[int]) -> list[int]:
    descendants = list(roots)
    for pid in descendants:  # it grows meanwhile
        descendants += children(pid)
    return descendants[len(roots) :]


def at_work(pids: Sequence[int]) -> dict[str, Any] | None:
    """Return command line and processor seconds of the process that used most, and whether it runs."""
    facts = [fact for pid in pids if (fact := _facts_of(pid)) is not None]
    busiest = max(facts, key=lambda fact: fact["cpu_s"], default=None)
    if busiest is None:
        return None
    # Where none used any it is the youngest.
    chosen = facts[-1] if busiest["cpu_s"] < IDLE_CPU_S else busiest
    return {key: chosen[key] for key in ("command", "cpu_s", "running")}


def started_by(supervisor: int) -> list[dict[str, Any]] | None:
    """Return what the program that a supervisor watches over has started, but for the sandbox.

    None if the program itself is not seen, since it is about to start or end, or there is no /proc.
    """
    facts = [fact for pid in below([supervisor]) if (fact := _facts_of(pid)) is not None]
    inside = [fact for fact in facts if fact["session"] != supervisor]  # the others are the supervisor itself
    while inside and inside[0]["name"] == BOXING:
        inside.pop(0)
    if not inside:
        return None
    own = inside[0]["session"]
    return [
        {"command": fact["command"], "seconds": fact["seconds"], "apart": fact["session"] != own} for fact in inside[1:]
    ]


def _facts_of(pid: int) -> dict[str, Any] | None:
    try:
        head, _, tail = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")
        words = Path(f"/proc/{pid}/cmdline").read_bytes()[:COMMAND_BYTES_MAX].split(b"\0")
        uptime_s = float(Path("/proc/uptime").read_bytes().split()[0])
    except (OSError, ValueError):
        return None
    fields = tail.split()
    if fields[0] in (b"Z", b"X"):
        return None
    name, ticks = head.partition(b"(")[2].decode("utf-8", "replace"), os.sysconf("SC_CLK_TCK")
    return {
        "name": name,
        "session": int(fields[3]),
        "seconds": max(0.0, uptime_s - int(fields[19]) / ticks),  # starttime (proc(5))
        "command": " ".join(word.decode("utf-8", "replace") for word in words if word) or name,
        "cpu_s": (int(fields[11]) + int(fields[12])) / ticks,  # utime and stime
        "running": fields[0] == b"R",
    }


def send_signal(pid: int, number: int) -> None:
    with suppress(OSError):
        os.kill(pid, number)


def send_group_signal(group: int, number: int) -> None:
    with suppress(OSError):
        os.killpg(group, number)


def kill_all(find: Callable[[], Iterable[int]]) -> set[int]:
    """Kill what `find` lists, and return it; freezing all first keeps them from forking away meanwhile.

    One call need not get everything (/proc's lists may miss a process that is just being born): call again until
    nothing is left.
    """
    frozen: set[int] = set()
    for _ in range(FREEZE_PASSES_MAX):
        new = set(find()) - frozen
        if not new:
            break
        for pid in new:
            send_signal(pid, signal.SIGSTOP)
        frozen |= new
    for pid in frozen:
        send_signal(pid, signal.SIGKILL)
    return frozen


def sweep(marker_name: str, marker_value: str) -> int:
    """Kill every process of this user with NAME=VALUE in its environment until none is left; return how many it were.

    Raise NofaceError if some are left after PATIENCE_S seconds.
    """
    killed: set[tuple[int, float]] = set()
    deadline = time.monotonic() + PATIENCE_S
    while carrying := _carrying(marker_name, marker_value):
        if time.monotonic() > deadline:
            pids = ", ".join(str(process.pid) for process in carrying)
            raise NofaceError(
                f"processes that outlived their command do not end, not even by SIGKILL: {pids}",
                "they probably wait for a disk or a network share; noface can go on once they are gone",
            )
        killed.update((process.pid, process.create_time()) for process in carrying if _kill(process))
        # Not psutil's wait: it would reap children of ours behind the back of whoever waits for them.
        time.sleep(LOOK_AGAIN_S)
    return len(killed)


def carriers(marker_name: str, marker_value: str) -> tuple[int, ...]:
    """Return the pids of this user's processes with NAME=VALUE in their environment, as `sweep` would kill them."""
    return tuple(sorted({process.pid for process in _carrying(marker_name, marker_value)}))


def _carrying(name: str, value: str) -> list[Any]:
    import psutil

    spared = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    others = (process for process in psutil.process_iter() if process.pid not in spared)
    return [process for process in others if _carries(process, name, value)]


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
