"""noface as a child process that need not import anything first: a fork of a process that has done so already.

Importing is most of what a short run of noface costs, and the tests have hundreds of those. All else is as with
`python -m noface`: a process of its own with its own standard streams, folder, environment, signals and exit.
What /proc tells of it (command line and first environment) is the server's, so that tests of just that start noface
themselves.
"""

import atexit
import contextlib
import gc
import importlib
import inspect
import json
import os
import pkgutil
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from typing import NoReturn, Self

STATUS = struct.Struct("!i")
SERVER = (sys.executable, "-P", "-I", __file__)


class WarmNoface:
    """Runs noface, from any thread. Close it, to end the server that the first run starts."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._lock = threading.Lock()

    def start(self, args: list[str], cwd: str, env: dict[str, str]) -> "WarmProcess":
        ours, theirs = socket.socketpair()
        out, err = self._order(ours, theirs, {"args": args, "cwd": cwd, "env": env, "errors_in_output": True})
        os.close(err)
        return WarmProcess(ours, out)

    def run(self, args: list[str], cwd: str, env: dict[str, str], timeout: float) -> "subprocess.CompletedProcess[str]":
        """Run noface to its end, and until nobody holds its output; AssertionError where that takes too long."""
        ours, theirs = socket.socketpair()
        with ours:
            out, err = self._order(ours, theirs, {"args": args, "cwd": cwd, "env": env})
            try:
                written = _read_all([out, err], time.monotonic() + timeout)
                ours.settimeout(timeout)
                _pid, status = (_number(ours) for _ in range(2))
            except TimeoutError:
                raise AssertionError(f"noface {args} took longer than {timeout} seconds") from None
            finally:
                os.close(out)
                os.close(err)
        stdout, stderr = (data.decode().replace("\r\n", "\n") for data in written)
        return subprocess.CompletedProcess(["noface", *args], status, stdout, stderr)

    def _order(self, ours: socket.socket, theirs: socket.socket, order: dict[str, object]) -> tuple[int, int]:
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        null = os.open(os.devnull, os.O_RDONLY)
        try:
            socket.send_fds(self._running_server(), [b"."], [null, out_end, err_end, theirs.fileno()])
        finally:
            theirs.close()
            for descriptor in (null, out_end, err_end):
                os.close(descriptor)
        ours.sendall(json.dumps(order).encode())
        ours.shutdown(socket.SHUT_WR)
        return out, err

    def _running_server(self) -> socket.socket:
        with self._lock:
            if self._channel is None:
                self._channel, theirs = socket.socketpair()
                with theirs:
                    self._server = subprocess.Popen(
                        [*SERVER, str(theirs.fileno())],
                        pass_fds=[theirs.fileno()],
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE,  # never read, but as little seekable as what noface will write to
                        stderr=subprocess.PIPE,
                    )
            return self._channel

    def close(self) -> None:
        if self._channel is not None and self._server is not None:
            self._channel.close()
            with self._server:
                pass


class WarmProcess:
    """What a test does with the `subprocess.Popen` of a noface that goes on beside it."""

    def __init__(self, control: socket.socket, out: int) -> None:
        self.stdout = os.fdopen(out, encoding="utf-8")
        self.returncode: int | None = None
        self._control = control
        self.pid = _number(control)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0.000_001)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._control.settimeout(timeout)
            try:
                self.returncode = _number(self._control)
            except TimeoutError:
                raise subprocess.TimeoutExpired("noface", timeout or 0) from None
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """Read to the end of the output; the test's own time limit is the one on that."""
        written = "" if self.stdout.closed else self.stdout.read()
        self.stdout.close()
        self.wait(timeout)
        return written, None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        self.wait()
        self._control.close()


def _number(control: socket.socket) -> int:
    (number,) = STATUS.unpack(control.recv(STATUS.size, socket.MSG_WAITALL))
    return number


def _read_all(descriptors: list[int], deadline: float) -> list[bytes]:
    written = {descriptor: bytearray() for descriptor in descriptors}
    with selectors.DefaultSelector() as waiting:
        for descriptor in descriptors:
            waiting.register(descriptor, selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(max(deadline - time.monotonic(), 0))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                data = os.read(key.fd, 1 << 16)
                written[key.fd] += data
                if not data:
                    waiting.unregister(key.fd)
    return [bytes(data) for data in written.values()]


def serve(channel: socket.socket) -> None:
    """Fork for each request a process that forks noface and tells how it ended. Returns in noface's process."""
    import noface.cli

    for module in pkgutil.walk_packages(noface.__path__, "noface."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    _make_ready()
    gc.collect()
    gc.freeze()
    while True:
        asked, descriptors, _, _ = socket.recv_fds(channel, 1, 4)
        if not asked:
            sys.exit()
        if os.fork() == 0:
            channel.close()
            break
        for descriptor in descriptors:
            os.close(descriptor)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    _watch_over_noface(descriptors[:3], socket.socket(fileno=descriptors[3]))


OF_THE_ENVIRONMENT = ("noface.cli.", "noface.process.")
"""The rooms in which what is found out once is of a process's folder, environment and machine."""


def _make_ready() -> None:
    """Do what noface puts off until it needs it and what each fork would do again: read tables, compile patterns."""
    import git.cmd  # noqa: F401
    import psutil  # noqa: F401

    from noface import data
    from noface.engine.prompt_context import load_templates
    from noface.gates.secrets import keys_of
    from noface.model.patterns import matches_any
    from noface.model.protection import always_protected, default_protected
    from noface.prompts.check import faults

    for path in data.FOLDER.glob("*.toml"):
        data.table(path.stem)
    for name, module in list(sys.modules.items()):
        if not name.startswith("noface.") or name.startswith(OF_THE_ENVIRONMENT):
            continue
        for value in list(vars(module).values()):
            if isinstance(value, data.Patterns):
                value.all()
            elif _is_read_once(value) and value.__module__ == name:
                value()
    keys_of("")
    faults(load_templates(None))
    for patterns in (always_protected(), default_protected(), (*default_protected(), *always_protected())):
        matches_any("", patterns)


def _is_read_once(value: object) -> bool:
    return hasattr(value, "cache_info") and not inspect.signature(value).parameters


def _watch_over_noface(streams: list[int], control: socket.socket) -> None:
    with control.makefile("rb") as orders:
        order = json.loads(orders.read())
    if order.get("errors_in_output"):
        os.dup2(streams[1], streams[2])
    pid = os.fork()
    if pid != 0:
        control.sendall(STATUS.pack(pid))
        for descriptor in streams:  # its output is to end when noface does
            os.close(descriptor)
        _, status = os.waitpid(pid, 0)
        with contextlib.suppress(BrokenPipeError):  # nobody waits for it any more
            control.sendall(STATUS.pack(os.waitstatus_to_exitcode(status)))
        os._exit(0)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
    os.closerange(3, max(*streams, control.detach()) + 1)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    time.tzset()
    sys.argv[:] = ["noface", *order["args"]]


def end_as_python_does(status: object) -> NoReturn:
    """End like the interpreter, but leave alone the thousands of modules' objects that the server had imported.

    To take them apart is most of the cost of a fork that only looks at something: each page would be copied first.
    """
    code = status if isinstance(status, int) else 0 if status is None else 1
    if not isinstance(status, int | None):
        print(status, file=sys.stderr)
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
    from noface.cli.main import main

    try:
        main()
    except SystemExit as ended:
        end_as_python_does(ended.code)
    end_as_python_does(None)
