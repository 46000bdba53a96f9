"""Main moves while the worker is at it, into the very same lines."""

from noface.selftest.catalogue.family import elsewhere, family, helpless, shown
from noface.selftest.scenario import Advice, By, Scenario, Step

_MAIN = Step("main", By.NAMED, says="shared/{id}.txt")
_MERGE = Advice("merge_conflict", '{"guidance": "Keep the colleague\'s line, and write {code} below it."}')

MERGE_CONFLICT = family(
    "MERGE_CONFLICT",
    Scenario("the file in conflict", (_MAIN,), colleague=1),
    Scenario("its own earlier change", (Step("draft", By.DRAFT, drafts=True), _MAIN), colleague=1),
    Scenario("the resolver's word after two conflicts", (elsewhere("pytest"), _MAIN), advice=(_MERGE,), colleague=2),
    Scenario("the file in conflict, three times", (_MAIN,), colleague=3),
    Scenario("the file, and then what the test printed", (_MAIN, shown("pytest")), colleague=1),
    helpless("main never rests", _MAIN, colleague=99, runs_max=4),
)
