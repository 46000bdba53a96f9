"""Work that passes its gates, and that a reviewer sends back."""

from noface.selftest.catalogue.family import family, helpless
from noface.selftest.scenario import Advice, By, Hint, Scenario, Step

_PLAIN = Step("written", By.SAID, says="")


def _objected(objection: str, label: str = "code", by: By = By.TOLD, *, drafts: bool = False) -> Step:
    """Return the step that only a reviewer asks for."""
    return Step(label, by, drafts=drafts, objection=objection)


_NEVER = _objected("I do not like the look of it.", "never")
_VAGUE = "The label is not the one of the guide."
_PERSON = '{"verdict": "needs_human", "summary": "Only a person can say whom the shelf belongs to."}'

REVIEW_REJECTED = family(
    "REVIEW_REJECTED",
    Scenario("the reviewer's point", (_PLAIN, _objected("The label has to be {code}."))),
    Scenario(
        "the points of two rounds",
        (_PLAIN, _objected("The label has to be {code}."), _objected("Its back must say {next}.", "next")),
    ),
    Scenario("the work that was good already", (_PLAIN, _objected("Keep the draft.", "draft", By.DRAFT, drafts=True))),
    Scenario(
        "the hint for such an objection",
        (_PLAIN, _objected(_VAGUE)),
        hint=Hint("The guide's label is {code}.", error_pattern="not the one of the guide"),
    ),
    Scenario(
        "the reviewer's second answer, since the first had no form",
        (_PLAIN, _objected("The label has to be {code}.")),
        advice=(Advice("review", "", prose_first=True),),
    ),
    helpless("the reviewer is never content", _PLAIN, _NEVER, runs_max=6),
    helpless("the reviewer asks for a person", _PLAIN, _NEVER, advice=(Advice("review", _PERSON),), runs_max=1),
)
