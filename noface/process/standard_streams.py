"""Makes the three standard streams fit to be written to, whatever the process was started with.

A closed descriptor (`>&-`) is opened on the null device: else the next file that is opened, the database perhaps, gets
its number, and what a program prints goes there. What an encoding lacks is replaced. Where nobody reads standard output
any more (`| head`) the command goes on unseen and ends with its own exit code: its work is not undone by a reader.
"""

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer


class _Output(io.BufferedWriter):
    """Standard output, or the null device once its reader is gone.

    Below it stands the C implementation: what was written is counted, and not written again after a signal.
    """

    reader_is_gone = False

    def write(self, data: "Buffer", /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            self._forget()
            return super().write(data)

    def flush(self) -> None:
        try:
            super().flush()
        except BrokenPipeError:
            self._forget()
            super().flush()

    def _forget(self) -> None:
        _Output.reader_is_gone = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def prepare() -> None:
    """Prepare standard input, output and error; called once, before anything is opened or printed."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number: this one
            os.set_inheritable(number, True)
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - it lives as long as the process
    if sys.stderr is None:
        sys.stderr = open(2, "w", errors="backslashreplace", closefd=False)  # noqa: SIM115
    before = sys.stdout
    encoding = before.encoding if before is not None else "utf-8"
    raw = io.FileIO(1, "w", closefd=False)
    sys.stdout = io.TextIOWrapper(_Output(raw), encoding, "replace", line_buffering=raw.isatty())


def reader_is_gone() -> bool:
    """Tell whether whoever read standard output has stopped: what only prints may end."""
    return _Output.reader_is_gone
