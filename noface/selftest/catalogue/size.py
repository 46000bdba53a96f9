"""Work that is too much for one attempt."""

from dataclasses import replace

from noface.selftest.catalogue.family import elsewhere, fails, family, halfway, heeds, helpless, stronger
from noface.selftest.scenario import Advice, By, Hint, Scenario, Step, Wrong

_LESS = r"(?i)do less|smallest (useful )?part"
_TURNS = "Reached max turns (12)"
_PARTS = Advice(
    "breakdown",
    '{"children": [{"key": "a", "title": "The first shelf", "body": "Write the label {one}.",'
    ' "paths": ["work/{id}.1.txt"], "accept": ["pytest {id} --only one"]},'
    ' {"key": "b", "title": "The second shelf", "body": "Write the label {two}.",'
    ' "paths": ["work/{id}.2.txt"], "accept": ["pytest {id} --only two"], "covers": [0]}]}',
)
_UNEQUAL = replace(_PARTS, answer=_PARTS.answer.replace("Write the label {two}.", "Find the label on the shelf."))


def _parted(wrong: Wrong, words: str = "") -> tuple[Step, ...]:
    return tuple(Step(label, By.PART, wrong, words=words) for label in ("one", "two"))


TIMEOUT = family(
    "TIMEOUT",
    Scenario("the order to do less", (heeds(_LESS, Wrong.STALLS),), priority=0),
    Scenario("smaller issues", _parted(Wrong.STALLS), advice=(_PARTS,), priority=0),
    Scenario("the half that was done", (halfway(Wrong.STALLS),), priority=0),
    Scenario(
        "the hint for silence",
        (elsewhere("pytest", wrong=Wrong.STALLS),),
        hint=Hint("Do not ask the desk, it sleeps; write {code}.", error_pattern="no sign of life"),
        priority=0,
    ),
    Scenario("that its whole time was up", (heeds(_LESS, Wrong.CHATTERS),), model="slow", priority=0),
    Scenario("a stronger model", (stronger("pytest", Wrong.STALLS),), priority=0),
    Scenario(
        "why one of its parts could not be done",
        (
            Step("one", By.FILE, Wrong.STALLS, says="work/{id}.1.txt"),
            Step("two", By.TOLD, Wrong.CRASHES, words="FATAL: the shelf of {two} is locked"),
        ),
        advice=(_UNEQUAL,),
        max_attempts=3,
        priority=0,
    ),
    helpless("nothing helps", Step("never", wrong=Wrong.STALLS), max_attempts=3, runs_max=3, priority=0),
)

RESOURCE_EXHAUSTED = family(
    "RESOURCE_EXHAUSTED",
    Scenario("the order to do less", (heeds(_LESS, Wrong.TURNS, _TURNS),)),
    Scenario(
        "that only a part was reported",
        (heeds(_LESS, Wrong.NOTHING, 'Some of it.{"status": "partial", "summary": "There are too many shelves."}'),),
    ),
    Scenario("what did not fit", (fails(Wrong.CONTEXT, "the shelf {code} alone has 400000 labels"),)),
    Scenario("that the diff was too big", (heeds("diff size", Wrong.TOO_MUCH),)),
    Scenario("the half that was done", (halfway(Wrong.TURNS, _TURNS),)),
    Scenario("smaller issues", _parted(Wrong.TURNS, _TURNS), advice=(_PARTS,)),
    Scenario(
        "the hint for long runs",
        (replace(elsewhere("pytest", wrong=Wrong.TURNS), words=_TURNS),),
        hint=Hint("Do not count the shelves; write {code}.", error_regex="(?i)max turns"),
    ),
    helpless("nothing helps", Step("never", wrong=Wrong.TURNS, words=_TURNS)),
)
