"""How test runners complain."""

from noface.selftest.forms.form import Form

_PYTEST_GREEN = "...                                                                      [100%]\n3 passed in 0.02s\n"

FORMS = {
    "pytest": Form(
        """\
============================= test session starts ==============================
collected 3 items

tests/test_{name}.py ..F                                                 [100%]

=================================== FAILURES ===================================
__________________________________ test_label __________________________________

    def test_label():
>       assert read_label() == EXPECTED
E       AssertionError: the label desk expected '{clue}', and got '{guess}'
E       assert False

tests/test_{name}.py:14: AssertionError
=========================== short test summary info ============================
FAILED tests/test_{name}.py::test_label - AssertionError: the label desk expected '{clue}', and got '{guess}'
========================= 1 failed, 2 passed in 0.03s ==========================
""",
        green=_PYTEST_GREEN,
    ),
    "pytest_name": Form(
        """\
============================= test session starts ==============================
collected 3 items

tests/test_{name}.py ..F                                                 [100%]

=================================== FAILURES ===================================
_______________________________ test_label[{clue}] _______________________________

label = 'guess'

>       assert accepts(label)
E       assert False

tests/test_{name}.py:21: AssertionError
=========================== short test summary info ============================
FAILED tests/test_{name}.py::test_label[{clue}] - assert False
========================= 1 failed, 2 passed in 0.03s ==========================
""",
        green=_PYTEST_GREEN,
    ),
    "unittest": Form(
        """\
.F.
======================================================================
FAIL: test_label (tests.test_{name}.LabelTest.test_label)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "tests/test_{name}.py", line 11, in test_label
    self.assertEqual(read_label(), expected)
AssertionError: 'guess' != '{clue}'
- guess
+ {clue}


----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=1)
""",
        green="...\n----------------------------------------------------------------------\nRan 3 tests in 0.001s\n\nOK\n",
    ),
    "go_test": Form(
        """\
=== RUN   TestLabel
    label_test.go:17: Label() = "guess", want "{clue}"
--- FAIL: TestLabel (0.00s)
=== RUN   TestOther
--- PASS: TestOther (0.00s)
FAIL
FAIL\texample.org/labels\t0.004s
FAIL
""",
        green="=== RUN   TestLabel\n--- PASS: TestLabel (0.00s)\nPASS\nok  \texample.org/labels\t0.004s\n",
    ),
    "jest": Form(
        """\
FAIL tests/{name}.test.js
  ✓ starts (2 ms)
  ✕ reads the label (4 ms)

  ● reads the label

    expect(received).toBe(expected) // Object.is equality

    Expected: "{clue}"
    Received: "guess"

      10 | test('reads the label', () => {
    > 11 |   expect(readLabel()).toBe(expected);
         |                       ^
      12 | });

      at Object.toBe (tests/{name}.test.js:11:23)

Test Suites: 1 failed, 1 total
Tests:       1 failed, 1 passed, 2 total
Snapshots:   0 total
Time:        0.412 s
""",
        green="PASS tests/{name}.test.js\n\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\nTime:        0.3 s\n",
    ),
    "cargo_test": Form(
        """\
running 2 tests
test tests::starts ... ok
test tests::reads_the_label ... FAILED

failures:

---- tests::reads_the_label stdout ----

thread 'tests::reads_the_label' panicked at src/{name}.rs:31:9:
assertion `left == right` failed
  left: "guess"
 right: "{clue}"
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace


failures:
    tests::reads_the_label

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `--lib`
""",
        code=101,
        green="running 2 tests\ntest tests::starts ... ok\ntest tests::reads_the_label ... ok\n\n"
        "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
    ),
    "pytest_none": Form(
        """\
============================= test session starts ==============================
configfile: pyproject.toml (testpaths: checks/{clue})
collected 0 items

============================ no tests ran in 0.01s =============================
""",
        code=5,
        green=_PYTEST_GREEN,
    ),
    "unittest_none": Form(
        """\
discovering tests that begin with {clue}

----------------------------------------------------------------------
Ran 0 tests in 0.000s

NO TESTS RAN
""",
        code=5,
        green="...\n----------------------------------------------------------------------\nRan 3 tests in 0.001s\n\nOK\n",
    ),
    "jest_none": Form(
        """\
No tests found, exiting with code 1
Run with `--passWithNoTests` to exit with code 0
In /repo
  12 files checked.
  testMatch: **/{clue}/**/*.test.js - 0 matches
Pattern:  - 0 matches
""",
        green="PASS tests/{name}.test.js\n\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\nTime:        0.3 s\n",
    ),
}
