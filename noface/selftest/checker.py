"""The gate of a scenario: looks at the worker's answer, and complains of the first thing that is missing in it.

    python checker.py WORLD [words of the tool] SCENARIO [--only LABEL]

It is started under the names of real tools. `--only` is the gate of a part: one secret is all it asks for.
"""

import sys
from pathlib import Path

from noface.selftest.catalogue import find
from noface.selftest.forms import FORMS
from noface.selftest.scenario import By, Scenario, Step, product_of, whole_id
from noface.selftest.world import ANYONE, World

HIDDEN = "something-else"
"""What a complaint says in place of the secret, where its gate does not show it."""
QUIET_S = 1.2


def first_missing(scenario: Scenario, world: World, text: str, only: str = "") -> Step | None:
    """Return the first step whose word is not in the answer `text`, None where it is complete."""
    lines = text.splitlines()
    for step in scenario.steps:
        if only and step.token != only:
            continue
        if not any(line in _wanted(step, scenario, world) for line in lines):
            return step
    return None


def complaint(step: Step, scenario: Scenario, world: World, text: str) -> str:
    """Return what the gate prints about an answer in which `step` is missing."""
    clue = world.secret(scenario.id, step.token) if step.shown else HIDDEN
    guess = next((line.removesuffix(" way") for line in text.splitlines() if line.endswith(" way")), "guess")
    printed = FORMS[step.form].red.replace("{clue}", clue).replace("{guess}", guess)
    return printed.replace("{name}", scenario.id.replace("-", "_"))


def _wanted(step: Step, scenario: Scenario, world: World) -> tuple[str, ...]:
    match step.by:
        case By.DRAFT:
            return world.drafts(scenario.id)
        case By.TRIED:
            return (f"{world.secret(scenario.id, step.token)} way",)
        case By.THINKING | By.SAID | By.PATIENCE:
            return (step.token,)
        case By.STRENGTH:
            return (world.secret(ANYONE, "strength"),)
        case By.FILE:
            return (world.secret(whole_id(step.says.rpartition("/")[2].removesuffix(".txt")), step.token),)
        case By.TOLD | By.PART | By.NAMED:
            return (world.secret(scenario.id, step.token),)


def main(argv: list[str]) -> int:
    """Judge the answer in the working directory; print what a tool would print, and return its exit code."""
    only = argv.pop() if "--only" in argv[:-1] else ""
    words = [word for word in argv if word != "--only"]
    world, scenario = World(Path(words[0])), find(words[-1])
    text = "".join(
        path.read_text() for path in sorted(Path("work").glob(f"{scenario.id}*.txt")) if _is_answer(path, scenario)
    )
    step = first_missing(scenario, world, text, only)
    if step is None:
        step = _impatient(scenario, world)
    if step is None:
        sys.stdout.write(FORMS[scenario.steps[0].form].green.replace("{name}", scenario.id.replace("-", "_")))
        return 0
    sys.stdout.write(complaint(step, scenario, world, text))
    return FORMS[step.form].code


def _is_answer(path: Path, scenario: Scenario) -> bool:
    part = path.name.removeprefix(scenario.id).removesuffix(".txt")
    return path == Path(product_of(scenario.id)) or (part.startswith(".") and part[1:].isdigit())


def _impatient(scenario: Scenario, world: World) -> Step | None:
    """Return the step for which it is too early, None where there is none, or its time has come."""
    step = next((step for step in scenario.steps if step.by is By.PATIENCE), None)
    if step is None or world.quiet_until(f"gate-{scenario.id}", QUIET_S, 1) is None:
        return None
    return step


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
