"""Memory: how often the kernel has killed for want of it, and a limit for what one command uses. Linux only.

The kernel counts its kills for the machine (/proc/vmstat) and for each control group (cgroup(7)). In a container the
machine's figure counts neighbours' deaths as well, so noface's own group is asked first. Imports nothing slow.
"""

import os
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple, Self

FIRST_TO_DIE = 500
"""Added to the kernel's score of a command (proc(5), oom_score_adj): it dies before noface and what the person runs."""
_GROUPS = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")
_MACHINE = Path("/proc/vmstat")
_EVENTS = ("memory.events", "memory.oom_control")  # of version 2 of cgroups, and of version 1
_COUNT = "oom_kill"
_PREFIX = "noface-"
_MEMBERS = "cgroup.procs"
_OWN_PID = "0"
_LEFT_S = 60.0
_TRY_BYTES = 1 << 33  # who tries is in the group for a moment


class OomKills(NamedTuple):
    """How many processes the kernel has killed for want of memory: in the control group `group`, on the machine."""

    group: str
    in_group: int | None
    on_machine: int | None

    def since(self, before: Self) -> int:
        pairs = ((self.in_group, before.in_group), (self.on_machine, before.on_machine))
        counted = [now - then for now, then in pairs if now is not None and then is not None]
        return max(0, counted[0]) if counted else 0


def oom_kills(group: str = "") -> OomKills:
    """Return the kernel's figures, for `group` (noface's own by default) and the machine."""
    folder = Path(group) if group else next(iter(_own_groups()), None)
    counts = [_count(folder / name) for name in _EVENTS] if folder is not None else []
    in_group = next((count for count in counts if count is not None), None)
    return OomKills(str(folder or ""), in_group, _count(_MACHINE))


def _count(file: Path) -> int | None:
    with suppress(OSError, ValueError):
        for line in file.read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == _COUNT:
                return int(value)
    return None


@cache
def _own_groups(membership: Path = _MEMBERSHIP, root: Path = _GROUPS) -> list[Path]:
    """Return the folders of this process's groups that account for memory; a container sees its own at the root."""
    with suppress(OSError):
        lines = [line.split(":", 2) for line in membership.read_text().splitlines()]
        places = [(root, path) for number, _, path in lines if number == "0"]
        places += [(root / "memory", path) for _, names, path in lines if "memory" in names.split(",")]
        folders = [folder for top, path in places for folder in (top / path.strip("/"), top)]
        return [folder for folder in folders if any((folder / name).exists() for name in _EVENTS)]
    return []


class MemoryGroup:
    """A control group that bounds what the processes in it use together."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self._home = folder, home

    @classmethod
    def make(cls, name: str, limit: int) -> Self | None:
        for own in _own_groups():
            # In version 2 of cgroups a group with processes in it has no groups that bound memory: then beside it.
            for parent in (own, own.parent):
                if (group := cls._make(parent / f"{_PREFIX}{name}", own, limit)) is not None:
                    return group
        return None

    @classmethod
    def _make(cls, folder: Path, home: Path, limit: int) -> Self | None:
        second = (home / _EVENTS[0]).exists()
        with suppress(OSError):
            # A group has memory.max only if the one above it passes the controller on.
            if second and "memory" not in (folder.parent / "cgroup.subtree_control").read_text().split():
                return None
            for left in folder.parent.glob(f"{_PREFIX}*"):  # of supervisors that were killed; those in use stay
                with suppress(OSError):
                    if time.time() - left.stat().st_mtime > _LEFT_S:  # a new one is empty until it is entered
                        left.rmdir()
            folder.mkdir()
            group = cls(folder, home)
            try:
                # Entered at once: who may make a group and bound it may still not be allowed to move into it.
                (folder / ("memory.max" if second else "memory.limit_in_bytes")).write_text(str(limit))
                group.enter()
                group.leave()
            except OSError:
                group.remove()
                return None
            return group
        return None

    def enter(self) -> None:
        (self.folder / _MEMBERS).write_text(_OWN_PID)

    def leave(self) -> None:
        (self._home / _MEMBERS).write_text(_OWN_PID)

    def kills(self) -> int:
        return oom_kills(str(self.folder)).in_group or 0

    def remove(self) -> None:
        with suppress(OSError):
            self.folder.rmdir()


def memory_problem(limit: int) -> str:
    """Say what a limit for a command and all that it starts does here in place of what it should; "" if it holds."""
    if sys.platform != "linux":
        return "does nothing on this system"
    group = MemoryGroup.make(f"try-{os.getpid()}", max(limit, _TRY_BYTES))
    if group is None:
        return "holds each program by itself, not all of a worker or gate together: no control group can be made here"
    group.remove()
    return ""


class MemoryWatch:
    """The memory of one command: what is started within `bounded` has the limit in bytes (None: there is none).

    It shares a control group if one can be made; else each process has the limit for its data (RLIMIT_DATA).
    """

    def __init__(self, name: str, limit: int | None) -> None:
        self._limit = limit
        self._group = MemoryGroup.make(name, limit) if limit is not None else None
        self._before = oom_kills()

    @contextmanager
    def bounded(self) -> Iterator[None]:
        """Have what is started meanwhile bounded, and killed before noface if the machine runs out of memory."""
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        score = _set_score(None)
        try:
            if self._group is not None:
                self._group.enter()
            elif self._limit is not None and sys.platform == "linux":
                most = self._limit if hard == resource.RLIM_INFINITY else min(self._limit, hard)
                # The soft limit alone: a hard one that was lowered could not be given back to the supervisor.
                resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
            yield
        finally:
            _set_score(score)
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
            if self._group is not None:
                self._group.leave()

    def out_of_memory(self) -> str:
        """Say whether the kernel has killed for want of memory meanwhile: "limit" (here), "machine" or ""."""
        if self._group is not None and self._group.kills():
            return "limit"
        return "machine" if oom_kills(self._before.group).since(self._before) else ""

    def close(self) -> None:
        if self._group is not None:
            self._group.remove()


def _set_score(score: int | None) -> int | None:
    """Set this process's oom_score_adj, by default to that of a command; return the one before, None if unknown."""
    file = Path(f"/proc/{os.getpid()}/oom_score_adj")
    with suppress(OSError, ValueError):
        before = int(file.read_text())
        file.write_text(str(min(1000, before + FIRST_TO_DIE) if score is None else score))
        return before
    return None
