"""A gate whose command names what is not there, against code that misses a name of its own."""

import pytest

from noface.diagnosis.evidence import GateEvidence
from noface.diagnosis.gate import STAYS, WATCHES, classify
from noface.model.taxonomy import FailureKind

FILES = ("src/cart.py", "src/lib.rs", "tests/test_cart.py", "go.mod", "cart/cart.go", "vendor/modules.txt")


def kind_of(command: str, output: str, code: int = 1) -> str | None:
    verdict = classify(GateEvidence(command, code, "", output, repo_files=FILES))
    return verdict.kind and verdict.kind.value


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("runner tests/unit", "no such file: tests/unit"),
        ("runner ./scripts/check", "Error: ENOENT: no such file or directory, stat '/home/ci/repo/scripts/check'"),
        ("buildtool release", "*** Do not know how to make target `release'.  Stop."),
        ("tasks deploy", "No idea what 'deploy' is!"),
        ("runner --project=webkit", 'Error: Project(s) "webkit" not found. Available projects: "chromium"'),
        ("composer verify", 'Command "verify" is not defined.'),
    ],
)
def test_what_the_command_names_and_the_project_has_not_is_the_gates_fault(command: str, output: str):
    assert kind_of(command, output) == FailureKind.ENVIRONMENT


@pytest.mark.parametrize(
    ("command", "output", "kind"),
    [
        (
            "cargo test total",
            "error[E0425]: cannot find function `total` in this scope\n --> src/lib.rs:4:5",
            "SYNTAX_ERROR",
        ),
        ("runner tests/test_cart.py", "Cannot find package 'x' imported from /repo/tests/test_cart.py", "ENVIRONMENT"),
        ("sh check.sh", "src/cart.py: 2: .: cannot open ./lib/basket.sh: No such file", "RUNTIME_ERROR"),
        ("jshint src", "src/cart.js: line 3, col 5, 'src' is not defined.\n\n1 error", "LINT_FAILURE"),
    ],
)
def test_what_the_code_names_is_not(command: str, output: str, kind: str):
    assert kind_of(command, output) == kind


OF_SHOP = "FAIL\tgithub.com/acme/shop/cart [setup failed]\n# github.com/acme/shop/cart\n"
NOT_PROVIDED = "cart/cart.go:3:8: no required module provides package {}; to add it:"


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        (OF_SHOP + NOT_PROVIDED.format("github.com/acme/shop/tax"), "SYNTAX_ERROR"),
        (OF_SHOP + NOT_PROVIDED.format("github.com/spf13/cobra"), "ENVIRONMENT"),
        (NOT_PROVIDED.format("example.com/shop/tax"), "SYNTAX_ERROR"),
        ("cart/cart.go:3:8: package shop/tax is not in GOROOT (/usr/lib/go/src/shop/tax)", "SYNTAX_ERROR"),
    ],
)
def test_a_go_package_below_a_module_that_is_tested_is_the_projects_own(output: str, kind: str):
    assert kind_of("go test ./...", output) == kind


def test_xargs_that_stops_at_255_has_not_run_into_a_time_limit():
    said = "PHP Parse error:  syntax error, unexpected end of file in src/a.php on line 3\n"
    command = "find src -name '*.php' | xargs -n1 php -l"
    assert kind_of(command, said + "xargs: php: exited with status 255; aborting", 124) == FailureKind.SYNTAX_ERROR
    assert kind_of(command, said, 124) == FailureKind.TIMEOUT


TABLE = """Run Summary:    Type  Total    Ran Passed Failed Inactive
              suites      1      1    n/a      0        0
               tests      3      3      2      1        0"""


@pytest.mark.parametrize(
    ("output", "ran"),
    [
        (TABLE, 3),
        ("Ran 1 tests, 0 results as expected, 0 unexpected, 1 skipped (1.0 sec)", 0),
        ("1 passes, 0 failures, 0 errors in 0.000043 seconds", 1),
        (" - Passed: 2\n - Skipped: 1\n - Failed: 1", 3),
        ("1/1 passed (0 failed)", 1),
        ("1 failed, 172 passed, 12 subtests passed, 1 subtests failed in 3.79s", 173),
        ("\t\t=== cart Summary ===\n", 0),
    ],
)
def test_summaries_of_every_form_say_how_many_tests_ran(output: str, ran: int):
    assert classify(GateEvidence("runner", 1, output, "")).tests_run == ran


VITEST = """
 RUN  v4.1.12 /home/ada/shop

 ✓ test/cart.test.mjs (2 tests) 3ms
 ✓ test/till.test.mjs (2 tests) 5ms

 Test Files  2 passed (2)
      Tests  {} (4)
   Start at  13:12:27
   Duration  760ms (transform 38ms, setup 0ms, import 85ms, tests 8ms, environment 0ms)
"""
JEST = """
Test Suites: 1 passed, 1 total
Tests:       {}, 4 total
Snapshots:   0 total
Time:        0.856 s
Ran all test suites matching t/j.spec.js.
"""
AVA = "  - [skip] c\n  - [todo] d\n  ✔ a\n  ✔ b\n  ─\n\n  2 tests passed\n  1 test skipped\n  1 test todo\n"
TAP = "# No coverage generated\n# { total: 3, pass: 2, skip: 1 }\n# time=1985.073ms\n"
UVU = "u.mjs\n• •   (2 / 2)\n\n  Total:     2\n  Passed:    2\n  Skipped:   1\n  Duration:  0.63ms\n"
NODE = "{0} tests 3\n{0} suites 0\n{0} pass 2\n{0} fail 0\n{0} cancelled 0\n{0} skipped 1\n{0} todo 0\n{0} duration_ms 252.7\n"
BUN = " 2 pass\n 1 skip\n 1 todo\n 0 fail\n 2 expect() calls\nRan 4 tests across 1 file. [5.00ms]\n"


@pytest.mark.parametrize(
    ("output", "ran"),
    [
        (VITEST.format("4 passed"), 4),
        (VITEST.format("3 passed | 1 skipped"), 3),
        (VITEST.format("2 passed | 1 skipped | 1 todo"), 2),
        (VITEST.format("1 failed | 2 passed | 1 todo"), 3),
        (VITEST.format("4 failed"), 4),
        (JEST.format("4 passed"), 4),
        (JEST.format("1 skipped, 1 todo, 2 passed"), 2),
        ("  2 passing (2ms)\n  1 pending\n", 2),
        ("ok 1 x a\nok 2 x b\nok 3 x c # SKIP -\n# tests 2\n# pass 2\n# fail 0\n1..3\n", 2),
        (NODE.format("ℹ"), 2),
        (NODE.format("#"), 2),
        (AVA, 2),
        (TAP, 2),
        (UVU, 2),
        ("1..2\n# tests 2\n# pass  2\n\n# ok\n", 2),
        ("3 specs, 0 failures, 1 pending spec\nFinished in 0.009 seconds\n", 2),
        ("ok | 2 passed | 0 failed | 1 ignored (56ms)\n", 2),
        (BUN, 2),
    ],
)
def test_the_summaries_of_script_runners_say_how_many_tests_ran(output: str, ran: int):
    assert classify(GateEvidence("npm test", 0, output, "")).tests_run == ran


@pytest.mark.parametrize("output", ["Executed: 0 migrations", "no tests were run for module b\nok", "0 warnings"])
def test_a_passing_gate_that_does_nothing_else_is_no_run_without_tests(output: str):
    assert classify(GateEvidence("release-check", 0, output, "")).kind is None


def test_zero_failures_alone_say_nothing_of_how_many_tests_there_were():
    assert classify(GateEvidence("runner", 0, "0 failed", "")).kind is None


OPEN = "PASS js/a.test.js\n\nTests:       3 passed, 3 total\nRan all test suites.\n"
WATCHING = "\nWatch Usage\n › Press f to run only failed tests.\n › Press q to quit watch mode.\n"


@pytest.mark.parametrize(
    ("output", "rule"),
    [
        (OPEN + "Jest did not exit one second after the test run has completed.\n", STAYS),
        ("..\n---------\nRan 2 tests in 0.001s\n\nOK\n", STAYS),
        ("ok  \tshop\t0.2s\n--- PASS: TestA (0.00s)\nPASS\n===== 3 passed in 0.20s =====\n", STAYS),
        ("  2 passing (2ms)\n", STAYS),
        (OPEN + WATCHING, WATCHES),
        (
            VITEST.format("4 passed")
            + "\n PASS  Waiting for file changes...\n       press h to show help, press q to quit\n",
            WATCHES,
        ),
        ("test_a PASSED\ntest_b ", "exit.time-limit"),
        (OPEN.replace("3 passed, 3", "1 failed, 2 passed, 3"), "exit.time-limit"),
        ("collected 90 items\ntests/test_a.py ....", "exit.time-limit"),
        ("1..3\nok 1 joins words\nok 2 counts lines\n", "exit.time-limit"),
        ("test result: ok. 3 passed; 0 failed; 0 ignored\n\n   Doc-tests shop\n\nrunning 1 test\n", "exit.time-limit"),
        ("", "exit.time-limit"),
    ],
)
def test_a_runner_that_has_passed_and_does_not_end_is_no_work_that_takes_too_long(output: str, rule: str):
    verdict = classify(GateEvidence("npm test", None, output, "", 60.0, 60.0, timed_out=True))
    assert (verdict.kind, verdict.rule) == (FailureKind.TIMEOUT, rule)
