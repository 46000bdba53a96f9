"""Test frameworks of the JVM, and Clojure."""

# ruff: noqa: E501 - a pattern, and a line of real output, is kept in one piece

from noface.core.classify.kinds import ENV, RUNTIME, SYNTAX, TEST, TIME
from noface.core.classify.rules import Level, NameRule, Rule

RULES = (
    Rule(
        "junit.timeout",
        TIME,
        ("timed out after",),
        r"(?:TimeoutException|TestTimedOutException|TimeoutError|✘|» (?:Timeout|TestTimedOut)\w*):? (?:\S+\(.*\) |test )?timed out after \d+",
        "      ├─ totals() ✘ totals() timed out after 2 seconds",
        even_in_tests=True,
    ),
    Rule(
        "junit.short-timeout",
        TIME,
        ("» Timeout", "» TestTimedOut"),
        r"» (?:Timeout|TestTimedOut)\b",
        "[ERROR]   CartTest.totals » Timeout totals() timed out after 2 seconds",
        even_in_tests=True,
    ),
    Rule(
        "surefire.assertion",
        TEST,
        ("AssertionFailedError", "ComparisonFailure", "AssertionError", "MultipleFailuresError"),
        r"^\s*(?:=> )?(?:\[\w+\] )?(?:org|java|junit|kotlin|io|munit)\.[\w.]*(?:AssertionFailedError|ComparisonFailure|AssertionError|MultipleFailuresError|ComparisonFailException|FailException)\b",
        "org.opentest4j.AssertionFailedError: expected: <7.0> but was: <5.5>",
        level=Level.TRACEBACK,
    ),
    Rule(
        "scalatest.failed",
        TEST,
        ("*** FAILED ***",),
        r"\*\*\* FAILED \*\*\*",
        "[info] - totals *** FAILED ***",
        level=Level.WORDS,
    ),
    Rule(
        "scalatest.exception",
        RUNTIME,
        ("Exception was thrown", "Error was thrown", "exception was thrown"),
        r"^\s*(?:\[info\] +)?(?P<exc>(?:\w+\.)*\w+(?:Exception|Error)) was thrown",
        "[info]   java.lang.ArithmeticException was thrown",
        level=Level.TRACEBACK,
    ),
    Rule(
        "scalatest.exception-line",
        RUNTIME,
        ("[info]   ",),
        r"^\[info\]   (?P<exc>(?:java|scala)\.[\w.]+(?:Exception|Error)): (?P<msg>.*)$",
        "[info]   java.lang.ArithmeticException: / by zero",
        level=Level.TRACEBACK,
    ),
    Rule(
        "clojure.load",
        SYNTAX,
        ("Syntax error", "CompilerException", "EOF while reading", "Unmatched delimiter", "Unable to resolve symbol"),
        r"^Syntax error (?:compiling|reading|macroexpanding)|^(?:Execution error|Syntax error) .*Unable to resolve symbol|CompilerException .*compiling:\(",
        "Syntax error compiling at (shop/cart.clj:7:3).",
    ),
    Rule(
        "clojure.locate",
        ENV,
        ("Could not locate",),
        r"Could not locate \S+?, (?P<dep>[\w/]+?)\.clj",
        [
            "Execution error (FileNotFoundException) at shop.cart/eval1 (cart.clj:1).",
            "Could not locate cheshire/core__init.class, cheshire/core.clj or cheshire/core.cljc on classpath.",
        ][1],
        own_kind=SYNTAX,
    ),
    Rule(
        "clojure.execution",
        RUNTIME,
        ("Execution error",),
        r"^Execution error(?: \((?P<exc>[\w.]+)\))? at (?:\S+ )?\((?P<file>[\w./]+):(?P<line>\d+)\)",
        "Execution error (ArithmeticException) at shop.cart/total (cart.clj:8).",
        level=Level.TRACEBACK,
    ),
    Rule(
        "clojure.classpath",
        ENV,
        ("Error building classpath", "Could not find artifact", "Could not transfer artifact"),
        r"^Error building classpath|^Could not (?:find|transfer) artifact",
        "Error building classpath. Could not find artifact foo:bar:jar:1.0 in central",
    ),
    Rule(
        "clojure.fail",
        TEST,
        ("FAIL in (",),
        r"^FAIL in \(.*\) \((?P<file>[\w./]+):(?P<line>\d+)\)",
        "FAIL in (test-total) (cart_test.clj:8)",
        level=Level.SUMMARY,
    ),
    Rule(
        "clojure.error",
        RUNTIME,
        ("ERROR in (",),
        r"^ERROR in \(.*\)(?: \((?P<file>[\w./]+):(?P<line>\d+)\))?",
        "ERROR in (test-total) (cart.clj:8)",
        level=Level.SUMMARY,
    ),
)

NAMES = (
    NameRule(
        "junit-console.method",
        ("JUnit Jupiter:", "JUnit Vintage:"),
        r"^  JUnit (?:Jupiter|Vintage):(?P<suite>[^:]+):(?P<test>.+)$",
        "  JUnit Jupiter:CartTest:totals()",
        join="{suite}.{test}",
    ),
    NameRule(
        "surefire.summary",
        ("[ERROR]   ", "[ERROR] "),
        r"^\[ERROR\] +(?P<suite>[A-Z]\w*(?:\$\w+)?)[.>](?P<test>[\w.>\[\]]+?)(?::\d+)?(?:->\S+)?(?: .*|$)",
        "[ERROR]   CartTest.totals:11 expected: <7.0> but was: <5.5>",
        join="{suite}.{test}",
    ),
    NameRule(
        "junit4.numbered",
        (") ",),
        r"^\d+\) (?P<test>\w+)\((?P<suite>[\w.$]+)\)$",
        "1) totals(shop.CartTest)",
        join="{suite}.{test}",
    ),
    NameRule(
        "scalatest.star",
        ("*** FAILED ***",),
        r"^(?:\[info\] )?-? ?(?P<test>.+?) \*\*\* FAILED \*\*\*",
        "[info] - totals two lines *** FAILED ***",
    ),
    NameRule(
        "munit.x",
        ("==> X ",),
        r"^==> X (?P<test>\S+)",
        "==> X shop.CartTest.totals  0.02s munit.ComparisonFailException",
    ),
    NameRule(
        "clojure.in",
        ("FAIL in (", "ERROR in ("),
        r"^(?:FAIL|ERROR) in \((?P<test>[^)]+)\)",
        "FAIL in (test-total) (cart_test.clj:8)",
    ),
)
