"""node, deno, tsc and the bundlers."""

# ruff: noqa: E501 - a pattern, and a line of real output, is kept in one piece

from noface.core.classify.kinds import ENV, LINT, RUNTIME, SYNTAX
from noface.core.classify.rules import Level, NameRule, Rule

RULES = (
    Rule(
        "node.syntax",
        SYNTAX,
        ("SyntaxError: ",),
        r"^(?:Uncaught )?SyntaxError: (?!.*(?:JSON at position|is not valid JSON|in JSON|JSON input|The requested module))",
        "SyntaxError: Unexpected token ';'",
        level=Level.WORDS,
    ),
    Rule(
        "node.package-json",
        SYNTAX,
        (
            "nvalid package config",
            "Error parsing",
            "ERR_INVALID_PACKAGE_CONFIG",
            "Failed to parse package.json",
            "Unexpected token",
            "JSONParseError",
            "JSONError",
        ),
        r"[Ii]nvalid package config|Error(?::| while) parsing (?:file:\S*|/?\S*)package\.json|ERR_INVALID_PACKAGE_CONFIG|Failed to parse (?:JSON data|package\.json)|error: (?:Unexpected|Expected) .* in (?P<file>\S+\.json)|JSONError: ",
        "Error: Invalid package config /repo/package.json.",
    ),
    Rule(
        "node.rejection",
        RUNTIME,
        (
            "UnhandledPromiseRejection",
            "ERR_UNHANDLED_REJECTION",
            "trace-uncaught",
            "Unhandled Rejection",
            "Uncaught exception outside",
            "unhandledRejection",
        ),
        r"UnhandledPromiseRejection|ERR_UNHANDLED_REJECTION|\(Use `node --trace-uncaught|Unhandled Rejection|Uncaught exception outside test suite",
        "[UnhandledPromiseRejection: This error originated either by throwing inside of an async function",
        level=Level.TRACEBACK,
    ),
    Rule(
        "node.own-name",
        RUNTIME,
        ("ReferenceError: ", "TypeError: ", "RangeError: ", "URIError: ", "EvalError: ", "InternalError: "),
        r"^\s*(?:[●✖✘×>│] ?)?(?:Uncaught |error: Uncaught (?:\(in promise\) )?)?(?P<exc>(?:Reference|Type|Range|URI|Eval|Internal)Error): (?P<msg>.*)$",
        "    TypeError: Cannot read properties of undefined (reading 'qty')",
        level=Level.WORDS,
    ),
    Rule(
        "tsc.global",
        ENV,
        ("error TS5", "error TS6053", "error TS18003"),
        r"^error TS(?:5057|5058|5083|6053|2688): ",
        "error TS5058: The specified path does not exist: 'tsconfig.build.json'.",
    ),
    Rule(
        "tsc.options",
        SYNTAX,
        ("error TS5", "error TS6", "error TS18"),
        r"^error TS(?:50(?!57|58|83)\d\d|51\d\d|60(?!53)\d\d|18\d\d\d): ",
        "error TS5023: Unknown compiler option 'strickt'.",
    ),
    Rule(
        "deno.parse",
        SYNTAX,
        ("could not be parsed", "Expected ", "The module's source code"),
        r"^error: (?:The module's source code could not be parsed|Uncaught SyntaxError)",
        "error: The module's source code could not be parsed: Expected ',', got ';' at file:///repo/x.ts:3:4",
    ),
    Rule(
        "deno.fmt",
        LINT,
        ("not formatted file", "error: Found", "Found "),
        r"^error: Found \d+ not formatted files?|^Found \d+ problems?$",
        "error: Found 1 not formatted file in 3 files",
    ),
    Rule(
        "tsx.type-check",
        LINT,
        ("TS",),
        r"^TS\d+ \[ERROR\]: ",
        "TS2322 [ERROR]: Type 'string' is not assignable to type 'number'.",
    ),
    Rule(
        "node.gate-script",
        ENV,
        ("Cannot find module '/",),
        r"^Error: Cannot find module '(?P<dep>/\S+)'$",
        "Error: Cannot find module '/repo/scripts/chek.js'",
        level=Level.WORDS,
    ),
)

NAMES = (
    NameRule(
        "deno.fail", (" ... ", "=> "), r"^(?P<test>\S.*?) \.\.\. .*FAILED(?: \(.*\))?$", "totals ... FAILED (4ms)"
    ),
)
