"""What leads out of a network namespace that bubblewrap has made for a command: named services, the outside.

A process in the namespace listens at the addresses of the services, one outside passes on what connects there; a
program such as pasta gives the namespace the outside, and no way to this machine's loopback. Imports nothing slow.
"""

import ctypes
import fcntl
import os
import re
import select
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

from noface.process.process_tree import libc, prctl

HOLDER = "{holder}"
"""Stands in the command line of what gives the outside for the pid of a process in the namespace."""
_PDEATHSIG, _DUMPABLE = 1, 4
_READY_S_MAX = 5.0
_LOOK_S = 0.002
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_OWNING_USER = 0xB701  # NS_GET_USERNS (ioctl_ns(2))
_FLAGS_OF_INTERFACE, _UP = 0x8913, 1
_BYTES = 1 << 16
_SERVICES_MAX = 64
_CHILD = re.compile(rb'"child-pid": *(\d+)')


def join(info: int, ports: list[int], outside: list[str]) -> set[int]:
    """Lead services at `ports`, and by the command `outside` the outside, into the box that tells of itself at `info`.

    Return the processes that do it; none if there is no box.
    """
    text = b""
    while not _CHILD.search(text) and (part := os.read(info, 4096)):
        text += part
    child = _CHILD.search(text)
    if child is None:
        return set()
    ours, theirs = socket.socketpair()
    holder = os.fork()
    if holder == 0:
        _run(partial(_hold, int(child[1]), ports, theirs, outside=bool(outside)))
    theirs.close()
    processes = {holder}
    ours.settimeout(_READY_S_MAX)
    with ours, suppress(OSError):
        _, listeners, _, _ = socket.recv_fds(ours, 1, _SERVICES_MAX)
        if listeners:
            forwarder = os.fork()
            if forwarder == 0:
                _run(partial(_forward, [socket.socket(fileno=each) for each in listeners]))
            processes.add(forwarder)
            for each in listeners:
                os.close(each)
        if outside:
            command = [word.replace(HOLDER, str(holder)) for word in outside]
            null = subprocess.DEVNULL
            processes.add(subprocess.Popen(command, stdin=null, stdout=null, stderr=null).pid)
            ours.recv(1)  # once there is a way out
    return processes


def _run(work: Callable[[], None]) -> NoReturn:
    try:
        signal.set_wakeup_fd(-1)
        prctl(_PDEATHSIG, signal.SIGKILL)
        work()
    finally:
        os._exit(1)


def _hold(child: int, ports: list[int], channel: socket.socket, *, outside: bool) -> None:
    """Join the namespace of `child`; send back what listens there, then whether there is a way out; stay."""
    network = os.open(f"/proc/{child}/ns/net", os.O_RDONLY)
    user = fcntl.ioctl(network, _OWNING_USER)
    for namespace, kind in ((user, _NEW_USER), (network, _NEW_NETWORK)):
        if libc().setns(namespace, kind) != 0 and namespace == network:
            raise OSError(ctypes.get_errno(), "setns")
    _wait_for(_loopback_is_up)
    listeners = [each for port in ports for each in _listeners(port)]
    socket.send_fds(channel, [b"l"], [each.fileno() for each in listeners])
    if outside:
        prctl(_DUMPABLE, 1)  # else who gives the outside could not follow: what this process holds, the command has
        _wait_for(_way_out)
        channel.send(b"r")
    channel.close()
    while True:
        signal.pause()


def _wait_for(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + _READY_S_MAX
    while not is_so() and time.monotonic() < until:
        time.sleep(_LOOK_S)


def _loopback_is_up() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        answer = fcntl.ioctl(asked, _FLAGS_OF_INTERFACE, struct.pack("16sh22x", b"lo", 0))
    return bool(struct.unpack_from("16sh", answer)[1] & _UP)


def _way_out() -> bool:
    tables = [Path(f"/proc/self/net/{table}") for table in ("route", "ipv6_route")]
    rows = [row.split() for table in tables if table.exists() for row in table.read_text().splitlines()]
    return any((row[:2] == ["0" * 32, "00"] and row[-1] != "lo") or row[1] == "0" * 8 for row in rows)


def _listeners(port: int) -> list[socket.socket]:
    listeners = []
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with suppress(OSError):
            listener = socket.socket(family, socket.SOCK_STREAM)
            listener.bind((host, port))
            listener.listen(128)
            listeners.append(listener)
    return listeners


def _forward(listeners: list[socket.socket]) -> None:
    """Pass on what comes to the listeners in the namespace to the same ports out here; a process for each direction."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    while True:
        for listener in select.select(listeners, [], [])[0]:
            with suppress(OSError):
                inside, _ = listener.accept()
                with inside, socket.create_connection(("localhost", listener.getsockname()[1])) as outside:
                    for one, other in ((inside, outside), (outside, inside)):
                        if os.fork() == 0:
                            _run(partial(_copy, one, other))


def _copy(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(_BYTES):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
