"""Tests that fail, and tests that are not there."""

from noface.selftest.catalogue.family import elsewhere, family, helpless, shown, stronger, thinking
from noface.selftest.scenario import By, Hint, Scenario, Step, Wrong

TEST_FAILURE = family(
    "TEST_FAILURE",
    Scenario("the failing test's message", (shown("pytest_scales"),), priority=1),
    Scenario("the failing test's name", (shown("pytest_name"),)),
    Scenario("what the test printed", (shown("jest"),), "npx jest"),
    Scenario(
        "the lesson of an earlier issue",
        (Step("code", By.TOLD, form="pytest_scales"),),
        depends_on=("test-failure-1",),
        shares="test-failure-1",
    ),
    Scenario(
        "the earlier diff, and the message",
        (Step("draft", By.DRAFT, form="go_test", drafts=True), shown("go_test")),
        "go test",
    ),
    Scenario("a stronger model", (stronger("cargo_test"),), "cargo test"),
    Scenario("extended thinking", (thinking("unittest"),), "python -m unittest"),
    Scenario("the messages of three attempts", (shown("pytest"), shown("unittest", "next"), shown("go_test", "last"))),
    Scenario("the line that counts in a long log", (shown("pytest_long"),)),
    Scenario("both of the tests that failed", (shown("pytest_two"), shown("pytest_two", "next"))),
    Scenario("what was printed in colours", (shown("mocha_coloured"),), "npx mocha"),
    Scenario(
        "its own test's message, though another test broke as well",
        (Step("code", By.TOLD, Wrong.BREAKS, form="pytest", shown=True),),
    ),
    helpless("nothing helps", Step("never", form="pytest")),
    helpless(
        "nothing helps, and the issue allows two attempts", Step("never", form="jest"), max_attempts=2, runs_max=2
    ),
)

NO_TESTS = family(
    "NO_TESTS",
    Scenario("the runner's own words", (shown("pytest_none"),)),
    Scenario("the pattern it looked for", (shown("jest_none"),), "npx jest"),
    Scenario("how test names begin", (shown("unittest_none"),), "python -m unittest"),
    Scenario(
        "the hint for an empty run",
        (elsewhere("pytest_none"),),
        hint=Hint("Tests are collected from {code}.", error_pattern="no tests ran"),
    ),
    Scenario("a stronger model", (stronger("jest_none"),), "npx jest"),
    helpless("nothing helps", Step("never", form="unittest_none"), tool="python -m unittest"),
)
