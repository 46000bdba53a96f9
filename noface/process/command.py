"""One command: what it is, how patiently it is ended, how it is cancelled, how it ended, and how noface watches it."""

import contextlib
import json
import math
import os
import select
import socket
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from noface.model.quoting import one_line
from noface.model.worker_run import EndedBy
from noface.process.process_tree import started_by
from noface.process.sandbox import Box

COMMAND_MARKER = "NOFACE_COMMAND"
"""A variable in every program's environment, unique to the command: it marks what a lost supervisor leaves behind."""


LOG_BYTES_MAX = 100_000_000
"""How much of one output is kept: more is a loop that prints, and fills a disk in a night."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """How patiently to end a program: seconds after SIGINT, after SIGTERM (0: not sent), and for SIGKILL to work."""

    int_s: float = 2.0
    term_s: float = 2.0
    kill_s: float = 30.0


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run. `env` is its whole environment; what it prints is appended to `stdout` and `stderr`.

    These may be the same, and grow by `log_max_bytes` together. `box` is what it may reach (None: what the person may),
    `wrap` a command line to put before it. `services`: servers that it may connect to unnoticed (None: all).
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
    services: tuple[str, ...] | None = None


BUSY = 0.5
"""The share of its time from which on a process that did not end was computing."""
SHOWN_MAX = 120


@dataclass(frozen=True, slots=True)
class AtWork:
    """The process that had used most of the processor, with its command line; `running`: it did not wait just then."""

    command: str
    cpu_s: float
    running: bool = False

    def described(self, seconds: float) -> str:
        """Say what it did in its `seconds`: computing, as in a loop that does not end, or waiting."""
        did = "computing" if self.running or self.cpu_s >= BUSY * seconds else "waiting"
        return f"`{one_line(self.command, SHOWN_MAX)}` was {did} ({self.cpu_s:.1f} s of processor time)"


@dataclass(frozen=True, slots=True)
class Running:
    """A process that a program has started, and that still runs. `apart`: in a session of its own, like most tools."""

    command: str
    seconds: float
    apart: bool


@dataclass(frozen=True, slots=True)
class Exit:
    """How a command ended. Judge it by `error`, `output_limit` and `ended_by`, in this order, then by `exit_code`.

    `error` says why it could not be started, or (LOST) was not seen to end. `survivors_killed` counts what it had left
    running. `out_of_memory` is "limit" or "machine". `at_work` is what of it ran when it was asked to end. `met` is
    `ConnectWatch.foreign`.
    """

    exit_code: int | None
    signal: int | None
    ended_by: EndedBy
    seconds: float
    survivors_killed: int = 0
    error: str = ""
    output_limit: bool = False
    out_of_memory: str = ""
    at_work: AtWork | None = None
    cpu_s: float | None = None
    met: tuple[tuple[str, str], ...] = ()

    @property
    def code(self) -> int | None:
        return self.exit_code if self.signal is None else -self.signal

    @property
    def memory_text(self) -> str:
        why = {"limit": "it used more than [limits] memory_max allows", "machine": "the machine ran out of memory"}
        return f"killed by the kernel: {why[self.out_of_memory]}" if self.out_of_memory else ""


class Canceller:
    """Set once, by any thread or signal handler; every run that was given it ends. `fileno()` is then readable."""

    def __init__(self) -> None:
        self._wake, self._alarm = os.pipe()
        for descriptor in (self._wake, self._alarm):
            weakref.finalize(self, os.close, descriptor)
        self._cancelled = False
        self._urgent = False

    def cancel(self, *, urgent: bool = False) -> None:
        """End the runs by the kill ladder, or with SIGKILL at once if `urgent` (a second Ctrl-C). Repeatable."""
        # No lock: a signal handler may have interrupted another call, and a second byte does no harm.
        self._urgent = self._urgent or urgent
        if not self._cancelled:
            self._cancelled = True
            os.write(self._alarm, b"!")

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    @property
    def urgent(self) -> bool:
        return self._urgent

    def fileno(self) -> int:
        return self._wake


TICK_S = 0.2

OnOutput = Callable[[], float | EndedBy | None]
"""Called every tick; returns the monotonic time of the last sign of life, None before the first, or why to end."""

OnQuiet = Callable[[Sequence[Running] | None], EndedBy | bool]
"""Called about every second once there was no sign of life for `idle_timeout_s`, with what the program has running
(None: nobody can tell). Returns whether that is a sign of life, or why to end."""

_ASK_EVERY_S = 1.0

SUPERVISOR_KILLED = "the process that watched over the command was killed, so how the command ended is not known"
STUCK = "the process that watched over the command did not report its end, so how it ended is not known"


@dataclass(slots=True)
class CommandWatch:
    """One command, from its supervisor's start (`began`, monotonic) to its report, or until it is `stuck` without one.

    `ended_by` is the first reason for which it was asked to end, whatever exit code follows.
    """

    command: Command
    control: socket.socket
    cancellers: Sequence[Canceller]
    ladder: Ladder
    on_output: OnOutput | None
    began: float
    on_quiet: OnQuiet | None = None
    pid: int = 0
    ended_by: EndedBy = EndedBy.ITSELF
    stuck: bool = False
    _inbox: bytes = b""
    _hurried: bool = False
    _ask_from: float = 0.0
    _worked: float | None = None
    _life: float = field(init=False)
    _deadline: float = field(init=False)

    def __post_init__(self) -> None:
        self._life = self.began
        self._deadline = self.began + self.command.timeout_s

    @property
    def error(self) -> str:
        return STUCK if self.stuck else SUPERVISOR_KILLED

    def wait(self) -> dict[str, Any] | None:
        """Return the supervisor's last message ("exited" or "failed"), None if it was lost or is `stuck`."""
        with self.control:
            try:
                return self._wait()
            except BaseException:
                with contextlib.suppress(OSError):
                    self.control.settimeout(self.ladder.kill_s)
                    # The end of what it hears has the supervisor kill; the end of what it says tells that none is left.
                    self.control.shutdown(socket.SHUT_WR)
                    while self.control.recv(65536):
                        pass
                raise

    def _wait(self) -> dict[str, Any] | None:
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        for canceller in self.cancellers:
            poll.register(canceller, select.POLLIN)
        while True:
            # Rounded up: rounded down, the last millisecond before a limit would be a busy loop.
            for descriptor, _ in poll.poll(math.ceil(self._patience_s() * 1000)):
                if descriptor == self.control.fileno():
                    message = self._receive()
                    if message is None or "started" not in message:
                        return message
                else:
                    # It stays readable for ever; that it is set is all there was to learn from it.
                    poll.unregister(descriptor)
            self._look(time.monotonic())
            if self.stuck:
                return None

    def _receive(self) -> dict[str, Any] | None:
        try:
            data = self.control.recv(65536)
        except OSError:
            data = b""
        if not data:
            return None
        *lines, self._inbox = (self._inbox + data).split(b"\n")
        last: dict[str, Any] = json.loads(lines[-1]) if lines else {"started": None}
        return last

    def _patience_s(self) -> float:
        limit = self._deadline
        if self.ended_by is EndedBy.ITSELF and self.command.idle_timeout_s is not None:
            limit = min(limit, max(self._life, self._worked or 0.0) + self.command.idle_timeout_s)
        return max(0.0, min(TICK_S, limit - time.monotonic()))

    def _look(self, now: float) -> None:
        if self.ended_by is not EndedBy.ITSELF:
            self.stuck = now >= self._deadline
            if not self._hurried and self._urgent():
                self._stop(now)
            return
        life = self.on_output() if self.on_output is not None else None
        if isinstance(life, EndedBy):
            wanted: EndedBy | None = life
        else:
            self._life = life or self._life
            wanted = self._look_for_work(now)
        reason = self._reason_to_end(now) or wanted
        if reason is not None:
            self.ended_by = reason
            self._stop(now)

    def _look_for_work(self, now: float) -> EndedBy | None:
        idle_s = self.command.idle_timeout_s
        if self.on_quiet is None or idle_s is None or now - self._life < idle_s:
            self._worked = None
            return None
        if now >= self._ask_from:
            self._ask_from = now + _ASK_EVERY_S
            answer = self.on_quiet(self._running())
            if isinstance(answer, EndedBy):
                return answer
            self._worked = now if answer else self._worked
        return None

    def _running(self) -> tuple[Running, ...] | None:
        processes = started_by(self.pid) if self.pid and not self.command.wrap else None
        return tuple(Running(**each) for each in processes) if processes is not None else None

    def _reason_to_end(self, now: float) -> EndedBy | None:
        if any(canceller.cancelled for canceller in self.cancellers):
            return EndedBy.CANCELLED
        if now >= self._deadline:
            return EndedBy.TIMEOUT
        idle_s = self.command.idle_timeout_s
        if idle_s is not None and now - max(self._life, self._worked or 0.0) >= idle_s:
            return EndedBy.IDLE
        return None

    def _urgent(self) -> bool:
        return any(canceller.urgent for canceller in self.cancellers)

    def _stop(self, now: float) -> None:
        self._hurried = self._urgent()
        int_s, term_s = (0.0, 0.0) if self._hurried else (self.ladder.int_s, self.ladder.term_s)
        self._deadline = now + int_s + term_s + self.ladder.kill_s
        # A supervisor that is gone is noticed by the next recv.
        with contextlib.suppress(OSError):
            self.control.sendall(json.dumps({"stop": {"int_s": int_s, "term_s": term_s}}).encode() + b"\n")
