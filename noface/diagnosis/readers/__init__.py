"""Readers of formats of output: each explains the lines of one runner or kind of tool, and no other rule sees those."""

from collections.abc import Callable

from noface.diagnosis.context import Context
from noface.diagnosis.evidence import Reading
from noface.diagnosis.readers.diagnostics import read_diagnostics
from noface.diagnosis.readers.difference import read_differences
from noface.diagnosis.readers.go import read_go
from noface.diagnosis.readers.missing import read_missing
from noface.diagnosis.readers.python import read_doctest, read_pytest, read_unittest
from noface.diagnosis.readers.tap import read_tap
from noface.diagnosis.readers.tracebacks import read_framed_traces, read_python_traces
from noface.diagnosis.text import Log

READERS: tuple[Callable[[Log, Context], Reading | None], ...] = (
    read_pytest,
    read_unittest,
    read_doctest,
    read_tap,
    read_go,
    read_python_traces,
    read_framed_traces,
    read_diagnostics,
    read_differences,
    read_missing,
)
