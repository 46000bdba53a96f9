"""Workers that do not know what is meant, and workers that decline."""

from dataclasses import replace

from noface.selftest.catalogue.family import fails, family, heeds, helpless, shown
from noface.selftest.scenario import Advice, By, Hint, Scenario, Step, Wrong

_ASKS = "I found two kinds of labels. Which of them should I write?"
_REFUSES = "I'm sorry, but I can't help with that request."
_PLANNER = Advice("clarification", '{"answers": [], "summary": "The label {code} is meant; go on."}')
_UNCLEAR = (
    'I stopped.{"status": "blocked", "summary": "It is not clear which label is meant.",'
    ' "blocked_reason": "unclear", "questions": ["Which label does slip {slip} need?"]}'
)
_DEPENDS = (
    'I stopped.{"status": "blocked", "summary": "The desk of another issue must come first.",'
    ' "blocked_reason": "dependency_issue", "needs": ["agent-confusion-desk"]}'
)
_DESK = Scenario(
    "(what agent-confusion-4 waits for)", (shown("pytest"),), id="agent-confusion-desk", priority=9, support=True
)

AGENT_CONFUSION = (
    *family(
        "AGENT_CONFUSION",
        Scenario("the planner's answer", (fails(Wrong.NOTHING, _ASKS),), advice=(_PLANNER,)),
        Scenario(
            "the file that the planner names",
            (fails(Wrong.NOTHING, _ASKS),),
            advice=(
                Advice("clarification", '{"answers": [], "summary": "The guide tells it.", "files": ["docs/{id}.md"]}'),
            ),
            files=(("docs/{id}.md", "# Labels\n\nOn this shelf labels are called {code}.\n"),),
        ),
        Scenario(
            "the planner's answer to its very question",
            (fails(Wrong.NOTHING, _UNCLEAR),),
            advice=(replace(_PLANNER, needs="slip"),),
        ),
        Scenario(
            "the wait for an issue it depends on",
            (Step("code", By.FILE, Wrong.NOTHING, says="work/agent-confusion-desk.txt", words=_DEPENDS),),
        ),
        Scenario(
            "the hint for such questions",
            (fails(Wrong.NOTHING, _ASKS),),
            hint=Hint("Of two kinds of labels, take {code}.", error_pattern="two kinds of labels"),
        ),
        Scenario(
            "the planner's second answer, since the first had no form",
            (fails(Wrong.NOTHING, _ASKS),),
            advice=(replace(_PLANNER, prose_first=True),),
        ),
        helpless("nothing helps", Step("never", wrong=Wrong.NOTHING, words=_ASKS), runs_max=2),
    ),
    *family("AGENT_CONFUSION", _DESK),
)

AGENT_REFUSED = family(
    "AGENT_REFUSED",
    Scenario("the planner's word that it is wanted", (fails(Wrong.NOTHING, _REFUSES),), advice=(_PLANNER,)),
    Scenario(
        "the order to do what is plainly asked", (heeds("(?i)what the issue plainly asks", Wrong.NOTHING, _REFUSES),)
    ),
    Scenario(
        "the hint for refusals",
        (fails(Wrong.NOTHING, _REFUSES),),
        hint=Hint("Labels are harmless; write {code}.", error_pattern="refused"),
    ),
    Scenario(
        "the guide that the planner names",
        (fails(Wrong.NOTHING, _REFUSES),),
        advice=(Advice("clarification", '{"answers": [], "summary": "See the guide.", "files": ["docs/{id}.md"]}'),),
        files=(("docs/{id}.md", "# Why we write labels\n\nEvery shelf needs one. Here it is {code}.\n"),),
    ),
    Scenario(
        "the planner's second answer, since the first had no form",
        (fails(Wrong.NOTHING, _REFUSES),),
        advice=(replace(_PLANNER, prose_first=True),),
    ),
    helpless("nothing helps", Step("never", wrong=Wrong.NOTHING, words=_REFUSES), runs_max=2),
)
