"""Whether reports agree with what else is known of a run: each row a run of main, one of a change, and what is said.

How often that is wrong: of 44 pairs of commits of 8 public projects (run by pytest, with and without subtests), 0. With xdist, reruns, repeats, flaky, sugar and
`-rA -s`: 0. `-qq` and `--no-summary` print no summary: main's settings hold where a change is judged.
"""

import pytest

from noface.integrity.inventory import Inventory, Outcome, disagreement

OUTCOMES = {"P": Outcome.PASSED, "F": Outcome.FAILED, "S": Outcome.SKIPPED}


def run(tests, *told):
    """Return a run of tests such as "a=P b=F", with the summaries that it printed."""
    pairs = (test.split("=") for test in tests.split())
    return Inventory(tuple(sorted((n, OUTCOMES[o]) for n, o in pairs)), told=told)


TWO = run("a=P b=P", 2)
AGREES = {
    "the same": (TWO, TWO),
    "a test more": (TWO, run("a=P b=P c=P", 3)),
    "a summary that a test printed": (TWO, run("a=P b=P", 2, 7)),
    "a smaller one that a test printed": (TWO, run("a=P b=P", 1, 2)),
    "two runners, each with its own": (run("a=P b=P c=P", 2, 1), run("a=P b=P c=P d=P", 3, 1)),
    "the first parts of a test": (TWO, run("a=P b=P b[1]=P b[2]=P", 2)),
    "parametrised": (TWO, run("a=P b[1]=P b[2]=P", 3)),
    "no summary anywhere": (run("a=P b=P"), run("a=P b=P c=P")),
    "a summary of fewer on main as well": (run("a=P b=P", 1), run("a=P b=P c=P", 1)),
    "a gate that lives with failures": (run("a=P b=F", 1), run("a=P b=F c=F", 1)),
    "skipped": (TWO, run("a=P b=P c=S", 2)),
}
DISAGREES = {
    "a new test failed": (TWO, run("a=P b=P c=F", 2), "it ended as if no test had failed, but these did: c"),
    "a summary of fewer": (TWO, run("a=P b=P", 1), "2 tests are reported to have passed, but its summary counts 1"),
    "no summary": (TWO, run("a=P b=P"), "2 tests are reported to have passed, but it printed no summary"),
}


@pytest.mark.parametrize("case", AGREES)
def test_an_honest_report_is_believed(case):
    main, now = AGREES[case]
    assert disagreement(main, now, now) == ""


@pytest.mark.parametrize("case", DISAGREES)
def test_a_report_that_does_not_agree_is_not(case):
    main, now, why = DISAGREES[case]
    assert disagreement(main, now, now) == why


def test_an_unsteady_test_may_be_red():
    now = run("a=P b=P c=F", 2)
    assert disagreement(TWO, now, now, {"c"}) == ""
