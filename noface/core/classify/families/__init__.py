"""The tables of all tool families, in one place. A new family is one module and one line here."""

from noface.core.classify.families import (
    build_tools,
    c_build,
    c_test,
    classic,
    cpp_test,
    data_lint,
    dotnet,
    elixir,
    erlang,
    functional,
    generic,
    go,
    javascript,
    javascript_lint,
    javascript_tap,
    javascript_test,
    jvm_build,
    jvm_test,
    lua_tcl,
    modern,
    packages,
    perl,
    php,
    python_lint,
    python_runners,
    python_test,
    python_types,
    query,
    ruby,
    rust,
    science,
    services,
    shell,
    symbolic,
    system,
)
from noface.core.classify.rules import Level, NameRule, Rule
from noface.core.taxonomy import FailureKind

_FAMILIES = (
    system,
    services,
    build_tools,
    packages,
    python_test,
    python_runners,
    python_lint,
    python_types,
    javascript,
    javascript_test,
    javascript_tap,
    javascript_lint,
    jvm_build,
    jvm_test,
    go,
    rust,
    c_build,
    c_test,
    cpp_test,
    dotnet,
    classic,
    modern,
    functional,
    ruby,
    php,
    perl,
    shell,
    elixir,
    erlang,
    lua_tcl,
    science,
    symbolic,
    query,
    data_lint,
    generic,
)

RULES: tuple[Rule, ...] = tuple(rule for family in _FAMILIES for rule in family.RULES)
NAME_RULES: tuple[NameRule, ...] = tuple(
    rule for family in _FAMILIES if family is not generic for rule in getattr(family, "NAMES", ())
)
LOOSE_NAME_RULES: tuple[NameRule, ...] = generic.NAMES
NO_TESTS_RULES: tuple[Rule, ...] = tuple(
    rule for rule in RULES if rule.kind is FailureKind.NO_TESTS and rule.level >= Level.DIAGNOSTIC
)
