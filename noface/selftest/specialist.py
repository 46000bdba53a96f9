"""The model that is asked rather than put to work: planner, diagnoser, resolver, architect.

It knows what the scenario lets it know, and answers in the form that noface asks for.
"""

import json

from noface.selftest.gate import first_missing
from noface.selftest.scenario import Scenario
from noface.selftest.world import World

_NO_IDEA = {
    "diagnosis": {
        "cause": "What was printed does not tell.",
        "recoverable": "maybe",
        "strategy": "alternative_approach",
        "alternative": "Read once more what was printed.",
    },
    "clarification": {"answers": [], "summary": "The project leaves it open."},
    "boundary": {"resolution": "redesign", "guidance": "Stay with the files of the issue."},
    "merge_conflict": {"guidance": "Look at both sides."},
    "architect": {"assessment": "The attempts are much alike.", "approach": "Read the checks first."},
    "reflection": {"why": "I guessed.", "plan": "I look at what was printed."},
    "breakdown": {"children": []},
}
_REMINDED = ("could not be read", "could not be used")


def reply(topic: str, prompt: str, scenario: Scenario, world: World, answer: str) -> str:
    """Return the answer to a question of noface's about a scenario; a reviewer looks at the worker's `answer`."""
    for advice in scenario.advice:
        if advice.topic != topic:
            continue
        if advice.prose_first and not any(words in prompt for words in _REMINDED):
            return "I would rather tell you in my own words that the label is known to the planner."
        if not advice.needs or world.secret(scenario.id, advice.needs) in prompt:
            return _fenced(world.filled(scenario.id, advice.answer or _verdict(scenario, world, answer)))
    if topic == "review":
        return _fenced(world.filled(scenario.id, _verdict(scenario, world, answer)))
    return _fenced(json.dumps(_NO_IDEA[topic], indent=1))


def _verdict(scenario: Scenario, world: World, answer: str) -> str:
    missing = first_missing(scenario, world, answer)
    if missing is None:
        return '{"verdict": "approve", "summary": "The label is as it should be."}'
    points = [{"file": f"work/{scenario.id}.txt", "line": 1, "problem": missing.objection}]
    return json.dumps({"verdict": "request_changes", "summary": "The label is not fit to be read.", "points": points})


def _fenced(answer: str) -> str:
    return f"I looked at the project.\n\n```json\n{answer}\n```"
