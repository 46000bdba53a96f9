"""Draws the secrets of a run: new ones each time, so that no worker can have learnt them from the code."""

import re

from noface.selftest.scenario import By, Scenario
from noface.selftest.world import ANYONE, fresh

_PLACE = re.compile(r"\{(\w+)\}")
_RIGHT_WORD = 2
"""Which of the words of a TRIED step is the right one: the third, so that two have to be known as tried."""


def draw(scenarios: tuple[Scenario, ...]) -> dict[str, dict[str, str]]:
    """Return the secrets by scenario and label."""
    drawn = {ANYONE: {"strength": fresh("strength")}}
    drawn |= {scenario.id: _of(scenario) for scenario in scenarios}
    return drawn | {scenario.id: drawn[scenario.shares] for scenario in scenarios if scenario.shares}


def _of(scenario: Scenario) -> dict[str, str]:
    texts = [text for step in scenario.steps for text in (step.words, step.objection)]
    texts += [advice.answer for advice in scenario.advice]
    texts += [text for _, text in scenario.files]
    texts += [scenario.hint.text] if scenario.hint is not None else []
    labels = [step.label for step in scenario.steps] + [label for text in texts for label in _PLACE.findall(text)]
    found = {label: fresh(f"{scenario.id}-{label}") for label in dict.fromkeys(labels)}
    tried = {step.label: step.says.split()[_RIGHT_WORD] for step in scenario.steps if step.by is By.TRIED}
    return found | tried
