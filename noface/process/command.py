"""What a command is, how it ended, how patiently it is ended, and how it is cancelled: the records of `supervise`."""

import os
import weakref
from dataclasses import dataclass

from noface.model.worker_run import EndedBy
from noface.process.sandbox import Box

COMMAND_MARKER = "NOFACE_COMMAND"
"""A variable in every program's environment, unique to the command: it marks what a lost supervisor leaves behind."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """How patiently to end a program: seconds after SIGINT, after SIGTERM, and until SIGKILL must have worked.

    A rung of 0 seconds is left out, its signal never sent.
    """

    int_s: float = 2.0
    term_s: float = 2.0
    kill_s: float = 30.0


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run. `env` is its whole environment, but for COMMAND_MARKER; nothing is inherited.

    `stdin` is a file (None: /dev/null). `stdout` and `stderr` are files to append to, which may be the same;
    together they may grow by `log_max_bytes`. `idle_timeout_s` None means no limit. `box` is what it may reach (None:
    what the person may), `wrap` a command line to put before it, such as a container engine's.
    """

    argv: tuple[str, ...]
    cwd: str
    env: tuple[tuple[str, str], ...]
    stdin: str | None
    stdout: str
    stderr: str
    timeout_s: float
    idle_timeout_s: float | None
    log_max_bytes: int
    box: Box | None = None
    wrap: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exit:
    """How a command ended. Judge it by `error`, `output_limit` and `ended_by`, in this order, then by `exit_code`.

    `error` says why the program could not be started, or (LOST) was not seen to end. With `output_limit` it wrote
    more than it may and was killed, unless it ended first. `survivors_killed` counts what it had left running.
    """

    exit_code: int | None
    signal: int | None
    ended_by: EndedBy
    seconds: float
    survivors_killed: int = 0
    error: str = ""
    output_limit: bool = False


class Canceller:
    """Set once, by any thread or signal handler; every run that was given it ends.

    `fileno()` is readable from the first `cancel()` on and stays so.
    """

    def __init__(self) -> None:
        self._wake, self._alarm = os.pipe()
        weakref.finalize(self, _close, self._wake, self._alarm)
        self._cancelled = False
        self._urgent = False

    def cancel(self, *, urgent: bool = False) -> None:
        """End the runs by the kill ladder, or with SIGKILL at once where `urgent` (a second Ctrl-C). Repeatable."""
        # No lock: a signal handler may have interrupted another call, and a second byte does no harm.
        self._urgent = self._urgent or urgent
        if not self._cancelled:
            self._cancelled = True
            os.write(self._alarm, b"!")

    @property
    def cancelled(self) -> bool:
        """True once cancelled."""
        return self._cancelled

    @property
    def urgent(self) -> bool:
        """True once cancelled urgently."""
        return self._urgent

    def fileno(self) -> int:
        """Return the descriptor to wait on."""
        return self._wake


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
