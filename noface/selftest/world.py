"""The world around the worker: secrets, a provider with a memory, and what was drafted. `behaviour` never looks here.

It lies in a folder outside the project, which the gates and the program around the worker are told by the harness.
"""

import json
import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from noface.selftest.scenario import By, Scenario, Step, read_scenario, secret_owner

ANYONE = "*"
"""Stands for the scenario of secrets that all share."""
_PLACE = re.compile(r"\{(\w+)\}")
_CONSONANTS = "bcdfghjklmnpqrstvwxz"
_LETTERS = 8
_RIGHT_WORD = 2
"""Which of the words of a TRIED step is the right one: the third, so that two have to be known as tried."""
Secrets = Mapping[str, Mapping[str, str]]
"""Secrets by scenario and label."""


def fresh(name: str) -> str:
    """Return a secret that begins with `name` and that nobody knows yet."""
    # Consonants alone spell no word that a text could hold by chance.
    return f"{name}-{''.join(_CONSONANTS[byte % len(_CONSONANTS)] for byte in os.urandom(_LETTERS))}"


def draw(scenarios: Iterable[Scenario]) -> Secrets:
    """Draw the secrets of a run: new ones each time, so that no worker can have learnt them from the code."""
    drawn = {ANYONE: {"strength": fresh("strength")}}
    drawn |= {scenario.id: _of(scenario) for scenario in scenarios}
    return drawn | {scenario.id: drawn[scenario.shares] for scenario in scenarios if scenario.shares}


def _of(scenario: Scenario) -> dict[str, str]:
    texts = [text for step in scenario.steps for text in (step.words, step.objection)]
    texts += [advice.answer for advice in scenario.advice]
    texts += [*scenario.files.values(), *scenario.hint.values()]
    labels = [step.label for step in scenario.steps] + [label for text in texts for label in _PLACE.findall(text)]
    drawn = {label: fresh(f"{scenario.id}-{label}") for label in dict.fromkeys(labels)}
    tried = {step.label: step.says.split()[_RIGHT_WORD] for step in scenario.steps if step.by is By.TRIED}
    return drawn | tried


def fill(text: str, secrets: Mapping[str, str]) -> str:
    """Return a text with secrets in place of their labels; other braces stay."""
    return _PLACE.sub(lambda match: secrets.get(match[1], match[0]), text)


class World:
    """The folder of a project's world. One scenario is worked on by one worker at a time, parts aside."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._secrets: dict[str, dict[str, str]] = json.loads((folder / "secrets.json").read_text())

    @staticmethod
    def make(folder: Path, scenarios: Iterable[Scenario], secrets: Secrets, repository: Path) -> "World":
        """Write a new world of these scenarios for the project in `repository`."""
        folder.mkdir(parents=True)
        (folder / "secrets.json").write_text(json.dumps(secrets))
        (folder / "repository").write_text(str(repository))
        for scenario in scenarios:
            (folder / f"{scenario.id}.json").write_text(json.dumps(asdict(scenario)))
        return World(folder)

    def scenario(self, scenario: str) -> Scenario:
        """Return a scenario of this world; raises OSError if there is none of this id."""
        return read_scenario(json.loads((self.folder / f"{scenario}.json").read_text()))

    @property
    def repository(self) -> str:
        """The project's folder, where a colleague works too."""
        return (self.folder / "repository").read_text()

    def secret(self, scenario: str, label: str) -> str:
        """Return a secret; raises KeyError if nobody made one."""
        return self._secrets[scenario][label]

    def filled(self, scenario: str, text: str) -> str:
        """Return a text with the scenario's secrets in place of their labels."""
        return fill(text, self._secrets.get(scenario, {}))

    def wanted(self, scenario: Scenario, step: Step) -> tuple[str, ...]:
        """Return the lines of which the answer must have one."""
        match step.by:
            case By.DRAFT:
                path = self.drafts_file(scenario.id)
                return tuple(path.read_text().split()) if path.exists() else ()
            case By.TRIED:
                return (f"{self.secret(scenario.id, step.label)} way",)
            case By.THINKING | By.SAID | By.PATIENCE:
                return (step.label,)
            case By.STRENGTH:
                return (self.secret(ANYONE, "strength"),)
            case _:
                return (self.secret(secret_owner(scenario, step), step.label),)

    def first_missing(self, scenario: Scenario, answer: str) -> Step | None:
        """Return the first step whose word is not in an answer, None if it is complete: reviewers look for all."""
        lines = answer.splitlines()
        steps = (step for step in scenario.steps if not any(word in lines for word in self.wanted(scenario, step)))
        return next(steps, None)

    def drafts_file(self, scenario: str) -> Path:
        """Return the file with what workers have drafted, a line each; it need not be there."""
        return self.folder / f"drafts-{scenario}"

    def draft(self, scenario: str) -> str:
        """Make a draft, remember it, and return it."""
        word = fresh(f"{scenario}-draft")
        with self.drafts_file(scenario).open("a") as file:
            file.write(f"{word}\n")
        return word

    def count(self, name: str) -> int:
        """Count one more, and return how many that makes."""
        with (self.folder / f"count-{name}").open("a") as file:
            file.write(".")
            return file.tell()

    def quiet_until(self, name: str, seconds: float, times: int) -> float | None:
        """Return until when a provider that is asked just now wants quiet (epoch seconds), None if it answers.

        At first it wants `seconds` of it. Whoever asks earlier starts that anew; after `times` such spans it answers.
        """
        path, now = self.folder / f"quiet-{name}", time.time()
        try:
            left, until = path.read_text().split()
            spans = int(left) - (now >= float(until))
        except FileNotFoundError:
            spans = times
        # Whole seconds, as providers tell them, and never less than asked for.
        end = float(int(now + seconds) + 1)
        path.write_text(f"{spans} {end}")
        return end if spans > 0 else None
