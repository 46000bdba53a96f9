"""behave, Robot Framework, tox, nose, green, ward and Django."""

# ruff: noqa: E501 - a pattern, and a line of real output, is kept in one piece

from noface.core.classify.kinds import ENV, NONE, RUNTIME, SYNTAX, TEST
from noface.core.classify.rules import Level, NameRule, Rule

RULES = (
    Rule(
        "robot.raised",
        RUNTIME,
        (" failed: ",),
        r"^(?:Evaluating expression|Calling method|Importing) .* failed: (?P<exc>\w+Error): (?P<msg>.*)$",
        "Evaluating expression \"{}['x']\" failed: KeyError: 'x'",
        level=Level.SUMMARY,
        even_in_tests=True,
        quotes=True,
    ),
    Rule(
        "behave.assert",
        TEST,
        ("Assertion Failed:", "ASSERT FAILED:"),
        r"^\s+(?:Assertion Failed|ASSERT FAILED): ",
        "      ASSERT FAILED: expected 6, got 5",
        level=Level.TRACEBACK,
    ),
    Rule(
        "behave.undefined",
        RUNTIME,
        (
            "undefined steps",
            "implement step definitions",
            "Undefined scenarios",
            "undefined step",
            "Undefined step",
            "undefined scenario",
            "You can implement missing steps",
            "StepDefinitionNotFoundError",
            "Undefined. Implement",
        ),
        r"(?i)implement (?:step definitions for undefined|missing) steps|StepDefinitionNotFoundError|^\s*Undefined\. Implement|^\d+ scenarios? \(.*\d+ undefined|You can implement step definitions|raise NotImplementedError\(",
        "You can implement step definitions for undefined steps with these snippets:",
        level=Level.TRACEBACK,
    ),
    Rule(
        "behave.config",
        ENV,
        ("ConfigError:", "No steps directory", "FileNotFoundError: "),
        r"^(?:ConfigError: No|.*No steps directory in)",
        "ConfigError: No steps directory in '/repo/features'",
    ),
    Rule(
        "behave.parse",
        SYNTAX,
        ("ParserError: ", "Failed to parse", "Parser Error"),
        r"^(?:ParserError|.*Failed to parse .?(?P<file>\S+\.feature)|.*\.feature.*[Pp]arser ?[Ee]rror)",
        'Failed to parse "/repo/features/cart.feature": Parser failure in state',
    ),
    Rule(
        "robot.keyword",
        RUNTIME,
        ("No keyword with name",),
        r"^No keyword with name '",
        "No keyword with name 'Total Shold Be' found.",
        level=Level.SUMMARY,
        even_in_tests=True,
    ),
    Rule(
        "robot.import",
        ENV,
        ("Importing library", "Importing test library", "Importing resource"),
        r"(?:Importing (?:test )?library|Importing variable file) '(?P<dep>[^']+)' failed",
        "[ ERROR ] Error in file '/repo/t.robot' on line 2: Importing library 'Foo' failed: ModuleNotFoundError",
        own_kind=RUNTIME,
        even_in_tests=True,
    ),
    Rule(
        "robot.no-tests",
        NONE,
        ("contains no tests", "Suite '", "matching name"),
        r"^\[ ERROR \] Suite '.*' contains no tests|no tests or tasks",
        "[ ERROR ] Suite 'Cart' contains no tests matching name 'nothing'.",
    ),
    Rule(
        "robot.path",
        ENV,
        ("[ ERROR ] Parsing",),
        r"^\[ ERROR \] Parsing '.*' failed: File or directory to execute does not exist",
        "[ ERROR ] Parsing 'robott' failed: File or directory to execute does not exist.",
    ),
    Rule(
        "tox.env",
        ENV,
        (
            "provided environments not found",
            "could not find python interpreter",
            "unknown environment",
            "skipped because could not find",
            "Sessions not found",
        ),
        r"provided environments not found|could not find python interpreter|ERROR: unknown environment|skipped because could not find|Sessions not found",
        "ERROR:  provided environments not found in configuration file: ['lnt']",
    ),
    Rule(
        "nose.no-tests",
        NONE,
        ("NO TESTS RAN", "no tests ran", "No tests were found", "no tests collected"),
        r"^(?:NO TESTS RAN|no tests ran|.*No tests were (?:found|collected))",
        "NO TESTS RAN",
    ),
    Rule(
        "django.checks",
        RUNTIME,
        ("SystemCheckError",),
        r"SystemCheckError: System check identified",
        "SystemCheckError: System check identified some issues:",
    ),
    Rule(
        "django.config",
        ENV,
        ("django.db.utils.OperationalError", "ImproperlyConfigured"),
        r"django\.db\.utils\.OperationalError: (?:could not connect|connection)",
        'django.db.utils.OperationalError: connection to server at "127.0.0.1", port 5432 failed',
    ),
)

NAMES = (
    NameRule(
        "ward.test",
        (" FAIL  ",),
        r"^ FAIL  \S+:\d+ (?P<test>.+?)(?: +\d+%)?$",
        " FAIL  test_w:3 totals                                                      100%",
    ),
    NameRule(
        "green.test",
        ("Failure in ", "Error in "),
        r"^(?:Failure|Error) in (?P<test>[\w.]+)$",
        "Failure in tests.test_a.T.test_total",
    ),
    NameRule(
        "behave.scenario",
        ("features/", ".feature:"),
        r"^  (?P<test>\S+\.feature:\d+)  \S",
        "  features/cart.feature:3  total",
    ),
    NameRule(
        "robot.test",
        ("| FAIL |",),
        r"^(?P<test>\S.*?) +(?::: .*)?\| FAIL \|$",
        "Total                                                                 | FAIL |",
    ),
)
