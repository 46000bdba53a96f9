"""How test runners complain."""

from noface.selftest.forms.form import Form

_PYTEST_GREEN = "...                                                                      [100%]\n3 passed in 0.02s\n"
_NOISE = "".join(f"INFO  shelf {number}: 17 labels read, none is missing\n" for number in range(2_000))
_UNITTEST_GREEN = f"...\n{'-' * 70}\nRan 3 tests in 0.001s\n\nOK\n"
_JEST_GREEN = (
    "PASS tests/{name}.test.js\n\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\nTime:        0.3 s\n"
)

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
    "pytest_scales": Form(
        """\
============================= test session starts ==============================
collected 3 items

tests/test_{name}.py ..F                                                 [100%]

=================================== FAILURES ===================================
__________________________________ test_label __________________________________

    def test_label():
>       assert read_label() == EXPECTED
E       AssertionError: these scales want a weight of '{clue}', not of '{guess}'
E       assert False

tests/test_{name}.py:14: AssertionError
=========================== short test summary info ============================
FAILED tests/test_{name}.py::test_label - AssertionError: these scales want a weight of '{clue}', not of '{guess}'
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
    "pytest_long": Form(
        _NOISE
        + """\
=================================== FAILURES ===================================
__________________________________ test_label __________________________________

    def test_label():
>       assert read_label() == EXPECTED
E       AssertionError: the label desk expected '{clue}', and got '{guess}'
E       assert False

tests/test_{name}.py:14: AssertionError
----------------------------- Captured stdout call -----------------------------
"""
        + _NOISE
        + """\
=========================== short test summary info ============================
FAILED tests/test_{name}.py::test_label - AssertionError
================== 1 failed, 2 passed, 3980 warnings in 61.03s =================
""",
        green=_PYTEST_GREEN,
    ),
    "pytest_two": Form(
        """\
============================= test session starts ==============================
collected 3 items

tests/test_{name}.py .FF                                                 [100%]

=================================== FAILURES ===================================
__________________________________ test_front __________________________________

    def test_front():
>       assert front() == FRONT
E       AssertionError: on the front the desk expected '{code}'

tests/test_{name}.py:9: AssertionError
__________________________________ test_back ___________________________________

    def test_back():
>       assert back() == BACK
E       AssertionError: on the back the desk expected '{next}'

tests/test_{name}.py:15: AssertionError
=========================== short test summary info ============================
FAILED tests/test_{name}.py::test_front - AssertionError
FAILED tests/test_{name}.py::test_back - AssertionError
========================= 2 failed, 1 passed in 0.03s ==========================
""",
        green=_PYTEST_GREEN,
    ),
    "mocha_coloured": Form(
        """\

\033[0m  labels\033[0m
  \033[32m  ✔\033[0m\033[90m starts\033[0m
  \033[31m  1) reads the label\033[0m


\033[92m \033[0m\033[32m 1 passing\033[0m\033[90m (4ms)\033[0m
\033[31m  1 failing\033[0m

\033[0m  1) labels
       reads the label:

\033[0m\033[31m      AssertionError [ERR_ASSERTION]: 'guess' == '{clue}'\033[0m
\033[90m      at Context.<anonymous> (tests/{name}.js:8:12)\033[0m

""",
        green="\n  labels\n    ✔ starts\n    ✔ reads the label\n\n\n  2 passing (4ms)\n",
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
        green=_UNITTEST_GREEN,
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
        green=_JEST_GREEN,
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
        green=_UNITTEST_GREEN,
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
        green=_JEST_GREEN,
    ),
}
