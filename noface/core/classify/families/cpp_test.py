"""Test frameworks of C++: GoogleTest, Catch2, doctest, Boost.Test, Qt Test."""

# ruff: noqa: E501 - a pattern, and a line of real output, is kept in one piece

from noface.core.classify.kinds import NONE, RUNTIME, TEST
from noface.core.classify.rules import Level, NameRule, Rule

RULES = (
    Rule(
        "gtest.failure",
        TEST,
        (": Failure", ": error: Expected"),
        r"^(?P<file>[^\s:()]+)[:(](?P<line>\d+)\)?: Failure$",
        "/repo/tests/test_text.cpp:12: Failure",
        level=Level.TRACEBACK,
    ),
    Rule(
        "gtest.exception",
        RUNTIME,
        ("C++ exception with description", "unknown file: Failure", "Unknown C++ exception", "thrown in the test body"),
        r"^(?:unknown file: Failure|(?:C\+\+ exception with description|Unknown C\+\+ exception).*thrown in (?:the test body|SetUp|TearDown|auxiliary)|due to unexpected exception)",
        'C++ exception with description "vector::_M_range_check" thrown in the test body.',
        level=Level.SUMMARY,
        even_in_tests=True,
    ),
    Rule(
        "gtest.no-tests",
        NONE,
        ("0 tests from 0 test", "no tests ran", "No test cases matched", "No tests ran", "no test cases matching"),
        r"^\[==========\] (?:Running )?0 tests from 0 test|^No test cases matched|^No tests ran",
        "[==========] 0 tests from 0 test suites ran. (0 ms total)",
    ),
    Rule(
        "catch2.failed",
        TEST,
        ("FAILED:", "with expansion:"),
        r"^(?:(?P<file>[^\s:()]+)[:(](?P<line>\d+)\)?: )?FAILED:$|^with expansion:",
        "/repo/tests/test_text.cpp:12: FAILED:",
        level=Level.TRACEBACK,
    ),
    Rule(
        "catch2.exception",
        RUNTIME,
        (
            "due to unexpected exception",
            "due to a fatal error condition",
            "test case THREW exception",
            "test case CRASHED",
        ),
        r"due to (?:unexpected exception|a fatal error condition)|test case (?:THREW exception|CRASHED)",
        "due to unexpected exception with message:",
        level=Level.SUMMARY,
        even_in_tests=True,
    ),
    Rule(
        "doctest-cpp.failed",
        TEST,
        ("ERROR: CHECK", "ERROR: REQUIRE"),
        r"^(?P<file>[^\s:()]+)[:(](?P<line>\d+)\)?: (?:FATAL )?ERROR: (?:CHECK|REQUIRE|WARN)",
        "/repo/tests/t.cpp:7: ERROR: CHECK( total == 3 ) is NOT correct!",
        level=Level.SUMMARY,
        even_in_tests=True,
    ),
    Rule(
        "doctest-cpp.exception",
        RUNTIME,
        ("ERROR: test case",),
        r"^(?P<file>[^\s:()]+)[:(](?P<line>\d+)\)?: (?:FATAL )?ERROR: test case (?:THREW|CRASHED)",
        "/repo/tests/t.cpp:5: ERROR: test case THREW exception: boom",
        level=Level.SUMMARY,
        even_in_tests=True,
    ),
    Rule(
        "boost.failed",
        TEST,
        ("has failed", "check "),
        r"^(?P<file>[^\s:()]+)[:(](?P<line>\d+)\)?: (?:fatal )?error: in \".*\": (?:check|critical check|test) ",
        't.cpp(7): error: in "totals": check total == 3 has failed [2 != 3]',
        level=Level.SUMMARY,
        even_in_tests=True,
    ),
    Rule(
        "boost.exception",
        RUNTIME,
        ('fatal error: in "', "unknown location(0)"),
        r"^(?:unknown location\(0\)|[^\s:()]+[:(]\d+\)?): fatal error: in \".*\": (?!critical check)",
        'unknown location(0): fatal error: in "totals": std::out_of_range: vector',
        level=Level.SUMMARY,
        even_in_tests=True,
    ),
    Rule(
        "boost.no-tests",
        NONE,
        ("no test cases matching filter",),
        r"no test cases matching filter or all test cases were disabled",
        "Test setup error: no test cases matching filter or all test cases were disabled",
    ),
    Rule(
        "qtest.fail",
        TEST,
        ("FAIL!  : ",),
        r"^FAIL!  : (?P<test>\S+)",
        "FAIL!  : TestCart::totals() Compared values are not the same",
        level=Level.SUMMARY,
        even_in_tests=True,
    ),
)

NAMES = (
    NameRule(
        "catch2.case",
        ("-------------------------------------------------------------------------------",),
        r"^-{79}$",
        "-------------------------------------------------------------------------------",
        below=True,
    ),
    NameRule(
        "gtest.failed", ("[  FAILED  ] ",), r"^\[  FAILED  \] (?P<test>[\w/]+\.[\w/]+)", "[  FAILED  ] Split.Trailing"
    ),
    NameRule(
        "qtest.case",
        ("FAIL!  : ",),
        r"^FAIL!  : (?P<test>\S+)",
        "FAIL!  : TestCart::totals() Compared values are not the same",
    ),
    NameRule(
        "boost.case",
        (': in "',),
        r"^.*?: (?:fatal )?error: in \"(?P<test>[^\"]+)\"",
        't.cpp(7): error: in "cart/totals": check total == 3 has failed',
    ),
    NameRule("doctest-cpp.case", ("TEST CASE:",), r"^TEST CASE:  (?P<test>.+)$", "TEST CASE:  totals"),
)
