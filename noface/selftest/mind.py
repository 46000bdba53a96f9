"""What the worker does, as a pure function of what it can see. It touches no file, no clock and no memory of its own.

It knows the scenarios (a worker may know the trade), but none of their secrets: those it must see.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from noface.selftest.scenario import By, Scenario, Step, product_of, secret_name, whole_id

_SECRET = "-[bcdfghjklmnpqrstvwxz]{8}"  # noqa: S105 - the form of all secrets, and none of them
_NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Sight:
    """All that the worker sees: its prompt, the strength of its model ("" for a weak one), files of its checkout."""

    issue: str
    prompt: str
    strength: str = ""
    thinks: bool = False
    files: Mapping[str, str] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True, slots=True)
class Deed:
    """What the worker does: where something is not known, what the step says; else its answer is complete.

    `known` are the lines of its answer, `guess` what it writes in place of what it does not know.
    """

    known: tuple[str, ...]
    missing: Step | None = None
    guess: str = ""


def secrets_in(text: str, name: str) -> tuple[str, ...]:
    """Return the secrets that begin with `name` in a text, without repeats."""
    return tuple(dict.fromkeys(re.findall(rf"\b{re.escape(name)}{_SECRET}\b", text)))


def decide(scenario: Scenario, sight: Sight) -> Deed:
    """Return what the worker does about an issue."""
    if sight.issue != whole_id(sight.issue):
        return _part(scenario, sight)
    known: list[str] = []
    for step in scenario.steps:
        found = _knowledge(scenario, step, sight)
        if found is None:
            return Deed(tuple(known), step)
        word, sure = found
        if not sure:
            return Deed(tuple(known), step, guess=word)
        known.append(word)
    return Deed(tuple(known))


def _part(scenario: Scenario, sight: Sight) -> Deed:
    """Do a part: one secret is enough for it, and only those that a breakdown hands out are of use to it."""
    steps = [step for step in scenario.steps if step.by in (By.PART, By.FILE)]
    known = tuple(word for step in steps for word in secrets_in(sight.prompt, secret_name(scenario, step)))
    return Deed(known) if known else Deed((), scenario.steps[-1])


def _knowledge(scenario: Scenario, step: Step, sight: Sight) -> tuple[str, bool] | None:
    """Return the line of the answer that a step asks for, and whether the worker is sure of it; None: not known."""
    name = secret_name(scenario, step)
    match step.by:
        case By.TOLD:
            return _sure(secrets_in(sight.prompt, name))
        case By.DRAFT:
            return _sure(secrets_in(f"{sight.prompt}\n{sight.files.get(draft_of(sight.issue), '')}", name))
        case By.STRENGTH:
            return _sure((sight.strength,) if sight.strength else ())
        case By.THINKING:
            return _sure((step.label,) if sight.thinks else ())
        case By.SAID:
            return _sure((step.label,) if re.search(step.says, sight.prompt) else ())
        case By.FILE:
            return _sure(secrets_in(sight.files.get(step.says, ""), name))
        case By.NAMED:
            named = step.says in sight.prompt
            return _sure(secrets_in(sight.files.get(step.says, ""), name) if named else ())
        case By.TRIED:
            words = step.says.split()
            return next((word for word in words if f"{word} way" not in sight.prompt), words[0]), False
        case By.PATIENCE:
            return step.label, True
        case By.PART:
            return None


def _sure(words: tuple[str, ...]) -> tuple[str, bool] | None:
    return (words[-1], True) if words else None


def draft_of(issue: str) -> str:
    """Return the file that holds half of the work."""
    return f"{product_of(issue).removesuffix('.txt')}.draft.txt"


def reads(scenario: Scenario, issue: str) -> tuple[str, ...]:
    """Return the files of the checkout that the worker may look into."""
    named = (step.says for step in scenario.steps if step.by in (By.FILE, By.NAMED))
    return (draft_of(issue), *named)


def answer(deed: Deed) -> str:
    """Return the text of the answer's file."""
    lines = [
        *deed.known,
        *([f"{deed.guess} way"] if deed.guess else []),
        *(["guess"] if deed.missing else ["finished"]),
    ]
    return "".join(f"{line}\n" for line in lines)
