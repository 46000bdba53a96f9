"""Python itself and its test runners beside pytest's own sections."""

# ruff: noqa: E501 - a pattern, and a line of real output, is kept in one piece

from noface.core.classify.kinds import ENV, RUNTIME, SYNTAX, TIME
from noface.core.classify.rules import Level, NameRule, Rule

RULES = (
    Rule(
        "python.no-module-main",
        ENV,
        ("No module named",),
        r"^\S*python[\d.]*(?:\.exe)?: (?:Error while finding module specification .*|No module named (?P<dep>[\w.]+))",
        "/usr/bin/python3: No module named pytest",
        own_kind=ENV,
    ),
    Rule(
        "pytest.e-line",
        RUNTIME,
        ("E   ",),
        r"^E {3,}(?P<exc>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Failed)): (?P<msg>.*)$",
        "E   ModuleNotFoundError: No module named 'pricing'",
    ),
    Rule(
        "pytest.conftest",
        RUNTIME,
        ("while loading conftest",),
        r"^(?P<exc>\w+Error) while loading conftest '(?P<file>[^']+)'",
        "ImportError while loading conftest '/repo/tests/conftest.py'.",
        level=Level.WORDS,
    ),
    Rule(
        "pytest.plugin-timeout",
        TIME,
        ("Timeout +++", "+ Timeout +", "~ Timeout ~"),
        r"^[+~]+ Timeout [+~]+$",
        "+++++++++++++++++++++++++++++++++++ Timeout ++++++++++++++++++++++++++++++++++++",
        even_in_tests=True,
    ),
    Rule(
        "pytest.config",
        SYNTAX,
        ("unexpected line:", "ERROR: /", "pyproject.toml:"),
        r"^ERROR: (?P<file>\S+\.(?:ini|cfg|toml)):(?P<line>\d+)?.*(?:unexpected|no section header|Expected|Invalid|Cannot|duplicate|Unclosed|Unescaped|Illegal)",
        "ERROR: /repo/pytest.ini:2: unexpected line: 'addopts'",
    ),
    Rule(
        "pytest.config-value",
        SYNTAX,
        ("Unknown config option", "invalid value", "not a valid"),
        r"^(?:ERROR: )?(?:\S+: )?(?:Unknown config option: |invalid value for)",
        "ERROR: Unknown config option: adopts",
    ),
    Rule(
        "pytest.path-missing",
        ENV,
        ("ERROR: file or directory not found", "ERROR: not found: "),
        r"^ERROR: (?:file or directory not found|not found): ",
        "ERROR: file or directory not found: test",
    ),
    Rule(
        "pytest.plugin-missing",
        ENV,
        ('Error importing plugin "',),
        r'ImportError: Error importing plugin "(?P<dep>[\w.]+)"',
        "ImportError: Error importing plugin \"pytest_html\": No module named 'pytest_html'",
        own_kind=RUNTIME,
    ),
    Rule(
        "python.fatal",
        RUNTIME,
        ("Fatal Python error",),
        r"^Fatal Python error: ",
        "Fatal Python error: Segmentation fault",
        even_in_tests=True,
    ),
    Rule(
        "python.compileall",
        SYNTAX,
        ("*** Error compiling", '*** File "'),
        r"^\*\*\* (?:Error compiling '(?P<file>[^']+)'|\w+Error: )",
        "*** Error compiling './shop/inventory.py'...",
        level=Level.TRACEBACK,
    ),
    Rule(
        "python.encoding",
        SYNTAX,
        ("Non-UTF-8 code", "source code cannot contain null bytes", "source code string cannot contain null bytes"),
        r"SyntaxError: .*(?:Non-UTF-8 code starting with .* in file (?P<file>\S+) on line (?P<line>\d+)|null bytes)",
        "SyntaxError: Non-UTF-8 code starting with '\\xe9' in file /repo/x.py on line 3, but no encoding declared;",
    ),
    Rule(
        "unittest.loader",
        RUNTIME,
        ("_FailedTest",),
        r"^ERROR: \S+ \(unittest\.loader\._FailedTest",
        "ERROR: test_inventory (unittest.loader._FailedTest.test_inventory)",
        level=Level.WORDS,
    ),
    Rule(
        "python.packaging",
        SYNTAX,
        (
            "configuration error: `project",
            "invalid pyproject.toml",
            "Invalid pyproject",
            "MissingSectionHeaderError",
            "configparser.ParsingError",
            "The Poetry configuration is invalid",
            "The following section are invalid",
            "Getting requirements to build",
        ),
        r"configuration error: `|[Ii]nvalid pyproject|MissingSectionHeaderError|configparser\.\w+Error|Poetry configuration is invalid",
        "The Poetry configuration is invalid:",
    ),
)

NAMES = (
    NameRule(
        "unittest.heading",
        ("FAIL: ", "ERROR: "),
        r"^(?:FAIL|ERROR): (?P<test>[\w.]+)(?: \((?P<suite>[\w.]+)\))?",
        "FAIL: test_total (tests.test_inventory.InventoryTest.test_total)",
    ),
)
