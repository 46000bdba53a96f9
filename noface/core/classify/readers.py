"""Every reader of a whole format, in the order they are asked."""

from collections.abc import Callable

from noface.core.classify.context import Context
from noface.core.classify.diagnostics import read_diagnostics
from noface.core.classify.go_reader import read_go
from noface.core.classify.pytest_reader import read_pytest
from noface.core.classify.rules import Reading
from noface.core.classify.tap_reader import read_tap
from noface.core.classify.text import Log
from noface.core.classify.tracebacks import read_framed_traces, read_python_traces
from noface.core.classify.unittest_reader import read_doctest, read_unittest

READERS: tuple[Callable[[Log, Context], Reading | None], ...] = (
    read_pytest,
    read_unittest,
    read_doctest,
    read_tap,
    read_go,
    read_python_traces,
    read_framed_traces,
    read_diagnostics,
)
