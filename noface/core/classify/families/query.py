"""SQL shells, jq, awk and Raku."""

# ruff: noqa: E501 - a pattern, and a line of real output, is kept in one piece

from noface.core.classify.kinds import ENV, RUNTIME, SYNTAX
from noface.core.classify.rules import Level, Rule

RULES = (
    Rule(
        "awk.syntax",
        SYNTAX,
        ("awk: ",),
        r"^(?:g|m)?awk: (?:(?P<file>\S+?):(?P<line>\d+): )?.*(?:syntax error|unterminated|unexpected)",
        "awk: total.awk:3:               ^ syntax error",
    ),
    Rule(
        "awk.fatal",
        RUNTIME,
        ("awk: ",),
        r"^(?:g|m)?awk: .*(?:fatal|division by zero|cannot open)",
        "awk: cmd. line:1: fatal: division by zero attempted",
        level=Level.TRACEBACK,
    ),
    Rule(
        "sqlite.parse",
        SYNTAX,
        ("Parse error", ": syntax error", "incomplete input"),
        r"^(?:Parse error|Error: in prepare|Error)(?:: | near line (?P<row>\d+): |.*)(?:near \".*\": syntax error|.*incomplete input|no such (?:table|column).*|.*unrecognized token)",
        'Parse error near line 2: near "TABEL": syntax error',
    ),
    Rule(
        "sqlite.runtime",
        RUNTIME,
        ("Runtime error", "stepping,"),
        r"^Runtime error|^Error: stepping,",
        "Runtime error near line 2: NOT NULL constraint failed: item.sku (19)",
    ),
    Rule(
        "sqlite.open",
        ENV,
        ("unable to open database",),
        r"unable to open database",
        'Error: unable to open database "x/app.db": unable to open database file',
    ),
    Rule(
        "psql.syntax",
        SYNTAX,
        ("syntax error at or near", "You have an error in your SQL syntax"),
        r"syntax error at or near|You have an error in your SQL syntax",
        'psql:schema.sql:2: ERROR:  syntax error at or near "TABEL"',
    ),
    Rule(
        "psql.error",
        RUNTIME,
        ("ERROR:  ",),
        r"^(?:psql:(?P<file>[^:]+):(?P<line>\d+): )?ERROR:  (?!syntax error)",
        'psql:schema.sql:2: ERROR:  null value in column "sku" violates not-null constraint',
    ),
    Rule(
        "jq.parse",
        SYNTAX,
        ("jq: ", "parse error: "),
        r"^jq: (?:parse error|error: syntax error|\d+ compile error)|^parse error: ",
        "parse error: Expected value before ',' at line 3, column 5",
    ),
    Rule(
        "jq.runtime",
        RUNTIME,
        ("jq: error (at",),
        r"^jq: error \(at ",
        'jq: error (at a.json:3): Cannot index string with string "sku"',
        level=Level.TRACEBACK,
    ),
    Rule(
        "raku.sorry",
        SYNTAX,
        ("===SORRY!===",),
        r"^===SORRY!===",
        "===SORRY!=== Error while compiling /repo/lib/Stock.rakumod",
    ),
    Rule(
        "raku.module",
        ENV,
        ("Could not find ",),
        r"Could not find (?P<dep>[\w:]+) in:",
        "Could not find JSON::Fast in:",
        own_kind=RUNTIME,
    ),
)
