"""Work outside its limits, and work against the gates."""

from dataclasses import replace

from noface.selftest.catalogue.family import elsewhere, fails, family, heeds, helpless
from noface.selftest.scenario import Advice, Hint, Scenario, Step, Wrong

_OWN = ("work/{id}*",)
_RESOLVER = Advice("boundary", '{"resolution": "redesign", "guidance": "It can be done inside: write {code}."}')
_PERSON = Advice("boundary", '{"resolution": "person", "guidance": "Only a person can say who owns the notes."}')
_WIDER = Advice(
    "boundary", '{"resolution": "expand", "paths": ["notes/{id}.txt"], "guidance": "The note belongs to the work."}'
)
_SHUT_OUT = (
    'I stopped.{"status": "blocked", "summary": "The work needs a file that I must not change.",'
    ' "blocked_reason": "boundary_violation"}'
)
_WRONG_TEST = (
    'I stopped.{"status": "blocked", "summary": "The test contradicts the guide.", "blocked_reason": "contract_change"}'
)

BOUNDARY_VIOLATION = tuple(
    replace(one, paths=tuple(path.replace("{id}", one.id) for path in _OWN))
    for one in family(
        "BOUNDARY_VIOLATION",
        Scenario(
            "the resolver's way inside the limits", (elsewhere("pytest", wrong=Wrong.OUTSIDE),), advice=(_RESOLVER,)
        ),
        Scenario("the order to stay within the paths", (heeds("(?i)stay within the paths", Wrong.OUTSIDE),)),
        Scenario(
            "which file was outside", (heeds(r"(?i)outside the issue's paths[^\n]*notes/{id}\.txt", Wrong.OUTSIDE),)
        ),
        Scenario(
            "the hint for strays",
            (elsewhere("pytest", wrong=Wrong.OUTSIDE),),
            hint=Hint("Notes go into the label: {code}.", error_pattern="outside the issue's paths"),
        ),
        Scenario("the resolver's answer to a report", (fails(Wrong.NOTHING, _SHUT_OUT),), advice=(_RESOLVER,)),
        helpless("nothing helps", Step("never", wrong=Wrong.OUTSIDE), runs_max=2),
        helpless("the resolver asks for a person", Step("never", wrong=Wrong.OUTSIDE), advice=(_PERSON,), runs_max=1),
        helpless(
            "the resolver would widen the paths", Step("never", wrong=Wrong.OUTSIDE), advice=(_WIDER,), runs_max=1
        ),
        helpless("the worker argues against a test", Step("never", wrong=Wrong.NOTHING, words=_WRONG_TEST), runs_max=1),
    )
)

_TEST = (
    "tests/test_{name}.py",
    """\
import pytest


def label():
    return "label"


def test_label():
    assert label()
    assert label() != "guess"


def test_error():
    with pytest.raises(ValueError, match="label"):
        raise ValueError(label())
""",
)

GATE_TAMPERING = tuple(
    replace(one, files=((_TEST[0].replace("{name}", one.id.replace("-", "_")), _TEST[1]),))
    for one in family(
        "GATE_TAMPERING",
        Scenario("the order to leave the tests alone", (heeds("(?i)previous attempt weakened", Wrong.WEAKENS),)),
        Scenario("the resolver's way without it", (elsewhere("pytest", wrong=Wrong.WEAKENS),), advice=(_RESOLVER,)),
        Scenario("which tests were weakened", (heeds(r"2 assertion\(s\) fewer", Wrong.WEAKENS),)),
        Scenario("that a test was skipped", (heeds(r"newly skipped", Wrong.SKIPS),)),
        Scenario(
            "the hint for weak tests",
            (elsewhere("pytest", wrong=Wrong.SKIPS),),
            hint=Hint("The tests are right; write {code}.", error_pattern="tests were weakened"),
        ),
        helpless("nothing helps", Step("never", wrong=Wrong.WEAKENS), runs_max=2),
    )
)
