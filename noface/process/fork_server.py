"""The fork server: one small process per noface that forks a supervisor for each command.

noface is threaded and must not fork, and starting a Python per command costs 12 ms; a fork of this one costs 1. It gets
the secrets and each supervisor's control socket over its own socket, and ends when noface closes that or dies.
Neither it nor a supervisor shows its memory or environment to programs. It is a subreaper: what a killed supervisor
watched over lands here and is killed.
"""

import gc
import os
import select
import signal
import socket

from noface.process import namespace, process_tree
from noface.process.memory import oom_kills
from noface.process.supervisor import APART, receive, run_supervisor, survive_signals, wake_on_child
from noface.secrets.masking import MaskedStream, Masker


def serve(descriptor: int) -> None:
    """Serve requests from the inherited socket until its other end closes."""
    survive_signals()
    namespace.hide_memory()
    namespaces = namespace.available()
    process_tree.prctl(process_tree.SET_CHILD_SUBREAPER, 1)
    channel = socket.socket(fileno=descriptor)
    channel.set_inheritable(False)
    masker = Masker(receive(channel))
    MaskedStream(masker).feed(b"")  # what keys look like is read once, for all supervisors
    wake, alarm = wake_on_child()
    supervisors: set[int] = set()
    oom_kills()  # whose figures count is found out once
    gc.disable()
    # Objects that no collection touches stay in memory that all supervisors share with this process.
    gc.freeze()
    while True:
        ready, _, _ = select.select([channel.fileno(), wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
            _reap(supervisors)
        if channel.fileno() in ready:
            request, controls, _, _ = socket.recv_fds(channel, 1, 1)
            if not request:
                return
            for control in controls:
                own = (channel.fileno(), wake, alarm)
                _fork_supervisor(control, own, supervisors, masker, namespaces=namespaces, apart=request == APART)


def _fork_supervisor(
    control: int, own: tuple[int, ...], supervisors: set[int], masker: Masker, *, namespaces: bool, apart: bool
) -> None:
    os.set_inheritable(control, False)
    try:
        pid = os.fork()
    except OSError:
        pid = -1
    if pid == 0:
        try:
            signal.set_wakeup_fd(-1)
            for descriptor in own:
                os.close(descriptor)
            run_supervisor(socket.socket(fileno=control), masker, namespaces=namespaces, apart=apart and namespaces)
        finally:
            os._exit(1)
    if pid > 0:
        supervisors.add(pid)
    os.close(control)


def _reap(supervisors: set[int]) -> None:
    strays = False
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            break
        # A supervisor that was killed leaves its program to this process, the next subreaper above it.
        strays = strays or status != 0 or pid not in supervisors
        supervisors.discard(pid)
    if strays:
        process_tree.kill_all(lambda: _strays(supervisors))


def _strays(supervisors: set[int]) -> list[int]:
    roots = [pid for pid in process_tree.children(os.getpid()) if pid not in supervisors]
    return [*roots, *process_tree.below(roots)]
