"""Linters that object, and workers that change nothing."""

from noface.selftest.catalogue.family import elsewhere, family, heeds, helpless, shown, stronger
from noface.selftest.scenario import Advice, Hint, Scenario, Step, Wrong

LINT_FAILURE = family(
    "LINT_FAILURE",
    Scenario("the linter's message", (shown("ruff"),), "ruff check"),
    Scenario("the rule's pattern", (shown("eslint"),), "eslint"),
    Scenario("the type checker's message", (shown("mypy"),), "mypy"),
    Scenario(
        "the hint for the rule",
        (elsewhere("shellcheck"),),
        "shellcheck",
        hint=Hint("SC2154 in our scripts: the name is {code}.", error_regex=r"SC2154 \((warning|error)\)"),
    ),
    Scenario("a stronger model", (stronger("rubocop"),), "rubocop"),
    Scenario("both findings, one after the other", (shown("ruff"), shown("mypy", "next")), "ruff check"),
    helpless("nothing helps", Step("never", form="eslint"), tool="eslint"),
)

_LOOKED = "I looked at the labels. All is in order as it is."

NO_DIFF = family(
    "NO_DIFF",
    Scenario("that nothing was changed", (heeds("(?i)previous attempt changed nothing", Wrong.NOTHING, _LOOKED),)),
    Scenario("that protected files are put back", (heeds("put back: [^\n]*conftest", Wrong.PROTECTED),)),
    Scenario(
        "the hint for idle runs",
        (elsewhere("pytest", wrong=Wrong.NOTHING),),
        hint=Hint("If nothing seems wrong: the label is {code}.", error_pattern="changed nothing"),
    ),
    Scenario("a stronger model", (stronger("pytest", Wrong.NOTHING, _LOOKED),)),
    Scenario(
        "the diagnosis of a repeated failure",
        (elsewhere("pytest", wrong=Wrong.NOTHING),),
        advice=(
            Advice(
                "diagnosis",
                '{"cause": "The worker does not see what is wrong.", "recoverable": "yes",'
                ' "strategy": "retry_modified", "modified": {"label": "write {code}"}}',
            ),
        ),
    ),
    helpless("nothing helps", Step("never", wrong=Wrong.NOTHING, words=_LOOKED)),
)
