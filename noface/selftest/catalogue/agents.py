"""Agents that answer in the wrong form, and agents that die."""

from dataclasses import replace

from noface.selftest.catalogue.family import elsewhere, fails, family, halfway, heeds, helpless, stronger
from noface.selftest.scenario import Hint, Scenario, Step, Wrong

_FORM = "Output does not match required schema: /label: must be boolean"

OUTPUT_FORMAT = family(
    "OUTPUT_FORMAT",
    Scenario("what was wrong with the form", (fails(Wrong.MALFORMED, "Output does not match: /label must be {code}"),)),
    Scenario("the reminder of the form", (heeds("(?i)wrong with the form", Wrong.MALFORMED, _FORM),)),
    Scenario("the work that was done already", (halfway(Wrong.MALFORMED, _FORM),)),
    Scenario(
        "the hint for bad answers",
        (replace(elsewhere("pytest", wrong=Wrong.MALFORMED), words=_FORM),),
        hint=Hint("The answer's label is {code}.", error_pattern="does not match required schema"),
    ),
    Scenario("a stronger model", (stronger("pytest", Wrong.MALFORMED, _FORM),)),
    helpless("nothing helps", Step("never", wrong=Wrong.MALFORMED, words=_FORM), runs_max=6),
)

AGENT_CRASH = family(
    "AGENT_CRASH",
    Scenario("the crash's message", (fails(Wrong.CRASHES, "FATAL: label plugin {code} is not loaded"),)),
    Scenario("the work that was done already", (halfway(Wrong.CRASHES, "FATAL: out of memory"),)),
    Scenario("that the run broke off", (heeds("(?i)broke off", Wrong.KILLED),)),
    Scenario(
        "the hint for the crash",
        (replace(elsewhere("pytest", wrong=Wrong.CRASHES), words="FATAL: cannot map the label heap"),),
        hint=Hint("Without a label heap, write {code}.", error_regex="label heap$"),
    ),
    Scenario("a stronger model", (stronger("pytest", Wrong.CRASHES, "FATAL: heap limit"),)),
    helpless("nothing helps", Step("never", wrong=Wrong.KILLED)),
)
