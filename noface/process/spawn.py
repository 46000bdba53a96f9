"""Spawns supervisors: starts the fork server, tells it the secrets, hands it sockets, replaces it if it dies."""

import errno
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import noface
from noface.errors import NofaceError
from noface.process.supervisor import ANNOUNCEMENT, APART, LENGTH, TOGETHER, Containment

START_ATTEMPTS = 3
ANSWER_TIMEOUT_S = 30.0
FORK_SERVER_END_TIMEOUT_S = 5.0

_START_FORK_SERVER = (
    "import sys; sys.path.append(sys.argv[1]); from noface.process.fork_server import serve; serve(int(sys.argv[2]))"
)
_NEEDED = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""All that the fork server gets of noface's environment: programs may read that of their ancestors."""
ONE_ARGUMENT_BYTES_MAX = 128 * 1024
"""Linux's limit for a single argument or variable (MAX_ARG_STRLEN), which no setting raises."""


class SupervisorLostError(NofaceError):
    """No supervisor could be started, so the command was not either."""


class ForkServer:
    """Owns the fork server; thread-safe. Nothing is started before the first command, or `warm_up`."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._secrets = json.dumps(dict(secrets)).encode()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None

    def warm_up(self) -> None:
        with self._lock:
            self._running_channel()

    def containment(self) -> Containment:
        """Return what contains a supervisor's descendants at best. Raises SupervisorLostError if none starts."""
        ours, theirs = socket.socketpair()
        ours.settimeout(ANSWER_TIMEOUT_S)
        with ours:
            try:
                with theirs:
                    self._hand_over(theirs, TOGETHER)
                _, containment = ANNOUNCEMENT.unpack(ours.recv(ANNOUNCEMENT.size))
            except (OSError, struct.error):
                raise SupervisorLostError("the process that watches over commands could not be started") from None
        return Containment(containment)

    @property
    def fork_server_pid(self) -> int | None:
        with self._lock:
            return self._process.pid if self._process is not None and self._process.poll() is None else None

    def spawn(self, order: dict[str, Any], *, apart: bool) -> tuple[socket.socket, int, Containment]:
        """Give an order to a fresh supervisor; return its control socket, its pid, and what holds its descendants.

        Raise SupervisorLostError after three tries: a supervisor starts nothing before it has the whole order.
        """
        encoded = json.dumps(order).encode()
        for _ in range(START_ATTEMPTS):
            ours, theirs = socket.socketpair()
            ours.settimeout(ANSWER_TIMEOUT_S)
            channel = None
            try:
                with theirs:
                    channel = self._hand_over(theirs, APART if apart else TOGETHER)
                pid, containment = ANNOUNCEMENT.unpack(ours.recv(ANNOUNCEMENT.size))
                ours.sendall(LENGTH.pack(len(encoded)) + encoded)
            except (OSError, struct.error):
                ours.close()
                self._forget(channel)
                continue
            # Ctrl-C, say. The supervisor has no order yet, and ends with the socket.
            except BaseException:
                ours.close()
                raise
            return ours, pid, Containment(containment)
        raise SupervisorLostError(
            "the process that watches over the command could not be started",
            "the machine may be out of processes or memory (see `ulimit -u` and `free`); run noface again then",
        )

    def close(self) -> None:
        with self._lock:
            self._discard()

    def _hand_over(self, control: socket.socket, kind: bytes) -> socket.socket:
        with self._lock:
            channel = self._running_channel()
            try:
                socket.send_fds(channel, [kind], [control.fileno()])
            except OSError:
                self._discard()
                raise
            return channel

    def _forget(self, channel: socket.socket | None) -> None:
        with self._lock:
            if channel is not None and channel is self._channel:
                self._discard()

    def _running_channel(self) -> socket.socket:
        if self._process is not None and self._process.poll() is not None:
            self._discard()
        if self._channel is None:
            ours, theirs = socket.socketpair()
            ours.settimeout(ANSWER_TIMEOUT_S)
            root = str(Path(noface.__file__).parent.parent)
            with theirs:
                self._process = subprocess.Popen(
                    # -I, -S: no variable, no module in the folder and no site-packages may run here.
                    [sys.executable, "-I", "-S", "-X", "utf8", "-c", _START_FORK_SERVER, root, str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env={name: os.environ[name] for name in _NEEDED if name in os.environ},
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            self._channel = ours
            ours.sendall(LENGTH.pack(len(self._secrets)) + self._secrets)
        return self._channel

    def _discard(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._process is not None:
            try:
                self._process.wait(FORK_SERVER_END_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None


def explain(what: dict[str, Any], argv: Sequence[str], env: dict[str, str]) -> str:
    """One sentence for a person, with what to do about it; `what` is a supervisor's report (`StartError.what`)."""
    name, number = what["name"], what["errno"]
    match what["step"]:
        case "exec":
            return _explain_exec(name, number, what["text"], argv, env)
        case "cwd":
            return f"cannot enter the working directory {name}: {_reason(what)}"
        case stream:
            return f"cannot open {name} as {stream}: {_reason(what)}"


def _explain_exec(name: str, number: int | None, text: str, argv: Sequence[str], env: dict[str, str]) -> str:
    path = env.get("PATH", os.defpath)
    place = name if "/" in name else shutil.which(name, path=path)
    program = place or name
    match number:
        case errno.E2BIG:
            size = sum(len(os.fsencode(text)) for text in (*argv, *(key + value for key, value in env.items())))
            problem = f"arguments and environment of {argv[0][:200]} are too long (E2BIG): {size} bytes together; the "
            problem += f"system takes {ONE_ARGUMENT_BYTES_MAX} for one. Pass long texts by file or stdin"
        case errno.ENOENT if place is not None and os.path.lexists(place):
            problem = f"cannot run {place}: the interpreter named in its first line, or a link's target, does not exist"
        case errno.ENOENT | errno.ENOTDIR:
            where = "no such file" if "/" in name else f"not in any folder of PATH={path}"
            problem = f"program not found: {name} ({where})"
        case errno.EACCES:
            problem = f"program not executable: {program} (permission denied; `chmod +x` makes a script executable)"
        case errno.ENOEXEC:
            problem = f"cannot run {program}: it is neither a program nor a script with a #! line"
        case errno.EAGAIN | errno.ENOMEM:
            problem = f"cannot run {program}: {text}; the machine is out of processes or memory"
        case _:
            problem = f"cannot run {program}: {text}"
    return problem


def _reason(what: dict[str, Any]) -> str:
    return str(what["text"]) if what["errno"] is None else os.strerror(what["errno"])
