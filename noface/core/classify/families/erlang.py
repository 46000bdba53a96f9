"""Erlang and Gleam: erlc, EUnit, Common Test, rebar3."""

from noface.core.classify.kinds import ENV, NONE, RUNTIME, SYNTAX, TEST, TIME
from noface.core.classify.rules import Level, NameRule, Rule

RULES = (
    Rule(
        "erlang.compile",
        SYNTAX,
        (".erl:", ".hrl:", "Compiling", "===> Compiling"),
        r"^(?:┌─ )?(?P<file>\S+\.[eh]rl):(?P<line>\d+):(?:\d+:)? (?!Warning)(?:syntax error|\S)",
        "src/ledger.erl:10:5: variable 'Amunt' is unbound",
    ),
    Rule(
        "erlang.header",
        ENV,
        ("can't find include lib", "can't find include file"),
        r"can't find include (?:lib|file) \"(?P<dep>[^\"]+)\"",
        'src/ledger.erl:3:14: can\'t find include lib "foo/include/foo.hrl"',
        own_kind=SYNTAX,
    ),
    Rule(
        "eunit.assert",
        TEST,
        ("error:{assert", "{assert", "assertEqual", "**error:{"),
        r"^\s*(?:\*\*error:)?\{(?:assert|assertEqual|assertMatch|assertNotEqual|assertException|assertError|assertCmd)\w*,|^\s*(?:\*\*)?error:\{assert",
        "**error:{assertEqual,[{module,ledger_tests},",
        level=Level.TRACEBACK,
    ),
    Rule(
        "eunit.error",
        RUNTIME,
        ("**error:", "**throw:", "**exit:"),
        r"^\*\*(?:error|throw|exit):(?!\{assert)",
        "**error:undef",
        level=Level.TRACEBACK,
    ),
    Rule(
        "eunit.timeout",
        TIME,
        ("*timed out*", "**timeout"),
        r"^\*timed out\*|\*\*timeout",
        "*timed out*",
        even_in_tests=True,
    ),
    Rule(
        "eunit.none",
        NONE,
        ("There were no tests to run.", "no tests to run"),
        r"^\s*There were no tests to run\.",
        "  There were no tests to run.",
    ),
    Rule(
        "erlang.crash",
        RUNTIME,
        ("init terminating in do_boot", "Runtime terminating during boot", "exception error:", "escript: exception"),
        r"init terminating in do_boot|Runtime terminating during boot|exception (?:error|exit|throw): ",
        "escript: exception error: bad argument",
        level=Level.TRACEBACK,
    ),
    Rule(
        "erlang.escript",
        ENV,
        ("escript: Failed to open file",),
        r"^escript: Failed to open file",
        "escript: Failed to open file: test.escript",
    ),
    Rule(
        "rebar.dependency",
        ENV,
        ("===> Failed to fetch", "===> Package not found", "===> Command ", "===> Unable to"),
        r"^===> (?:Failed to (?:fetch|update)|Package not found|Command \S+ not found|Unable to run)",
        "===> Package not found in any repo: jsx",
    ),
    Rule(
        "rebar.config",
        SYNTAX,
        ("===> Error reading file", "rebar.config"),
        r"^===> Error reading file .*rebar\.config",
        "===> Error reading file rebar.config: 3: syntax error before: ','",
    ),
    Rule(
        "common-test.failed",
        TEST,
        ("FAILED 1", "%%% "),
        r"^%%% \w+ ==> \w+: FAILED",
        "%%% ledger_SUITE ==> totals: FAILED",
        level=Level.TRACEBACK,
    ),
    Rule(
        "gleam.error",
        SYNTAX,
        ("error: ",),
        r"^error: (?:Unknown|Type mismatch|Syntax error|Incorrect)",
        "error: Type mismatch",
        tools=("gleam", "gleam test", "gleam build"),
    ),
)

NAMES = (
    NameRule(
        "eunit.failed",
        ("*failed*",),
        r"^\s*(?:[\w@]+: )?(?P<test>[\w@]+)(?:/\d+)?(?: \(.*?\))?\.{3}(?:\[.*\] ?)?\*failed\*",
        "ledger_tests: total_test...*failed*",
    ),
    NameRule(
        "common-test.case",
        ("==> ",),
        r"^%%% (?P<suite>\w+) ==> (?P<test>\w+): FAILED",
        "%%% ledger_SUITE ==> totals: FAILED",
        join="{suite}.{test}",
    ),
)
