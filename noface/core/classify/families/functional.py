"""Haskell and OCaml."""

# ruff: noqa: E501 - a pattern, and a line of real output, is kept in one piece

from noface.core.classify.kinds import ENV, RUNTIME, SYNTAX, TEST
from noface.core.classify.rules import Level, NameRule, Rule

RULES = (
    Rule(
        "haskell.module",
        ENV,
        ("Could not find module", "Could not load module"),
        r"Could not (?:find|load) module [‘'`](?P<dep>[\w.]+)['’]",
        "    Could not find module ‘Data.Aeson’",
        own_kind=SYNTAX,
    ),
    Rule(
        "haskell.package",
        ENV,
        (
            "Could not resolve dependencies",
            "unknown package",
            "cannot satisfy -package",
            "Unknown package",
            "There is no package named",
            "Error: cabal: ",
            "cabal: ",
        ),
        r"^(?:Error: )?(?:cabal: |\[__\d_\] )?(?:Could not resolve dependencies|.*unknown package|.*cannot satisfy -package|.*There is no package named|Error:? ?\[?.*No targets)|(?:is unknown|unknown target)",
        "cabal: Could not resolve dependencies:",
    ),
    Rule(
        "haskell.cabal",
        SYNTAX,
        ("Errors encountered when parsing", "error parsing", "Failed parsing"),
        r"Errors encountered when parsing|^(?P<file>\S+\.cabal):(?P<line>\d+):\d+: error",
        "Errors encountered when parsing cabal file ./shop.cabal:",
    ),
    Rule(
        "haskell.exception",
        RUNTIME,
        (
            "CallStack (from HasCallStack)",
            "uncaught exception: ",
            "Non-exhaustive patterns",
            "Exception: ",
            "*** Exception",
            "divide by zero",
            "Prelude.",
        ),
        r"^\s*uncaught exception: (?P<exc>\w+)|^\s*(?:\S+: )?(?P<file>\S+\.hs):\(?(?P<line>\d+)[:,]\d+\)?.*: Non-exhaustive patterns|^\s*(?:\S+: |Exception: |\*\*\* Exception: )?(?:Prelude\.\w+: |divide by zero|Map\.!: )",
        "       uncaught exception: ArithException",
        level=Level.TRACEBACK,
    ),
    Rule(
        "haskell.expect",
        TEST,
        ("but got: ", "expected: ", "*** Failed! Falsified", "HUnitFailure", "Falsifiable"),
        r"^\s*(?:### Failure in: |but got: |\s+but got: |\*\*\* Failed! Falsif|.*\*\*\* Failed! Falsif|.*HUnitFailure)",
        "        but got: 2",
        level=Level.TRACEBACK,
        only_in_tests=True,
    ),
    Rule(
        "haskell.error-call",
        RUNTIME,
        ("### Error in:", "*** Failed! Exception"),
        r"^### Error in: |\*\*\* Failed! \(?Exception",
        "### Error in:   0:totals",
        level=Level.SUMMARY,
        even_in_tests=True,
    ),
    Rule(
        "ocaml.library",
        ENV,
        ('Library "', "Package `", "No implementations provided", "ocamlfind: Package", "not found"),
        r'^Error: Library "(?P<dep>[\w.-]+)" not found|^ocamlfind: Package [`\'](?P<dep2>[\w.-]+)[`\'] not found',
        'Error: Library "yojson" not found.',
        own_kind=SYNTAX,
    ),
    Rule(
        "ocaml.module",
        ENV,
        ("Unbound module ",),
        r"^Error: Unbound module (?P<dep>\w+)",
        "Error: Unbound module Yojson",
        own_kind=SYNTAX,
    ),
    Rule(
        "ocaml.fatal",
        RUNTIME,
        ("Fatal error: exception",),
        r"^Fatal error: exception (?P<exc>[\w.]+)(?:\((?P<msg>.*)\)|: (?P<msg2>.*))?",
        "Fatal error: exception Not_found",
        level=Level.TRACEBACK,
    ),
    Rule(
        "ocaml.assert",
        TEST,
        ("Assert_failure", "Assertion failed", "xpected: ", "ASSERT "),
        r"exception (?:File \"(?P<file>[^\"]+)\", line (?P<line>\d+), characters [\d-]+: Assertion failed|\"?Assert_failure)|^(?:\s*Expected: .*|ASSERT .*)$|^Error: .*\(?expected: .* but got: ",
        'Fatal error: exception Assert_failure("test/t.ml", 7, 2)',
        level=Level.TRACEBACK,
    ),
    Rule(
        "dune.project",
        ENV,
        ("Error: I cannot find the root", "Error: Don't know how to build", "dune: unknown command"),
        r"^Error: (?:I cannot find the root|Don't know how to build|Alias \S+ .* is empty)",
        "Error: Don't know how to build tset",
    ),
)

NAMES = (
    NameRule(
        "hspec.numbered",
        (") ",),
        r"^  \d+\) (?!Failure:|Error:|Skipped:)(?P<test>[A-Z]\S.*)$",
        "  1) Stock.total totals two lines",
    ),
    NameRule(
        "hunit.path",
        ("### Failure in:", "### Error in:"),
        r"^### (?:Failure|Error) in: +(?P<test>\S.*)$",
        "### Failure in: 0:totals",
    ),
    NameRule("tasty.fail", ("FAIL",), r"^\s+(?P<test>\S.*?): +FAIL(?: \([\d.]+s\))?$", "    totals: FAIL (0.01s)"),
    NameRule(
        "alcotest.fail",
        ("[FAIL]",),
        r"^(?:│ |> )?\s*\[FAIL\]\s+(?P<suite>\S+)\s+(?P<n>\d+)\s+(?P<test>.+?)\.?\s*(?:│)?$",
        "> [FAIL]        stock          0   totals.",
    ),
    NameRule(
        "ounit.case", ("Error: ", "Failure: "), r"^(?:Error|Failure): (?P<test>\S+?)\.?$", "Error: stock:0:totals."
    ),
)
