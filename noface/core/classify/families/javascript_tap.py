"""JavaScript's smaller test runners: ava, tape, uvu, jasmine, bun, and node's own."""

from noface.core.classify.kinds import NONE, RUNTIME, TEST, TIME
from noface.core.classify.rules import Level, NameRule, Rule

RULES = (
    Rule(
        "node-test.no-file",
        NONE,
        ("Could not find '",),
        r"^Could not find '.*'$",
        "Could not find '/repo/nothing'",
        tools=("node", "node --test"),
    ),
    Rule(
        "jasmine.expected",
        TEST,
        ("Expected ",),
        r"^\s+Expected .+ (?:not )?to (?:be|equal|have|contain|match|throw)\b",
        "    Expected 1 to be 2.",
        level=Level.TRACEBACK,
        only_in_tests=True,
    ),
    Rule(
        "tap.timeout",
        TIME,
        ("timed out after",),
        r"^not ok \d+ .*timed out after \d+ ?m?s",
        "not ok 1 waits timed out after 200ms",
        even_in_tests=True,
    ),
    Rule(
        "tap.no-tests",
        NONE,
        ("No tests were run",),
        r"^(?:Bail out! |  message: \"?)(?:Error: )?No tests were run",
        "Bail out! Error: No tests were run.",
        level=Level.SUMMARY,
        even_in_tests=True,
    ),
    Rule(
        "ava.filter",
        NONE,
        ("did not match the filters",),
        r"test files were found, but did not match the filters",
        "  ✘ Based on your configuration, 13 test files were found, but did not match the filters:",
    ),
    Rule(
        "ava.timeout",
        TIME,
        ("imed out while running tests", "no new tests completed within"),
        r"^\s*(?:✘|✖|×)?\s*(?:Timed out while running tests|Exited because no new tests completed within)",
        "  ✘ Timed out while running tests",
        even_in_tests=True,
    ),
    Rule(
        "node-test.timeout",
        TIME,
        ("testTimeoutFailure", "test timed out after"),
        r"failureType: '?testTimeoutFailure|^\s*(?:error: )?'?test timed out after \d+ms",
        "  failureType: 'testTimeoutFailure'",
        even_in_tests=True,
    ),
    Rule("tap.bail", RUNTIME, ("Bail out!",), r"^Bail out!", "Bail out! cannot start", level=Level.TRACEBACK),
)

NAMES = (
    NameRule("uvu.fail", ('FAIL  "',), r"^\s+FAIL  \"(?P<test>.*)\"$", '   FAIL  "totals"'),
    NameRule(
        "node-test.spec",
        ("✖ ",),
        r"^(?:\s*)✖ (?!failing tests|\S+\.(?:m|c)?[jt]s \()(?P<test>.+?) \([\d.]+m?s\)(?: # .*)?$",
        "✖ totals two lines (0.9ms)",
    ),
    NameRule(
        "ava.fail",
        ("✘ [fail]:", "✖ [fail]:", "[fail]"),
        r"^\s*[✘✖×] \[fail\]: (?P<test>.+?)(?: (?:Error|Assertion).*)?$",
        "  ✘ [fail]: totals two lines",
    ),
    NameRule("bun.fail", ("(fail) ",), r"^\(fail\) (?P<test>.+?)(?: \[[\d.]+m?s\])?$", "(fail) cart > totals [0.12ms]"),
    NameRule(
        "tap.not-ok",
        ("not ok ",),
        r"^not ok \d+ (?:- )?(?P<test>.+?)(?: # (?!TODO|SKIP|todo|skip).*| \(\d+ms\))?$",
        "not ok 1 - total of two lines",
    ),
)
