"""The tables of all tool families, in one place. A new family is one module and one line here."""

from noface.core.classify import (
    beam,
    c_family,
    data_lint,
    environment,
    generic,
    go,
    javascript,
    jvm,
    native,
    perl_shell,
    python,
    ruby_php,
    rust,
    scripting,
)
from noface.core.classify.diagnostics import read_diagnostics
from noface.core.classify.pytest_reader import read_pytest
from noface.core.classify.rules import Level, NameRule, Rule
from noface.core.classify.tap_reader import read_tap
from noface.core.classify.tracebacks import read_framed_traces, read_python_traces
from noface.core.classify.unittest_reader import read_doctest, read_unittest
from noface.core.taxonomy import FailureKind

READERS = (
    read_pytest,
    read_unittest,
    read_doctest,
    read_tap,
    go.read_go,
    read_python_traces,
    read_framed_traces,
    read_diagnostics,
)
RULES: tuple[Rule, ...] = (
    *environment.RULES,
    *python.RULES,
    *javascript.RULES,
    *jvm.RULES,
    *go.RULES,
    *rust.RULES,
    *c_family.RULES,
    *native.RULES,
    *ruby_php.RULES,
    *perl_shell.RULES,
    *beam.RULES,
    *scripting.RULES,
    *data_lint.RULES,
    *generic.RULES,
)
NAME_RULES: tuple[NameRule, ...] = (
    *python.NAMES,
    *javascript.NAMES,
    *jvm.NAMES,
    *go.NAMES,
    *rust.NAMES,
    *c_family.NAMES,
    *native.NAMES,
    *ruby_php.NAMES,
    *perl_shell.NAMES,
    *beam.NAMES,
    *scripting.NAMES,
)
LOOSE_NAME_RULES: tuple[NameRule, ...] = generic.NAMES

NO_TESTS_RULES: tuple[Rule, ...] = tuple(
    rule for rule in RULES if rule.kind is FailureKind.NO_TESTS and rule.level >= Level.DIAGNOSTIC
)
