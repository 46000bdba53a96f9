"""What the worker does, as a pure function of what it can see. It touches no file, no clock and no memory of its own.

It knows the scenarios (a worker may know the trade), but none of their secrets: those it must see.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from noface.selftest.scenario import By, Scenario, Step, draft_of, secret_owner, whole_id

_SECRET = "-[bcdfghjklmnpqrstvwxz]{8}"  # noqa: S105 - the form of all secrets, and none of them


@dataclass(frozen=True, slots=True)
class Observation:
    """All that the worker sees: its prompt, the strength of its model ("" for a weak one), files of its checkout."""

    issue: str
    prompt: str
    strength: str = ""
    thinks: bool = False
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What the worker does: if something is not known, what the step says; else its answer is complete.

    `known` are the lines of its answer, `guess` what it writes in place of what it does not know.
    """

    known: tuple[str, ...]
    missing: Step | None = None
    guess: str = ""

    @property
    def answer(self) -> str:
        """The text of the answer's file."""
        guess = (f"{self.guess} way",) if self.guess else ()
        return "".join(f"{line}\n" for line in (*self.known, *guess, "guess" if self.missing else "finished"))


def decide(scenario: Scenario, sight: Observation) -> Behaviour:
    """Return what the worker does about an issue."""
    if sight.issue != whole_id(sight.issue):
        return _part(scenario, sight)
    known: list[str] = []
    for step in scenario.steps:
        if step.by is By.TRIED:
            words = step.says.split()
            untried = next((word for word in words if f"{word} way" not in sight.prompt), words[0])
            return Behaviour(tuple(known), step, guess=untried)
        line = _knowledge(scenario, step, sight)
        if line is None:
            return Behaviour(tuple(known), step)
        known.append(line)
    return Behaviour(tuple(known))


def _part(scenario: Scenario, sight: Observation) -> Behaviour:
    """Do a part: one secret is enough for it, and only those that a breakdown hands out are of use to it."""
    steps = [step for step in scenario.steps if step.by in (By.PART, By.FILE)]
    known = tuple(word for step in steps for word in _secrets(scenario, step, sight.prompt))
    return Behaviour(known) if known else Behaviour((), scenario.steps[-1])


def _knowledge(scenario: Scenario, step: Step, sight: Observation) -> str | None:
    """Return the line of the answer that a step asks for, None if the worker does not know it."""
    text = ""
    match step.by:
        case By.STRENGTH:
            return sight.strength or None
        case By.THINKING:
            return step.label if sight.thinks else None
        case By.SAID:
            return step.label if re.search(step.says, sight.prompt) else None
        case By.PATIENCE:
            return step.label
        case By.PART | By.TRIED:
            return None
        case By.TOLD:
            text = sight.prompt
        case By.DRAFT:
            text = f"{sight.prompt}\n{sight.files.get(draft_of(sight.issue), '')}"
        case By.FILE:
            text = sight.files.get(step.says, "")
        case By.NAMED:
            text = sight.files.get(step.says, "") if step.says in sight.prompt else ""
    words = _secrets(scenario, step, text)
    return words[-1] if words else None


def _secrets(scenario: Scenario, step: Step, text: str) -> tuple[str, ...]:
    """Return the secrets of a step in a text, without repeats. Others' secrets don't mislead."""
    name = f"{secret_owner(scenario, step)}-{step.label}"
    return tuple(dict.fromkeys(re.findall(rf"\b{re.escape(name)}{_SECRET}\b", text)))


def reads(scenario: Scenario, issue: str) -> tuple[str, ...]:
    """Return the files of the checkout that the worker may look into."""
    return (draft_of(issue), *(step.says for step in scenario.steps if step.by in (By.FILE, By.NAMED)))
