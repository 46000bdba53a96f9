"""What the chapters of a run, and its stations, share."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from noface.engine.context import RunContext
from noface.engine.jobs import Jobs
from noface.engine.landing.queue import MergeQueue
from noface.engine.outside import BacklogWatch
from noface.engine.stations import Station, Stations
from noface.process.command import Canceller


@dataclass(frozen=True, slots=True)
class RunParts:
    """The parts of a run that stations work with. `leave` ends the work on an issue, and returns why not."""

    context: RunContext
    jobs: Jobs
    queue: MergeQueue
    watch: BacklogWatch
    leave: Callable[[str, str], str]
    stations: Stations


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What a run does with other machines: `check` looks before a worker is paid, `held` keeps others off meanwhile.

    Both raise UsageError, ForgeError and RemoteError.
    """

    held: Callable[[RunContext, Canceller], AbstractContextManager[None]]
    check: Callable[[RunContext, Canceller], None]
    stations: Callable[[RunParts], tuple[Station, ...]]
