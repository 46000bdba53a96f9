"""Starting one program in a session of its own, and saying exactly why it could not be started.

Used by supervisors: standard library only, and nothing that is slow to import.
"""

import os
import subprocess
from typing import Any

LOG_MODE = 0o600


class StartError(Exception):
    """The program could not be started; `what` has the step, the name it failed on, and the system's reason.

    The steps are stdin, stdout, stderr, cwd and exec. `errno` is None where Python refused before the system did.
    """

    def __init__(self, step: str, name: str, problem: Exception) -> None:
        super().__init__(step)
        number = problem.errno if isinstance(problem, OSError) else None
        self.what = {"step": step, "name": name, "errno": number, "text": str(problem)}


def open_streams(order: dict[str, Any]) -> list[int]:
    """Descriptors for stdin, stdout and stderr, the logs in append mode. Raises StartError."""
    log = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW  # a worker may have put a link there
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
        raise StartError(step, path, problem) from None
    os.set_blocking(descriptor, True)
    return descriptor


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
        os.chdir("/")
