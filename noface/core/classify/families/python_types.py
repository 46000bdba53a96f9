"""Python's type checkers and pylint."""

# ruff: noqa: E501 - a pattern, and a line of real output, is kept in one piece

from noface.core.classify.kinds import ENV, LINT, SYNTAX
from noface.core.classify.rules import Rule

RULES = (
    Rule(
        "mypy.import",
        ENV,
        ("Cannot find implementation or library stub",),
        r'^(?P<file>[^:\s]+):(?P<line>\d+):(?:\d+:)? error: Cannot find .*named "(?P<dep>[\w.]+)"',
        'shop/inventory.py:1: error: Cannot find implementation or library stub for module named "yamlx"  [import-not-found]',
        own_kind=LINT,
    ),
    Rule(
        "mypy.syntax",
        SYNTAX,
        ("[syntax]",),
        r"^(?P<file>[^:\s]+):(?P<line>\d+):(?:\d+:)? error: .*\[syntax\]$",
        "shop/inventory.py:8: error: '(' was never closed  [syntax]",
    ),
    Rule(
        "mypy.finding",
        LINT,
        (" error: ",),
        r"^(?P<file>[^:\s]+\.pyi?):(?P<line>\d+):(?:\d+:)? error: (?!Cannot find implementation).*\[(?!syntax)[a-z-]+\]$",
        'shop/inventory.py:17: error: Incompatible return value type (got "int", expected "str")  [return-value]',
    ),
    Rule(
        "mypy.path",
        ENV,
        (
            "mypy: can't read file",
            "mypy: error: Cannot find",
            "error: No such file or directory",
            "There are no .py[i] files",
        ),
        r"^mypy: (?:can't read file|error: )|^There are no \.py\[i\] files|^mypy: No such",
        "mypy: can't read file 'shopp': No such file or directory",
    ),
    Rule(
        "pylint.import",
        ENV,
        ("E0401",),
        r"^(?P<file>[^:\s]+):(?P<line>\d+):\d+: E0401: Unable to import '(?P<dep>[\w.]+)'",
        "shop/inventory.py:1:0: E0401: Unable to import 'yamlx' (import-error)",
        own_kind=LINT,
    ),
    Rule(
        "pylint.syntax",
        SYNTAX,
        ("E0001",),
        r"^(?P<file>[^:\s]+):(?P<line>\d+):\d+: E0001: ",
        "shop/inventory.py:8:9: E0001: Parsing failed: ''(' was never closed' (syntax-error)",
    ),
    Rule(
        "pyright.import",
        ENV,
        ("reportMissing",),
        r'^\s*(?P<file>\S+):(?P<line>\d+):\d+ - (?:error|warning): (?:Import "(?P<dep>[\w.]+)" could not be resolved|Stub file not found).*',
        '  /repo/shop/inventory.py:1:8 - error: Import "yamlx" could not be resolved (reportMissingImports)',
        own_kind=LINT,
    ),
    Rule(
        "pyright.syntax",
        SYNTAX,
        (" - error: ",),
        r"^\s*(?P<file>\S+):(?P<line>\d+):\d+ - error: [^(]*$|^\s*(?P<file2>\S+):\d+:\d+ - error: \"\(\" was not closed",
        "  /repo/shop/inventory.py:9:5 - error: Unexpected token at end of expression",
        tools=("pyright", "basedpyright"),
    ),
    Rule(
        "pyright.finding",
        LINT,
        (" - error: ",),
        r"^\s*(?P<file>\S+):(?P<line>\d+):\d+ - error: .*\((?!reportMissing)report\w+\)$",
        '  /repo/shop/x.py:9:8 - error: "Sum" is not defined (reportUndefinedVariable)',
    ),
)
