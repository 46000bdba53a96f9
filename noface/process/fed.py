"""Runs a program of the person's own on a text in their home, with a deadline: what it does can hold nobody up."""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL

_OUTPUT_BYTES_MAX = 10_000
_at_work: set[int] = set()


def end_all() -> None:
    """End what is at work in other threads: noface is about to end, and nobody would see to their deadlines."""
    for pid in tuple(_at_work):
        with suppress(ProcessLookupError):
            os.killpg(pid, SIGKILL)


def run_fed(argv: Sequence[str], text: str, seconds_max: float, *, quiet: bool = False) -> tuple[int | None, str]:
    """Run a program with `text` at its standard input; return its exit code, None if it was late, and its output.

    `quiet`: its output goes nowhere. Files in place of pipes: whoever it leaves behind can hold no reader up.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output:
        given.write(text.encode("utf-8", "replace"))
        given.seek(0)
        where = subprocess.DEVNULL if quiet else output
        try:
            process = subprocess.Popen(
                argv, stdin=given, stdout=where, stderr=where, cwd=Path.home(), start_new_session=True
            )
        except OSError as error:
            return 127, error.strerror or str(error)
        _at_work.add(process.pid)
        try:
            code: int | None = process.wait(seconds_max)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, SIGKILL)
            process.wait()
            _at_work.discard(process.pid)
        output.seek(0)
        return code, output.read(_OUTPUT_BYTES_MAX).decode("utf-8", "replace")
