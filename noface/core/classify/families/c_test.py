"""Test frameworks of C and C++."""

# ruff: noqa: E501 - a pattern, and a line of real output, is kept in one piece

from noface.core.classify.kinds import ENV, NONE, RUNTIME, TEST, TIME
from noface.core.classify.rules import Level, NameRule, Rule

RULES = (
    Rule(
        "ctest.exception",
        RUNTIME,
        (
            "***Exception:",
            "(SEGFAULT)",
            "(ILLEGAL)",
            "(NUMERICAL)",
            "(OTHER_FAULT)",
            "(Subprocess aborted)",
            "(BAD_COMMAND)",
            "Subprocess aborted***",
            "Child aborted***",
        ),
        r"\*\*\*Exception: |Subprocess aborted\*\*\*|Child aborted\*\*\*|^\s+\d+ - .* \((?:SEGFAULT|ILLEGAL|NUMERICAL|OTHER_FAULT|Subprocess aborted|Child aborted)\)$",
        "2/2 Test #2: number ...........................***Exception: SegFault  0.00 sec",
        level=Level.SUMMARY,
        even_in_tests=True,
    ),
    Rule(
        "ctest.failed",
        TEST,
        ("***Failed", "(Failed)"),
        r"\*\*\*Failed |^\s+\d+ - .* \(Failed\)",
        "1/2 Test #1: split ............................***Failed    0.00 sec",
        level=Level.TRACEBACK,
    ),
    Rule(
        "ctest.timeout",
        TIME,
        ("***Timeout", "(Timeout)"),
        r"\*\*\*Timeout |^\s+\d+ - .* \(Timeout\)",
        "1/1 Test #1: wait .............................***Timeout   1.01 sec",
        even_in_tests=True,
    ),
    Rule(
        "ctest.not-run",
        ENV,
        ("***Not Run", "Unable to find executable", "Could not find executable"),
        r"\*\*\*Not Run|^Unable to find executable: |^Could not find executable",
        "Could not find executable /repo/build/test_split",
    ),
    Rule("ctest.no-tests", NONE, ("No tests were found!!!",), r"^No tests were found!!!", "No tests were found!!!"),
    Rule(
        "check.failed",
        TEST,
        (":F:",),
        r"^(?P<file>[^\s:]+):(?P<line>\d+):F:[^:]*:[^:]*:\d+: ",
        "tests/check_queue.c:12:F:Core:test_sum:0: Assertion 'queue_sum(&q) == 3' failed",
        level=Level.SUMMARY,
        even_in_tests=True,
    ),
    Rule(
        "check.error",
        RUNTIME,
        (":E:",),
        r"^(?P<file>[^\s:]+):(?P<line>\d+):E:[^:]*:[^:]*:\d+: (?!\(after this point\) Test timeout)",
        "tests/check_queue.c:12:E:Core:test_sum:0: (after this point) Received signal 11 (Segmentation fault)",
        level=Level.SUMMARY,
        even_in_tests=True,
    ),
    Rule(
        "check.timeout",
        TIME,
        ("Test timeout expired",),
        r"Test timeout expired",
        "tests/check_queue.c:12:E:Core:test_wait:0: (after this point) Test timeout expired",
        even_in_tests=True,
    ),
    Rule(
        "cmocka.failed",
        TEST,
        ("[  ERROR   ] ---",),
        r"^\[  ERROR   \] --- (?!Test failed with exception)",
        "[  ERROR   ] --- 0x2 != 0x3",
        level=Level.TRACEBACK,
    ),
    Rule(
        "cmocka.signal",
        RUNTIME,
        ("Test failed with exception:",),
        r"Test failed with exception: ",
        "[  ERROR   ] --- Test failed with exception: Segmentation fault(11)",
        level=Level.SUMMARY,
        even_in_tests=True,
    ),
    Rule(
        "unity.fail",
        TEST,
        (":FAIL",),
        r"^(?P<file>[^\s:]+):(?P<line>\d+):(?P<test>\w+):FAIL",
        "test/test_queue.c:14:test_sum:FAIL: Expected 3 Was 2",
        level=Level.SUMMARY,
        even_in_tests=True,
    ),
    Rule(
        "criterion.fail",
        TEST,
        ("[FAIL] ", "[----] "),
        r"^\[----\] (?P<file>[^\s:]+):(?P<line>\d+): ",
        "[----] tests/t.c:7: Assertion Failed",
        level=Level.TRACEBACK,
    ),
    Rule(
        "criterion.crash",
        RUNTIME,
        ("CRASH!",),
        r"CRASH!",
        "[----] tests/t.c:7: Unexpected signal caught below this line!  CRASH!",
        level=Level.SUMMARY,
        even_in_tests=True,
    ),
)

NAMES = (
    NameRule(
        "ctest.list", (" - ",), r"^\s+\d+ - (?P<test>\S+) \((?!Not Run|Disabled)[\w *]+\)$", "\t  1 - split (Failed)"
    ),
    NameRule("cmocka.list", ("[  FAILED  ] ",), r"^\[  FAILED  \] (?P<test>\w+)$", "[  FAILED  ] test_sum"),
    NameRule(
        "check.case",
        (":F:", ":E:"),
        r"^[^\s:]+:\d+:[FE]:[^:]*:(?P<test>[^:]+):\d+: ",
        "tests/check_queue.c:12:F:Core:test_sum:0: Assertion 'x' failed",
    ),
    NameRule(
        "unity.case",
        (":FAIL",),
        r"^[^\s:]+:\d+:(?P<test>\w+):FAIL",
        "test/test_queue.c:14:test_sum:FAIL: Expected 3 Was 2",
    ),
    NameRule("criterion.case", ("[FAIL] ",), r"^\[FAIL\] (?P<test>\w+::\w+)", "[FAIL] cart::totals: (0.00s)"),
    NameRule(
        "automake.case",
        ("FAIL: ", "ERROR: ", "XPASS: "),
        r"^(?:FAIL|ERROR|XPASS): (?P<test>[\w./+-]+)(?: - .*)?$",
        "FAIL: tests/test_queue",
    ),
)
