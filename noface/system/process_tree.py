"""Who descends from a process, and ending all of them. Linux's /proc and prctl; harmless where they are missing.

Used by supervisors: standard library only, and nothing that is slow to import.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

FREEZE_PASSES_MAX = 100
SET_CHILD_SUBREAPER = 36


def prctl(option: int, value: int) -> bool:
    """Linux's prctl; False where it failed or there is none."""
    if sys.platform != "linux":
        return False
    import ctypes

    return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)


def children(pid: int) -> list[int]:
    """List the direct children of a process, as far as /proc tells."""
    found: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            found.extend(map(int, (task / "children").read_bytes().split()))
    except OSError:
        if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
            return children_by_scan(pid)
    return found


def children_by_scan(pid: int) -> list[int]:
    """Find the same on kernels that keep no lists of children. Empty where there is no /proc."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_bytes().rpartition(b")")[2].split()[1])
        except (OSError, IndexError):
            continue
        if parent == pid:
            found.append(int(entry.name))
    return found


def below(roots: Iterable[int]) -> list[int]:
    """Every descendant of the roots, without the roots."""
    found: list[int] = []
    queue = list(roots)
    while queue:
        young = children(queue.pop())
        found += young
        queue += young
    return found


def send_signal(pid: int, number: int) -> None:
    """Signal a process that may be gone by now, or belong to another user."""
    try:
        os.kill(pid, number)
    except OSError:
        return


def send_group_signal(group: int, number: int) -> None:
    """Signal a process group that may be gone by now."""
    try:
        os.killpg(group, number)
    except OSError:
        return


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
