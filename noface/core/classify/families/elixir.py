"""Elixir: mix, ExUnit, Credo, Dialyzer."""

# ruff: noqa: E501 - a pattern, and a line of real output, is kept in one piece

from noface.core.classify.kinds import ENV, LINT, NONE, RUNTIME, SYNTAX, TEST, TIME
from noface.core.classify.rules import Level, NameRule, Rule

RULES = (
    Rule(
        "elixir.error",
        RUNTIME,
        ("** (",),
        r"^\s*\*\* \((?P<exc>(?!Mix|EXIT)[\w.]+)\) ?(?:(?P<file>[\w./-]+\.exs?):(?P<line>\d+):(?:\d+:)? )?(?P<msg>.*)$",
        '     ** (MatchError) no match of right hand side value: ["rent", "900"]',
        level=Level.TRACEBACK,
    ),
    Rule(
        "elixir.compile",
        SYNTAX,
        (
            "== Compilation error in file",
            "** (CompileError)",
            "** (SyntaxError)",
            "** (TokenMissingError)",
            "** (MismatchedDelimiterError)",
        ),
        r"^== Compilation error in file (?P<file>\S+) ==|^\*\* \((?:CompileError|SyntaxError|TokenMissingError|MismatchedDelimiterError)\) ?(?:(?P<file2>[\w./-]+\.exs?):\d+)?",
        "== Compilation error in file lib/ledger.ex ==",
        level=Level.TRACEBACK,
        even_in_tests=True,
    ),
    Rule(
        "elixir.error-diagnostic",
        SYNTAX,
        ("error: ",),
        r"^\s*error: (?:undefined|syntax|cannot|module|the module|unexpected|missing)",
        '    error: undefined variable "amunt"',
        tools=("mix", "mix test", "mix compile", "elixir", "elixirc"),
    ),
    Rule(
        "exunit.assert",
        TEST,
        (
            "Assertion with",
            "Expected truthy",
            "Expected false",
            "Expected exception",
            "assert_receive",
            "Assertion failed",
            "match (=) failed",
            "Expected exception",
        ),
        r"^     (?:Assertion with|Expected (?:truthy|false or nil|exception)|Assertion failed|match \(=\) failed|.*assert_receive)",
        "     Assertion with == failed",
        level=Level.TRACEBACK,
    ),
    Rule(
        "exunit.timeout",
        TIME,
        ("ExUnit.TimeoutError",),
        r"^\s*\*\* \(ExUnit\.TimeoutError\)",
        "     ** (ExUnit.TimeoutError) test timed out after 1500ms.",
        even_in_tests=True,
    ),
    Rule(
        "mix.warnings",
        LINT,
        ("due to warnings while using the --warnings-as-errors",),
        r"ompilation failed due to warnings|aborted after successful (?:compilation|execution) due to warnings",
        "Compilation failed due to warnings while using the --warnings-as-errors option",
    ),
    Rule(
        "elixir.warning",
        LINT,
        ("warning: ",),
        r"^\s*warning: (?!variable \".*\" does not exist)",
        'warning: variable "unused" is unused (if the variable is not meant to be used, prefix it with an underscore)',
        tools=("mix compile",),
    ),
    Rule(
        "mix.format",
        LINT,
        ("mix format failed", "The following files are not formatted"),
        r"\(Mix\) mix format failed|^The following files are not formatted",
        "** (Mix) mix format failed due to --check-formatted.",
    ),
    Rule(
        "mix.dependency",
        ENV,
        (
            "the dependency is not available",
            "Could not find Hex",
            "Unchecked dependencies",
            "Can't continue due to errors on dependencies",
            "Could not find an SCM",
            "the task",
            "The task",
            "Could not find a Mix.Project",
            "could not find Mix",
        ),
        r"the dependency is not available|Could not find Hex|Unchecked dependencies|Can't continue due to errors on dependencies|\(Mix\) (?:The task|Could not find|Paths given)",
        "Unchecked dependencies for environment test:",
    ),
    Rule(
        "mix.module-missing",
        ENV,
        ("is not loaded and could not be found", "is not available"),
        r"module (?P<dep>[\w.]+) is not loaded and could not be found",
        "** (CompileError) lib/x.ex:2: module Jason is not loaded and could not be found",
        own_kind=SYNTAX,
    ),
    Rule(
        "mix.no-files",
        NONE,
        ("There are no tests to run", "no test was executed", "All tests have been excluded"),
        r"^There are no tests to run|no test was executed|^All tests have been excluded",
        "All tests have been excluded.",
    ),
    Rule(
        "credo.finding",
        LINT,
        ("found ", "[R]", "[W]", "[C]", "[D]", "[F]"),
        r"^\[[RWCDF]\] [→↗↑↘↓] (?P<file>\S+?):(?P<line>\d+)|^┃ ",
        "[R] → lib/ledger.ex:3:5 Modules should have a @moduledoc tag.",
    ),
    Rule(
        "dialyzer.finding",
        LINT,
        ("Dialyzer", "done (warnings were emitted)", "has no local return"),
        r"done \(warnings were emitted\)|has no local return|^(?P<file>\S+\.ex):(?P<line>\d+):\w+",
        "done (warnings were emitted)",
        tools=("dialyzer", "mix dialyzer"),
    ),
)

NAMES = (
    NameRule(
        "exunit.numbered",
        (") test ", ") property ", ") doctest "),
        r"^  \d+\) (?:test|property|feature) (?P<test>.+?) \((?P<suite>[\w.]+)\)$|^  \d+\) (?P<doctest>doctest .*)$",
        "  1) test totals entries (LedgerTest)",
    ),
)
