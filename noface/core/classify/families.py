"""The tables of all tool families, in one place. A new family is one module and one line here."""

from noface.core.classify import environment
from noface.core.classify.diagnostics import read_diagnostics
from noface.core.classify.pytest_reader import read_pytest
from noface.core.classify.rules import NameRule, Rule
from noface.core.classify.tracebacks import read_framed_traces, read_python_traces

READERS = (read_pytest, read_python_traces, read_framed_traces, read_diagnostics)
RULES: tuple[Rule, ...] = (*environment.RULES,)
NAME_RULES: tuple[NameRule, ...] = ()
