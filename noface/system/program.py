"""Starting one program in a session of its own, and saying exactly why it could not be started.

Used by keepers: standard library only, and nothing that is slow to import.
"""

import json
import os
import signal
import warnings  # noqa: F401  # execvpe imports it: better once here than in every child
from typing import Any, NoReturn

from noface.system.proctree import SET_PDEATHSIG, prctl

LOG_MODE = 0o600


class StartError(Exception):
    """The program could not be started; `what` has the step, the name it failed on, and the system's reason."""

    def __init__(self, what: dict[str, Any]) -> None:
        super().__init__(what["step"])
        self.what = what


def trouble(step: str, name: str, problem: Exception) -> dict[str, Any]:
    """What a StartError says: step (fork, stdin, stdout, stderr, session, cwd, exec), name, errno or None, text."""
    number = problem.errno if isinstance(problem, OSError) else None
    return {"step": step, "name": name, "errno": number, "text": str(problem)}


def open_streams(order: dict[str, Any]) -> list[int]:
    """Descriptors for stdin, stdout and stderr, the logs in append mode. Raises StartError."""
    log = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    streams = [_open("stdin", order["stdin"] or os.devnull, os.O_RDONLY)]
    streams.append(_open("stdout", order["stdout"], log))
    same = order["stderr"] == order["stdout"]
    streams.append(streams[1] if same else _open("stderr", order["stderr"], log))
    return streams


def _open(step: str, path: str, flags: int) -> int:
    # Without O_NONBLOCK a FIFO in the file's place would be waited on for ever.
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY, LOG_MODE)
    except (OSError, ValueError) as problem:
        raise StartError(trouble(step, path, problem)) from None
    os.set_blocking(descriptor, True)
    return descriptor


def start(order: dict[str, Any], streams: list[int]) -> int:
    """Fork the program and return its pid once its exec has succeeded. Raises StartError.

    The pipe between the two closes by the exec itself, so nothing is guessed from an exit code of 127.
    """
    keeper = os.getpid()
    report, tell = os.pipe()
    try:
        pid = os.fork()
    except OSError as problem:
        raise StartError(trouble("fork", order["argv"][0], problem)) from None
    if pid == 0:
        _become(order, streams, tell, keeper)
    os.close(tell)
    with os.fdopen(report, "rb") as answer:
        said = answer.read()
    if said:
        os.waitpid(pid, 0)
        raise StartError(json.loads(said))
    return pid


def _become(order: dict[str, Any], streams: list[int], tell: int, keeper: int) -> NoReturn:
    step, name = "session", ""
    try:
        os.setsid()
        # If someone kills the keeper, its program at least goes with it; the rest is the zygote's or a sweep's.
        if prctl(SET_PDEATHSIG, signal.SIGKILL) and os.getppid() != keeper:
            os._exit(127)
        # A program started by a background shell would otherwise ignore SIGINT, as noface's ancestors may.
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        step, name = "cwd", order["cwd"]
        os.chdir(name)
        for target, descriptor in enumerate(streams):
            os.dup2(descriptor, target)
        step, name = "exec", order["argv"][0]
        os.execvpe(name, order["argv"], order["env"])  # noqa: S606  # no shell is wanted
    except (OSError, ValueError) as problem:
        os.write(tell, json.dumps(trouble(step, name, problem)).encode())
    finally:
        os._exit(127)
