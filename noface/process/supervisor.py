"""A supervisor: the small process that watches over one command, so that nothing of it outlives it (law 6).

A supervisor is a subreaper: whatever its program starts stays its descendant, also daemons and sessions of their own
(agents start their tools in such). When the program has ended it kills what is left, and only then reports. When
its control socket closes, because noface died, it kills everything at once.

The supervisor announces itself (ANNOUNCEMENT: its pid, and a `Containment`). It reads one order (4 bytes of length,
then JSON: argv, cwd, env, stdin, stdout, stderr, log_max_bytes, memory_max_bytes, mark, boxed, joined, watched) and
then JSON lines {"stop": {int_s, term_s}}. It sends JSON lines: {"failed": <StartError.what>}, or {"started": pid} and
at last {"exited": {code, signal, survivors, output_limit, unwritten, out_of_memory, boxed, at_work, cpu_s, met}}.

What a program prints comes through pipes to the supervisor, which masks it (I12) and writes it to the logs, up to
log_max_bytes. When noface is killed, the logs still get all that the program had printed.

A `boxed` program is bubblewrap with the command inside. It makes the PID namespace itself, and reports in a file of its
own whether the command was run at all. What is `joined` to its own network is there before the command begins. Of a
command that shares the machine's network, connects to servers that are not its own are noted, if it is `watched`.
Otherwise the supervisor first becomes process 1 of a PID namespace, if it is asked to and the system has them.

Standard library only, and nothing that is slow to import.
"""

import contextlib
import json
import os
import re
import resource
import select
import signal
import socket
import stat
import struct
import subprocess
import time
from enum import IntEnum
from pathlib import Path
from typing import Any, NoReturn

from noface.process import namespace, own_network, process_tree
from noface.process.connections import ConnectWatch, watching
from noface.process.memory import MemoryWatch
from noface.process.output import Output, StartError, open_streams
from noface.secrets.masking import Masker

ANNOUNCEMENT = struct.Struct("!IB")
APART, TOGETHER = b"n", b"k"
"""What asks the fork server for a supervisor: in a PID namespace of its own, if the system has them, or not."""
LENGTH = struct.Struct("!I")
KILL_POLL_S = 0.02
BOX_STATUS = "{box-status}"
"""Stands in a boxed command line for the descriptor that bubblewrap writes its status to."""
BOX_INFO, BOX_GATE = "{box-info}", "{box-gate}"
"""Stand there for the pipe in which it tells of its processes, and for the one that it waits at, once it is made."""
BOX_RAN = b'"exit-code"'
"""Bubblewrap (0.8.0) writes this only about a command that it could run."""
BOX_INIT = re.compile(rb'"child-pid": *(\d+)')
"""Bubblewrap's own process 1 in the box, which may outlive bubblewrap for a moment: no process of the program's."""
BOX_FAILED = 1
"""Bubblewrap's exit code if it could not make the box, or not run the command in it."""
BOX_STATUS_BYTES_MAX = 4096
SURVIVED_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE)
_SHELL_SIGNAL_BASE = 128
_SIGKILL_CODES = frozenset((-signal.SIGKILL, _SHELL_SIGNAL_BASE + signal.SIGKILL))
"""How a program ends that was killed so, and a shell whose last command was."""
_SIGNALS_AS_EXIT_CODE = frozenset((
    signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE,
    signal.SIGKILL, signal.SIGSEGV, signal.SIGPIPE, signal.SIGTERM,
))  # fmt: skip


def start(order: dict[str, Any], streams: list[int], passed: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
    """Start the program with the descriptors `passed`, and return once its exec has succeeded. Raises StartError.

    Popen uses vfork, at a third of the cost of a fork. Nothing of it but `pid` may be used: the supervisor reaps all
    its children itself.
    """
    # Popen's own `cwd` would leave open whether the folder or the program is missing.
    try:
        os.chdir(order["cwd"])
    except (OSError, ValueError) as problem:
        raise StartError("cwd", order["cwd"], problem) from None
    stdin, stdout, stderr = streams
    try:
        return subprocess.Popen(
            order["argv"],
            env=order["env"],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            close_fds=True,
            pass_fds=passed,
            restore_signals=True,
            start_new_session=True,
        )
    except (OSError, ValueError) as problem:
        raise StartError("exec", order["argv"][0], problem) from None
    finally:
        # A supervisor that stayed in the workspace would keep a file system there from being unmounted.
        os.chdir("/")


class Containment(IntEnum):
    """What keeps a program's descendants from outliving it, weakest first."""

    GROUP = 0
    """Only its process group can be reached, as on macOS; others are found by their environment."""
    SUBREAPER = 1
    """All descendants become the supervisor's children, as long as that lives."""
    NAMESPACE = 2
    """The kernel ends them with the supervisor, which they can neither see nor signal."""


def survive_signals() -> None:
    """Survive the signals that a terminal, or a stray kill, may send, and give programs the default for every signal.

    Handlers, not SIG_IGN: an exec resets handlers, but passes on what is ignored. For the same reason whatever
    noface was started with is set to the default: a background shell, for one, ignores SIGINT.
    """
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    for number in SURVIVED_SIGNALS:
        signal.signal(number, lambda _number, _frame: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def wake_on_child() -> tuple[int, int]:
    """Make a pipe whose first end is readable whenever a child ended; the second is the signal handler's."""
    wake, alarm = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(alarm, False)
    signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    return wake, alarm


class Supervisor:
    """One program and all that descends from it."""

    def __init__(
        self,
        control: socket.socket,
        wake: int,
        pid: int,
        output: Output,
        *,
        contained: bool,
        box: int | None = None,
        helpers: frozenset[int] = frozenset(),
        connections: ConnectWatch | None = None,
    ) -> None:
        self._control = control
        self._wake = wake
        self._contained = contained
        self._box = box
        self._helpers = helpers
        self._connections = connections
        self._pid = pid
        self._output = output
        self._inbox = b""
        self._status: int | None = None
        self._ladder: list[tuple[int, float]] | None = None
        self._next_rung = 0.0
        self._killed: set[int] = set()
        self._left: set[int] = set()
        self._at_work: dict[str, Any] | None = None
        self._abandoned = False

    def watch(self) -> dict[str, Any] | None:
        """Stay until nothing of the program is left; return the report, None if nobody is there to receive it."""
        while self._reap():
            wait = self._act(time.monotonic())
            listen = [self._wake, *self._output.pipes, *([] if self._abandoned else [self._control.fileno()])]
            if self._connections is not None:
                listen.append(self._connections.descriptor)
            ready, _, _ = select.select(listen, [], [], wait)
            if self._connections is not None and self._connections.descriptor in ready:
                self._connections.answer()
            if self._wake in ready:
                os.read(self._wake, 4096)
            if self._control.fileno() in ready:
                self._receive()
            for pipe in self._output.pipes:
                if pipe in ready:
                    self._output.copy(pipe)
        self._output.finish()
        exceeded = self._output.exceeded
        if self._abandoned or self._status is None:
            return None
        code = os.waitstatus_to_exitcode(self._status)
        boxed = self._box is None or code != BOX_FAILED or exceeded or BOX_RAN in self._box_status()
        boxed = boxed or bool(self._killed - self._box_init())  # its own process 1 may outlive a box that failed
        number = code - _SHELL_SIGNAL_BASE  # bubblewrap reports a death by signal N as exit code 128 + N
        code = -number if self._box is not None and number in _SIGNALS_AS_EXIT_CODE else code
        used = resource.getrusage(resource.RUSAGE_CHILDREN)  # of what has been reaped, here and by the program itself
        return {
            "code": code if code >= 0 else None,
            "signal": -code if code < 0 else None,
            "survivors": len(self._left),
            "output_limit": exceeded,
            "unwritten": self._output.error,
            "boxed": boxed,
            "at_work": self._at_work,
            "cpu_s": used.ru_utime + used.ru_stime,
            "met": self._connections.foreign if self._connections is not None else {},
        }

    def _box_init(self) -> set[int]:
        return {int(match[1]) for match in BOX_INIT.finditer(self._box_status())}

    def _box_status(self) -> bytes:
        # pread: bubblewrap has the same open file, and a read would move the place at which it goes on writing.
        return os.pread(self._box, BOX_STATUS_BYTES_MAX, 0) if self._box is not None else b""

    def _kill(self) -> None:
        """Kill all that is left. What the program had started is left behind only if it ended by itself."""
        helping = {*self._helpers, *process_tree.below([*self._helpers])}
        killed = process_tree.kill_all(lambda: process_tree.below([os.getpid()]))
        self._killed |= killed
        if self._status is not None and self._ladder is None and not self._output.exceeded:
            self._left |= killed - {self._pid} - self._box_init() - helping

    def _below(self) -> list[int]:
        helping = {*self._helpers, *process_tree.below([*self._helpers])}
        return [pid for pid in process_tree.below([os.getpid()]) if pid not in helping]

    def _reap(self) -> bool:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self._pid:
                self._status = status
                if not self._contained:
                    process_tree.send_group_signal(pid, signal.SIGKILL)
            elif os.WIFEXITED(status):
                # It had ended before it was killed. (A parent may reap a killed one before it freezes itself, so
                # what comes by here cannot be counted.)
                self._killed.discard(pid)
                self._left.discard(pid)

    def _act(self, now: float) -> float | None:
        """Send what is due, and say for how many seconds at most to wait then; None if nothing is due."""
        climbed = self._ladder is not None and not self._ladder and now >= self._next_rung
        if self._status is not None or self._output.exceeded or self._abandoned or climbed:
            self._kill()
            if self._status is None:
                process_tree.send_group_signal(self._pid, signal.SIGKILL)
            return KILL_POLL_S
        if self._ladder and now >= self._next_rung:
            number, patience = self._ladder.pop(0)
            self._next_rung = now + patience
            self._signal(number)
        return max(0.0, self._next_rung - now) if self._ladder is not None else None

    def _signal(self, number: int) -> None:
        # Bubblewrap itself must live on: it takes what is inside with it.
        if self._box is None:
            process_tree.send_group_signal(self._pid, number)
        for pid in self._below():
            try:
                group = os.getpgid(pid)
            except OSError:
                continue
            # Its own group has had the signal above, and would take a second one for a second Ctrl-C; in a box that
            # group is bubblewrap's.
            if group != self._pid:
                process_tree.send_signal(pid, number)

    def _receive(self) -> None:
        try:
            data = self._control.recv(65536)
        except OSError:
            data = b""
        # Its end, too: noface is dead, or has let go. Nobody will read a report, so all that is left to do is to kill.
        self._abandoned = not data
        *lines, self._inbox = (self._inbox + data).split(b"\n")
        for line in lines:
            stop = json.loads(line)["stop"]
            if self._ladder is None:
                self._at_work = process_tree.at_work(self._below())
            rungs = ((signal.SIGINT, stop["int_s"]), (signal.SIGTERM, stop["term_s"]))  # SIGKILL follows by itself
            self._ladder = [(number, wait) for number, wait in rungs if wait > 0]
            self._next_rung = 0.0


def send(control: socket.socket, **message: object) -> None:
    try:
        control.sendall(json.dumps(message).encode() + b"\n")
    except OSError:
        return


def receive(channel: socket.socket) -> dict[str, Any]:
    """Receive a document: 4 bytes of length, then JSON. Ends the process if its sender is gone."""

    def exactly(size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = channel.recv(min(size - len(parts), 1 << 20))
            if not part:
                os._exit(0)
            parts += part
        return bytes(parts)

    (size,) = LENGTH.unpack(exactly(LENGTH.size))
    document: dict[str, Any] = json.loads(exactly(size))
    return document


def run_supervisor(control: socket.socket, masker: Masker, *, namespaces: bool, apart: bool) -> NoReturn:
    """Run a supervisor from start to end in the process forked for it.

    `namespaces`: PID namespaces can be made. `apart`: this one goes on in one of its own.
    """
    # By its session `process_tree.started_by` tells the supervisor from its program.
    os.setsid()
    contained = process_tree.prctl(process_tree.SET_CHILD_SUBREAPER, 1)
    best = Containment.NAMESPACE if namespaces else Containment.SUBREAPER if contained else Containment.GROUP
    control.sendall(ANNOUNCEMENT.pack(os.getpid(), best))
    if apart:  # before the order is read: what this process touches is copied for the one that goes on
        namespace.become_init(control.fileno())
    order = receive(control)
    wake, _ = wake_on_child()
    box = _box_status(order) if order["boxed"] else None
    watched, argv = order["watched"], order["argv"]
    connections = _watching(watched, argv[0], boxed=order["boxed"]) if watched is not None else None
    joint = _Joint(argv) if order["joined"] else None
    memory = MemoryWatch(order["mark"], order["memory_max_bytes"])
    try:
        stdin, *logs = open_streams(order)
        output = Output(logs, masker, order["log_max_bytes"])
        streams = [stdin, output.theirs[0], output.theirs[-1]]
        with memory.bounded():
            program = start(order, streams, (*(() if box is None else (box,)), *(joint.theirs if joint else ())))
        for descriptor in output.theirs:  # left to the program, so that its own end is seen
            os.close(descriptor)
    except StartError as problem:
        memory.close()
        send(control, failed=problem.what)
        os._exit(0)
    send(control, started=program.pid)
    helpers = joint.join(**order["joined"]) if joint is not None else frozenset()
    del order
    report = Supervisor(
        control,
        wake,
        program.pid,
        output,
        contained=contained,
        box=box,
        helpers=frozenset(helpers),
        connections=connections,
    ).watch()
    if report is not None:
        killed = _SIGKILL_CODES & {report["code"], report["signal"] and -report["signal"]}
        send(control, exited={**report, "out_of_memory": memory.out_of_memory() if killed else ""})
    memory.close()
    os._exit(0)


def _box_status(order: dict[str, Any]) -> int:
    status = os.memfd_create("box-status")
    order["argv"] = [str(status) if argument == BOX_STATUS else argument for argument in order["argv"]]
    return status


def _watching(services: list[str], program: str, *, boxed: bool) -> ConnectWatch | None:
    """Have the command's connects noted; a bubblewrap that is setuid needs the rights that this may cost a box."""
    setuid = boxed and Path(program).stat().st_mode & stat.S_ISUID
    return watching(services, boxed=boxed and not setuid)


class _Joint:
    """The two pipes by which a box tells that it is made, and waits for what is joined to its network."""

    def __init__(self, argv: list[str]) -> None:
        self._info, info = os.pipe()
        waits, self._gate = os.pipe()
        self.theirs = (info, waits)
        named = {BOX_INFO: str(info), BOX_GATE: str(waits)}
        argv[:] = [named.get(argument, argument) for argument in argv]

    def join(self, ports: list[int], outside: list[str]) -> set[int]:
        """Join it, and have the command begin; return the processes that were needed for it."""
        for descriptor in self.theirs:
            os.close(descriptor)
        helpers = own_network.join(self._info, ports, outside)
        os.close(self._info)
        with contextlib.suppress(OSError):
            os.write(self._gate, b"!")
        os.close(self._gate)
        return helpers
