"""Watches one running command from noface's side: its limits, its cancellation, and its supervisor's report."""

import contextlib
import json
import math
import select
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from noface.model.worker_run import EndedBy
from noface.process.command import Canceller, Command, Ladder
from noface.process.log_masking import LogGuard

TICK_S = 0.2

OnOutput = Callable[[], float | EndedBy | None]
"""Called every tick; returns the monotonic time of the last sign of life, None before the first, or why to end."""

SUPERVISOR_KILLED = "the process that watched over the command was killed, so how the command ended is not known"
STUCK = "the process that watched over the command did not report its end, so how it ended is not known"


class Watch:
    """One command, from its supervisor's start to its report.

    `ended_by` is the first reason for which it was asked to end, whatever exit code follows.
    """

    def __init__(
        self,
        command: Command,
        control: socket.socket,
        cancellers: Sequence[Canceller],
        ladder: Ladder,
        on_output: OnOutput | None,
        began: float,
        guard: LogGuard,
    ) -> None:
        self._guard = guard
        self._command = command
        self._control = control
        self._cancellers = cancellers
        self._ladder = ladder
        self._on_output = on_output
        self._inbox = b""
        self._life = began
        self._sizes = _sizes(command)
        self._deadline = began + command.timeout_s
        self._hurried = False
        self.ended_by = EndedBy.ITSELF
        self.stuck = False

    @property
    def error(self) -> str:
        """Why there was no report."""
        return STUCK if self.stuck else SUPERVISOR_KILLED

    def wait(self) -> dict[str, Any] | None:
        """Return the supervisor's last message ("exited" or "failed"), None where it was lost or is `stuck`.

        If this raises, the command is killed first and its end awaited.
        """
        with self._control:
            try:
                report = self._wait()
            except BaseException:
                self._abandon()
                raise
        self._guard.finish()
        return report

    def _wait(self) -> dict[str, Any] | None:
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        for canceller in self._cancellers:
            poll.register(canceller, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll(math.ceil(self._patience_s() * 1000)):
                if descriptor == self._control.fileno():
                    message = self._receive()
                    if message is None or "started" not in message:
                        return message
                else:
                    # It stays readable for ever; that it is set is all there was to learn from it.
                    poll.unregister(descriptor)
            self._guard.look()
            self._look(time.monotonic())
            if self.stuck:
                return None

    def _receive(self) -> dict[str, Any] | None:
        """Return the last message that came in whole ("started" until another does), None at the supervisor's end."""
        try:
            data = self._control.recv(65536)
        except OSError:
            data = b""
        if not data:
            return None
        *lines, self._inbox = (self._inbox + data).split(b"\n")
        last: dict[str, Any] = json.loads(lines[-1]) if lines else {"started": None}
        return last

    def _patience_s(self) -> float:
        """Seconds until there may be something to do."""
        limit = self._deadline
        if self.ended_by is EndedBy.ITSELF and self._command.idle_timeout_s is not None:
            limit = min(limit, self._life + self._command.idle_timeout_s)
        return max(0.0, min(TICK_S, limit - time.monotonic()))

    def _look(self, now: float) -> None:
        if self.ended_by is not EndedBy.ITSELF:
            self.stuck = now >= self._deadline
            if not self._hurried and self._urgent():
                self._stop(now)
            return
        requested = self._look_for_life(now)
        reason = self._reason_to_end(now) or requested
        if reason is not None:
            self.ended_by = reason
            self._stop(now)

    def _look_for_life(self, now: float) -> EndedBy | None:
        """Return why whoever reads the output wants an end, if so."""
        if self._on_output is not None:
            life_or_reason = self._on_output()
            if isinstance(life_or_reason, EndedBy):
                return life_or_reason
            self._life = life_or_reason or self._life
            return None
        sizes = _sizes(self._command)
        if sizes != self._sizes:
            self._sizes = sizes
            self._life = now
        return None

    def _reason_to_end(self, now: float) -> EndedBy | None:
        if any(canceller.cancelled for canceller in self._cancellers):
            return EndedBy.CANCELLED
        if now >= self._deadline:
            return EndedBy.TIMEOUT
        idle_s = self._command.idle_timeout_s
        if idle_s is not None and now - self._life >= idle_s:
            return EndedBy.IDLE
        return None

    def _urgent(self) -> bool:
        return any(canceller.urgent for canceller in self._cancellers)

    def _stop(self, now: float) -> None:
        """Have the supervisor climb the ladder, or skip to its end; from now on the deadline is for that."""
        self._hurried = self._urgent()
        int_s, term_s = (0.0, 0.0) if self._hurried else (self._ladder.int_s, self._ladder.term_s)
        self._deadline = now + int_s + term_s + self._ladder.kill_s
        # A supervisor that is gone is noticed by the next recv.
        with contextlib.suppress(OSError):
            self._control.sendall(json.dumps({"stop": {"int_s": int_s, "term_s": term_s}}).encode() + b"\n")

    def _abandon(self) -> None:
        """Make the supervisor kill everything, and wait until it has."""
        with contextlib.suppress(OSError):
            self._control.settimeout(self._ladder.kill_s)
            self._control.shutdown(socket.SHUT_WR)
            while self._control.recv(65536):
                pass


def _sizes(command: Command) -> list[int]:
    sizes = []
    for path in (command.stdout, command.stderr):
        try:
            sizes.append(Path(path).stat().st_size)
        except OSError:
            sizes.append(-1)
    return sizes
