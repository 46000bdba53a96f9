"""What runners print. The forms of cargo 1.95, go 1.19, CTest 3.25 and node 20 are those of real runs, shortened.

nextest, bats and the runs that were cut off are written by hand: none of them ran here.
"""

import pytest
from support.cases import cases

from noface.integrity.inventory import Outcome
from noface.integrity.inventory_text import counted_tests, named_tests

CARGO = """
running 3 tests
test tests::later ... ignored
test tests::adds ... ok
test tests::panics - should panic ... ok

test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.19s


running 3 tests
test leaves ... ok
test whole ... ok
test fails ... FAILED

failures:
    fails

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.11s


running 1 test
test src/lib.rs - add (line 1) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.06s
"""
CARGO_ERR = """
    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.51s
     Running unittests src/lib.rs (target/debug/deps/stock-55cdf1dd945a33ad)
     Running tests/all.rs (target/debug/deps/all-f59c21dfecf4e602)
error: test failed, to rerun pass `--test all`
   Doc-tests stock
"""
CARGO_IDS = {
    "stock src/lib.rs::tests::later": "SKIPPED",
    "stock src/lib.rs::tests::adds": "PASSED",
    "stock src/lib.rs::tests::panics": "PASSED",
    "all tests/all.rs::leaves": "PASSED",
    "all tests/all.rs::whole": "PASSED",
    "all tests/all.rs::fails": "FAILED",
    "doc::src/lib.rs - add": "PASSED",
}
GO = """=== RUN   TestAdds
noise
=== RUN   TestAdds/zero
--- PASS: TestAdds (0.00s)
    --- PASS: TestAdds/zero (0.00s)
=== RUN   TestSkips
    a_test.go:4: now
--- SKIP: TestSkips (0.00s)
=== RUN   TestFails
    a_test.go:5: red
--- FAIL: TestFails (0.00s)
FAIL
FAIL	example.com/stock	0.002s
=== RUN   TestAdds
--- PASS: TestAdds (0.00s)
PASS
ok  	example.com/stock/sub	(cached)
?   	example.com/stock/none	[no test files]
FAIL
"""
GO_EXIT = """=== RUN   TestAdds
--- PASS: TestAdds (0.00s)
=== RUN   TestLeaves
--- FAIL: TestLeaves (0.00s)
panic: unexpected call to os.Exit(0) during test [recovered]
	panic: unexpected call to os.Exit(0) during test
FAIL	example.com/stock	0.006s
"""
GO_FORGED = """=== RUN   TestAdds
    b_test.go:4: red
--- FAIL: TestAdds (0.00s)
FAIL
ok  	example.com/stock/sub	0.003s
"""
GO_JSON = """{"Time":"2026-11-22T09:35:46Z","Action":"run","Package":"example.com/stock","Test":"TestAdds"}
{"Time":"2026-11-22T09:35:46Z","Action":"output","Package":"example.com/stock","Test":"TestAdds","Output":"--- PASS: TestAdds (0.00s)\\n"}
{"Time":"2026-11-22T09:35:46Z","Action":"pass","Package":"example.com/stock","Test":"TestAdds","Elapsed":0}
{"Time":"2026-11-22T09:35:46Z","Action":"skip","Package":"example.com/stock","Test":"TestSkips","Elapsed":0}
{"Time":"2026-11-22T09:35:46Z","Action":"pass","Package":"example.com/stock","Elapsed":0.003}
"""
CTEST = """Test project /build
    Start 1: adds
1/5 Test #1: adds .............................   Passed    0.00 sec
    Start 2: two words
2/5 Test #2: two words ........................   Passed    0.00 sec
    Start 3: fails
3/5 Test #3: fails ............................***Failed    0.00 sec
    Start 4: skips
4/5 Test #4: skips ............................***Skipped   0.00 sec
    Start 5: disabled
5/5 Test #5: disabled .........................***Not Run (Disabled)   0.00 sec

75% tests passed, 1 tests failed out of 4
"""
TAP_NESTED = """TAP version 13
# Subtest: passes
ok 1 - passes
  ---
  duration_ms: 0.6
  ...
# Subtest: fails
not ok 2 - fails
# Subtest: skips
ok 3 - skips # SKIP
# Subtest: todo
not ok 4 - todo # TODO
# Subtest: suite
    # Subtest: deep
    ok 1 - deep
    # Subtest: x
        # Subtest: y
        ok 1 - y
        1..1
    ok 2 - x
    1..2
ok 5 - suite
1..5
# tests 8
"""
PROVE = """t/a.t ..
1..2
ok 1 - adds
ok 2
ok
t/b.t ..
ok 1 - adds
not ok 2 - fails
1..2
Dubious, test returned 1
"""
BATS = "1..2\nok 1 adds # skip not today\nok 2 takes away # in 12 ms\n"
NEXTEST = """    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.02s
────────────
 Nextest run ID 0c9a1c1e with nextest profile: default
    Starting 3 tests across 2 binaries (1 test skipped)
        PASS [   0.003s] (1/3) stock tests::adds
        FAIL [   0.004s] (2/3) stock::all fails
  TRY 1 FAIL [   0.003s] (3/3) stock tests::flaky
  TRY 2 PASS [   0.003s] (3/3) stock tests::flaky
────────────
     Summary [   0.005s] 3 tests run: 2 passed (1 flaky), 1 failed, 1 skipped
        FAIL [   0.004s] (2/3) stock::all fails
error: test run failed
"""
NEXTEST_CUT = """        PASS [   0.003s] stock tests::adds
        FAIL [   0.004s] stock::all fails
     Summary [   0.005s] 2/3 tests run: 1 passed, 1 failed, 0 skipped
"""
RECORDED = {
    "cargo": (CARGO, CARGO_ERR, CARGO_IDS, True),
    "cargo, uncaptured": (
        "running 2 tests\ntest a ... noise\nok\ntest b ... more\nFAILED\ntest result: FAILED. 1 passed; 1 failed\n",
        "",
        {"a": "PASSED", "b": "FAILED"},
        True,
    ),
    "cargo, left early": (
        "running 3 tests\ntest fails ... ok\ntest whole ... ok\n",
        "",
        {"fails": "PASSED", "whole": "PASSED"},
        False,
    ),
    "go": (
        GO,
        "",
        {
            "example.com/stock::TestAdds": "PASSED",
            "example.com/stock::TestAdds/zero": "PASSED",
            "example.com/stock::TestSkips": "SKIPPED",
            "example.com/stock::TestFails": "FAILED",
            "example.com/stock/sub::TestAdds": "PASSED",
        },
        True,
    ),
    "go, left early": (
        GO_EXIT,
        "",
        {"example.com/stock::TestAdds": "PASSED", "example.com/stock::TestLeaves": "FAILED"},
        True,
    ),
    "go, forged exit code": (GO_FORGED, "", {"example.com/stock/sub::TestAdds": "FAILED"}, True),
    "go, killed": ("=== RUN   TestAdds\n", "", {"TestAdds": "FAILED"}, False),
    "go -json": (
        GO_JSON,
        "",
        {"example.com/stock::TestAdds": "PASSED", "example.com/stock::TestSkips": "SKIPPED"},
        True,
    ),
    "ctest": (
        CTEST,
        "",
        {"adds": "PASSED", "two words": "PASSED", "fails": "FAILED", "skips": "SKIPPED", "disabled": "SKIPPED"},
        True,
    ),
    "TAP, nested": (
        TAP_NESTED,
        "",
        {
            "passes": "PASSED",
            "fails": "FAILED",
            "skips": "SKIPPED",
            "todo": "SKIPPED",
            "suite": "PASSED",
            "suite > deep": "PASSED",
            "suite > x": "PASSED",
            "suite > x > y": "PASSED",
        },
        True,
    ),
    "TAP of prove": (
        PROVE,
        "",
        {"t/a.t::adds": "PASSED", "t/a.t::point 2": "PASSED", "t/b.t::adds": "PASSED", "t/b.t::fails": "FAILED"},
        True,
    ),
    "TAP of bats": (BATS, "", {"adds": "SKIPPED", "takes away": "PASSED"}, True),
    "TAP, cut off": ("1..3\nok 1 - adds\n", "", {"adds": "PASSED"}, False),
    "TAP, bailed out": ("1..1\nok 1 - adds\nBail out!  no\n", "", {"adds": "PASSED"}, False),
    "nextest": (
        "",
        NEXTEST,
        {"stock::tests::adds": "PASSED", "stock::all::fails": "FAILED", "stock::tests::flaky": "PASSED"},
        True,
    ),
    "nextest, cut off": ("", NEXTEST_CUT, {"stock::tests::adds": "PASSED", "stock::all::fails": "FAILED"}, False),
}


@cases("name", RECORDED)
def test_a_runners_output_names_its_tests(name):
    out, err, tests, complete = RECORDED[name]
    (found,) = named_tests(out, err)
    assert {test: outcome.value for test, outcome in found.tests} == tests
    assert found.complete == complete


def test_headers_of_cargo_are_found_where_its_output_is_one_stream():
    head, first, rest = CARGO.partition("\nrunning 3 tests\ntest leaves")
    one = "     Running unittests src/lib.rs (target/debug/deps/stock-55cdf1dd945a33ad)\n" + head
    one += "\n     Running tests/all.rs (target/debug/deps/all-f59c21dfecf4e602)\n" + first + rest
    assert named_tests(one) == named_tests(CARGO, CARGO_ERR)


def test_colours_are_no_part_of_a_name():
    (found,) = named_tests("\x1b[32m1..1\x1b[0m\nok 1 - \x1b[1madds\x1b[0m\n")
    assert found.tests == (("adds", Outcome.PASSED),)


@pytest.mark.parametrize(
    "text", ["", "ok\n", "all is ok 1\n1 passed", "running late\n", "1..2\n", '{"Action":"pass","Test":"']
)
def test_other_output_names_nothing(text):
    assert named_tests(text) == []


@pytest.mark.parametrize(
    ("command", "stdout", "stderr", "count"),
    [
        ("pytest", "..s [100%]\n2 passed, 1 skipped in 0.02s\n", "", 2),
        ("python -m unittest", "", "...\n" + "-" * 70 + "\nRan 3 tests in 0.000s\n\nOK (skipped=1)\n", 2),
        ("make check", "12 examples, 2 failures\n", "", 10),
        ("npx ava", "  3 tests passed\n  1 test skipped\n", "", 3),
        ("make test", "Testing malloc: OK (tested 5 failures)\nTests failed: 1\nTests passed: 348\n####\n", "", 348),
    ],
)
def test_a_number_counts_where_there_are_no_names(command, stdout, stderr, count):
    assert counted_tests(stdout, stderr, command).count == count


def test_no_number_is_no_inventory():
    assert counted_tests("All good\n", "", "make lint") is None


CARGO_FAILS = """
running 1 test
test a ... FAILED

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.07s

"""
CARGO_NEXT = """
running 1 test
test b ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""
CARGO_STOPS = """
     Running unittests src/lib.rs (target/debug/deps/crate1-55cdf1dd945a33ad)
error: test failed, to rerun pass `--lib`
"""
CARGO_GOES_ON = """     Running tests/b.rs (target/debug/deps/b-f59c21dfecf4e602)
error: 1 target failed:
    `--lib`
"""


def test_cargo_that_stops_at_the_first_binary_that_fails_has_not_run_all():
    (stopped,) = named_tests(CARGO_FAILS, CARGO_STOPS)
    (whole,) = named_tests(CARGO_FAILS + CARGO_NEXT, CARGO_STOPS + CARGO_GOES_ON)
    assert (stopped.complete, whole.complete) == (False, True)
