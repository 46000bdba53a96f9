"""Whether a worker that prints nothing is at work: by its open tool calls and the processes of its tools. Pure.

Of a call that runs a command the process has to be there. A call that asks a server has none; it shows nothing while
the program only tries its provider again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from noface.agents.base import OpenCall, ToolProcesses
from noface.model.quoting import one_line
from noface.process.command import SHOWN_MAX, Running

_BEFORE_S = 5.0
"""A process may be somewhat older than the line of the stream that tells of its call."""
_MINUTE_S = 60.0
_SECONDS_MAX = 120.0


@dataclass(frozen=True, slots=True)
class SilentWork:
    """What a silent worker is at: a tool call or a process, and since how many seconds. `gone`: its process is."""

    what: str
    seconds: float
    gone: bool = False

    def __str__(self) -> str:
        began = f"`{one_line(self.what, SHOWN_MAX)}` had run for {spoken(self.seconds)}"
        return f"{began}, and its process is gone" if self.gone else began


def silent_work(
    calls: Sequence[tuple[OpenCall, float]], running: Sequence[Running] | None, *, retrying: bool
) -> SilentWork | None:
    """Return the open call that a silent worker is at, of those with their seconds; None if nothing shows that.

    `running` is None if nobody can tell. `retrying`: the program tries its provider again.
    """

    def runs(call: OpenCall, seconds: float) -> bool:
        if call.command and running is not None:
            return any(each.apart or each.seconds <= seconds + _BEFORE_S for each in running)
        return not retrying

    return next((work_of(call, seconds) for call, seconds in calls if runs(call, seconds)), None)


def silent_process(running: Sequence[Running] | None, processes: ToolProcesses | None) -> SilentWork | None:
    """Return the process that a silent worker is at, whose stream tells of no call when it begins; None if none is."""
    tools = [each for each in running or () if processes is ToolProcesses.BELOW or each.apart]
    oldest = max(tools, key=lambda each: each.seconds, default=None) if processes is not None else None
    return SilentWork(oldest.command, oldest.seconds) if oldest is not None else None


def work_of(call: OpenCall, seconds: float, *, gone: bool = False) -> SilentWork:
    return SilentWork(call.command or call.text, seconds, gone)


def spoken(seconds: float) -> str:
    """Return a time as people say it: in seconds, from two minutes on in minutes."""
    return f"{seconds:.0f} s" if seconds < _SECONDS_MAX else f"{seconds / _MINUTE_S:.0f} min"
