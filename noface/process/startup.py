"""Prepares the process before noface imports or prints anything: import path and standard streams.

`python -m` and an empty entry of PYTHONPATH put the current folder in sys.path: a `typer.py` that a worker wrote there
would run as noface. Only what `python -m noface` imports before this runs no module can prevent.

A closed descriptor (`>&-`) is opened on the null device: else the next file that is opened, the database perhaps, gets
its number. Where nobody reads standard output any more (`| head`) the command goes on unseen and ends with its own exit
code: its work is not undone by a reader.
"""

import io
import os
import sys
from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer


def leave_project_out() -> None:
    """Take the current folder, and what PYTHONPATH names of the project around it, out of sys.path."""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    try:
        here = os.getcwd()  # noqa: PTH109 - nothing else may be imported yet
    except OSError:
        return  # the folder is gone: nothing in it can be imported
    own = os.path.abspath(os.path.join(__file__, *[os.pardir] * 3))  # noqa: PTH100, PTH118
    sys.path[:] = trusted(sys.path, named, here, _project(here), own)


def trusted(entries: Sequence[str], named: Sequence[str], here: str, project: str, own: str) -> list[str]:
    """Return those of `entries` that are not `here`, nor among `named` and inside `project`; `own` holds noface."""
    absolute = {path: os.path.realpath(os.path.join(here, path)) for path in (*entries, *named, here)}  # noqa: PTH118
    top = os.path.realpath(project)
    inside = {absolute[path] for path in named if f"{absolute[path]}/".startswith(f"{top}/")} - {own}
    return [entry for entry in entries if absolute[entry] not in {absolute[here], *inside}]


def _project(here: str) -> str:
    folder = here
    while not os.path.lexists(os.path.join(folder, ".git")):  # noqa: PTH118
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            return here
        folder = above
    return folder


class _Output(io.BufferedWriter):
    """Standard output, or the null device once its reader is gone. Nothing is written again after a signal."""

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
        # The descriptor is led elsewhere, not the object: what is still in a buffer goes there without an error.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def prepare_streams() -> None:
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
    return _Output.reader_is_gone
