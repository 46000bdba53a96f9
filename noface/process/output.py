"""What a program prints: its logs, and the pipes through which it gets there, without secrets and up to a limit.

Used by supervisors: standard library only, and nothing that is slow to import.
"""

import contextlib
import fcntl
import os
from typing import Any

from noface.secrets.masking import MaskedStream, Masker

LOG_MODE = 0o600
PIPE_BYTES = 1 << 18


class StartError(Exception):
    """The program could not be started; `what` has the step, the name it failed on, and the system's errno, or None."""

    def __init__(self, step: str, name: str, problem: Exception) -> None:
        super().__init__(step)
        number = problem.errno if isinstance(problem, OSError) else None
        self.what = {"step": step, "name": name, "errno": number, "text": str(problem)}


def open_streams(order: dict[str, Any]) -> list[int]:
    log = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW  # a worker may have put a link there
    streams = [_open("stdin", order["stdin"] or os.devnull, os.O_RDONLY)]
    streams.append(_open("stdout", order["stdout"], log))
    if order["stderr"] != order["stdout"]:
        streams.append(_open("stderr", order["stderr"], log))
    return streams


def _open(step: str, path: str, flags: int) -> int:
    # Without O_NONBLOCK a FIFO in the file's place would be waited on for ever.
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY, LOG_MODE)
    except (OSError, ValueError) as problem:
        raise StartError(step, path, problem) from None
    os.set_blocking(descriptor, True)
    return descriptor


class Output:
    """What a program prints: read from its pipes, masked and written to its logs, together up to a limit.

    What comes beyond the limit, and what cannot be written, is read all the same, so that the program never waits.
    """

    def __init__(self, logs: list[int], masker: Masker, limit_bytes: int) -> None:
        self._streams: dict[int, tuple[int, MaskedStream]] = {}
        self.theirs: list[int] = []
        for log in logs:
            ours, theirs = os.pipe()
            with contextlib.suppress(OSError):  # the person may have no more memory for pipes
                fcntl.fcntl(ours, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            os.set_blocking(ours, False)
            self._streams[ours] = (log, MaskedStream(masker))
            self.theirs.append(theirs)
        self._left = limit_bytes
        self.exceeded = False
        self.error = ""

    @property
    def pipes(self) -> list[int]:
        return list(self._streams)

    def copy(self, pipe: int) -> bool:
        """Write down what a pipe holds; False if that is nothing now."""
        log, stream = self._streams[pipe]
        try:
            data = os.read(pipe, PIPE_BYTES)
        except BlockingIOError:
            return False
        self.exceeded = self.exceeded or len(data) > self._left
        kept = data[: self._left]
        self._left -= len(kept)
        self._write(log, stream.feed(kept) if kept else b"" if data else stream.finish())
        if not data:
            del self._streams[pipe]
            os.close(pipe)
        return bool(data)

    def finish(self) -> None:
        for pipe, (log, stream) in list(self._streams.items()):
            while self.copy(pipe):
                pass
            self._write(log, stream.finish())

    def _write(self, log: int, data: bytes) -> None:
        try:
            while data and not self.error:
                data = data[os.write(log, data) :]
        except OSError as problem:
            self.error = os.strerror(problem.errno or 0)
