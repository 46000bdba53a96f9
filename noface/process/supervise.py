"""Runs commands so that they end in time and leave nothing behind (laws 6 and 12): each is given to a supervisor."""

import errno
import os
import re
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any, Self

from noface.errors import NofaceError
from noface.model.access import named
from noface.model.worker_run import EndedBy
from noface.process.command import (
    COMMAND_MARKER,
    AtWork,
    Canceller,
    Command,
    CommandWatch,
    Exit,
    Ladder,
    OnOutput,
    OnQuiet,
)
from noface.process.files import read_bounded
from noface.process.process_tree import send_signal, sweep
from noface.process.spawn import ForkServer, SupervisorLostError, explain
from noface.process.supervisor import Containment
from noface.secrets.masking import Masker

__all__ = ["COMMAND_MARKER", "Canceller", "Command", "Containment", "Exit", "Ladder", "Launcher"]

_BOX_WORDS_BYTES = 4000


class Launcher:
    """Runs commands, from any thread. Close it, or use it as a context manager, to end all that still run.

    Each command gets a PID namespace if there are any and `namespaces` is True, and may use `memory_max_bytes`. No
    secret that `masker` knows gets into a command's logs (I12).
    """

    def __init__(
        self,
        ladder: Ladder | None = None,
        masker: Masker | None = None,
        *,
        namespaces: bool = True,
        memory_max_bytes: int | None = None,
    ) -> None:
        self.masker = masker or Masker()
        self.namespaces = namespaces
        self.memory_max_bytes = memory_max_bytes
        self._ladder = ladder or Ladder()
        self._fork_server = ForkServer(self.masker.secrets)
        self._closing = Canceller()
        self._running = 0
        self._idle = threading.Condition()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def fork_server_pid(self) -> int | None:
        return self._fork_server.fork_server_pid

    def containment(self) -> Containment:
        """Return what keeps descendants of a command from outliving it here. Starts the fork server."""
        best = self._fork_server.containment()
        return best if self.namespaces else min(best, Containment.SUBREAPER)

    def warm_up(self) -> None:
        self._fork_server.warm_up()

    def close(self) -> None:
        """End every running command at once and wait until nothing is left of any. Repeatable."""
        self._closing.cancel(urgent=True)
        with self._idle:
            self._idle.wait_for(lambda: self._running == 0)
        self._fork_server.close()

    def run(
        self,
        command: Command,
        cancel: Canceller | None = None,
        on_output: OnOutput | None = None,
        on_quiet: OnQuiet | None = None,
    ) -> Exit:
        """Run a command to its end, and until nothing of it is left; what cannot be started gives an Exit with `error`.

        `on_output` is called every tick (0.2 s at most) and returns the monotonic time of the last sign of life, or why
        to end. `on_quiet` says whether it works all the same.
        """
        with self._idle:
            self._running += 1
        try:
            ended = self._run(command, cancel, on_output, on_quiet)
            if command.box is not None:
                command.box.keep_caches()
            return ended
        finally:
            with self._idle:
                self._running -= 1
                self._idle.notify_all()

    def _run(
        self, command: Command, cancel: Canceller | None, on_output: OnOutput | None, on_quiet: OnQuiet | None
    ) -> Exit:
        began = time.monotonic()

        def unrun(error: str, ended_by: EndedBy = EndedBy.ITSELF, swept: int = 0) -> Exit:
            return Exit(None, None, ended_by, time.monotonic() - began, swept, error)

        mark = os.urandom(16).hex()
        order = self._order(command, mark)
        cancellers = [self._closing] if cancel is None else [self._closing, cancel]
        if any(canceller.cancelled for canceller in cancellers):
            return unrun("cancelled before it was started", EndedBy.CANCELLED)
        try:
            control, pid, containment = self._fork_server.spawn(order, apart=self.namespaces and command.box is None)
        except SupervisorLostError as lost:
            return unrun(f"{lost.message}; {lost.hint}", EndedBy.LOST)
        watch = CommandWatch(command, control, cancellers, self._ladder, on_output, began, on_quiet, pid)
        report = watch.wait()
        if report is None:
            if watch.stuck:
                # It may have been stopped. What it watched over falls to the fork server then.
                send_signal(pid, signal.SIGKILL)
            swept, error = _sweep(mark)
            return unrun(error or watch.error, EndedBy.LOST, swept)
        if "failed" in report:
            return unrun(explain(report["failed"], command.argv, order["env"]))
        exited = report["exited"]
        if not exited["boxed"] and watch.ended_by is EndedBy.ITSELF:
            return unrun(_no_box(command))
        # If anything better holds descendants none can be left, and a sweep reads every process of the user.
        swept, error = (0, "") if containment is not Containment.GROUP else _sweep(mark)
        if exited["unwritten"]:
            error = f"what it printed could not be written to {command.stdout}: {exited['unwritten']}"
        return Exit(
            exit_code=exited["code"],
            signal=exited["signal"],
            ended_by=watch.ended_by,
            seconds=time.monotonic() - began,
            survivors_killed=exited["survivors"] + swept,
            error=error,
            output_limit=exited["output_limit"],
            out_of_memory=exited["out_of_memory"],
            at_work=AtWork(**exited["at_work"]) if exited["at_work"] is not None else None,
            cpu_s=exited["cpu_s"],
            met=tuple(exited["met"].items()),
        )

    def _order(self, command: Command, mark: str) -> dict[str, Any]:
        argv, box = (*command.wrap, *command.argv), command.box
        shares = box is None or box.shares_network
        return {
            "argv": box.command_line(argv, command.cwd) if box is not None else argv,
            "cwd": command.cwd,
            "env": {**dict(command.env), COMMAND_MARKER: mark},
            "stdin": command.stdin,
            "stdout": command.stdout,
            "stderr": command.stderr,
            "log_max_bytes": command.log_max_bytes,
            "memory_max_bytes": self.memory_max_bytes,
            "mark": mark,
            "boxed": box is not None,
            "joined": box.joined if box is not None else {},
            "watched": named(command.services) if shares and command.services is not None else None,
        }


NOT_SHOWN = "the sandbox does not show"
"""Begins the error of a program that is there, and not in its box."""

_UNSEEN = re.compile(r"execvp (.+): (No such file or directory|Permission denied)")


def _no_box(command: Command) -> str:
    try:
        text = read_bounded(Path(command.stderr), 0, _BOX_WORDS_BYTES)
    except OSError:
        text = ""
    lines = [line for line in text.splitlines() if line.startswith("bwrap: ")] or ["bwrap: (no message)"]
    words = lines[-1].removeprefix("bwrap: ")
    unseen = _UNSEEN.fullmatch(words)
    if unseen is None:
        return f"the sandbox could not be made: {words}"
    env = dict(command.env)
    name = str(Path(command.cwd, unseen[1])) if "/" in unseen[1] else unseen[1]
    place = shutil.which(name, path=env.get("PATH", os.defpath))
    if place is None:
        number = errno.EACCES if unseen[2].startswith("Permission") else errno.ENOENT
        return explain({"step": "exec", "name": name, "errno": number, "text": unseen[2]}, command.argv, env)
    folder = Path(place).resolve().parent
    return f'{NOT_SHOWN} {place}, or what it runs with: name its folder, [sandbox] show = ["{folder}"]'


def _sweep(mark: str) -> tuple[int, str]:
    try:
        return sweep(COMMAND_MARKER, mark), ""
    except NofaceError as problem:
        return 0, f"{problem.message}; {problem.hint}"
