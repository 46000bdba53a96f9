"""Prepares the gates: for each scenario a folder that tells `gate.sh` what to look for, and what to print.

`N.wanted` holds the lines of which the answer must have one, `N.red` and `N.code` what is printed without it,
`N.label` the step's label, `N.patience` until when it is too early, `green` what is printed in the end.
"""

from pathlib import Path

from noface.selftest.forms import FORMS
from noface.selftest.scenario import By, Scenario, Step, whole_id
from noface.selftest.world import ANYONE, World

HIDDEN = "something-else"
"""What a complaint says in place of the secret, where its gate does not show it."""


def prepare(scenario: Scenario, world: World) -> None:
    """Write the gate of a scenario."""
    folder = gates_of(world) / scenario.id
    folder.mkdir(parents=True)
    gated = tuple(step for step in scenario.steps if not step.objection)
    for number, step in enumerate(gated):
        wanted = folder / f"{number}.wanted"
        if step.by is By.DRAFT:
            wanted.symlink_to(world.drafts_file(scenario.id))
        else:
            wanted.write_text(f"{_wanted(step, scenario, world)[0]}\n")
        (folder / f"{number}.label").write_text(step.label)
        (folder / f"{number}.red").write_text(_complaint(step, scenario, world))
        (folder / f"{number}.code").write_text(str(FORMS[step.form].code))
        if step.by is By.PATIENCE:
            (folder / f"{number}.patience").write_text("0")
    (folder / "green").write_text(_named(FORMS[scenario.steps[0].form].green, scenario))


def first_missing(scenario: Scenario, world: World, answer: str) -> Step | None:
    """Return the first step whose word is not in an answer, None where it is complete: reviewers look for all."""
    lines = answer.splitlines()
    steps = (step for step in scenario.steps if not any(word in lines for word in _wanted(step, scenario, world)))
    return next(steps, None)


def script(world: World, name: str) -> str:
    """Return a program of this package: `gate.sh`, or the project's own `suite.sh`."""
    template = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return template.replace("@GATES@", str(gates_of(world)))


def gates_of(world: World) -> Path:
    """Return the folder of all gates."""
    return world.folder / "gates"


def _wanted(step: Step, scenario: Scenario, world: World) -> tuple[str, ...]:
    """Return the lines of which the answer must have one."""
    match step.by:
        case By.DRAFT:
            return world.drafts(scenario.id)
        case By.TRIED:
            return (f"{world.secret(scenario.id, step.label)} way",)
        case By.THINKING | By.SAID | By.PATIENCE:
            return (step.label,)
        case By.STRENGTH:
            return (world.secret(ANYONE, "strength"),)
        case By.FILE:
            return (world.secret(whole_id(step.says.rpartition("/")[2].removesuffix(".txt")), step.label),)
        case _:
            return (world.secret(scenario.id, step.label),)


def _complaint(step: Step, scenario: Scenario, world: World) -> str:
    clue = world.secret(scenario.id, step.label) if step.shown else HIDDEN
    printed = FORMS[step.form].red.replace("{clue}", clue)
    return _named(world.filled(scenario.id, printed) if step.shown else printed, scenario)


def _named(text: str, scenario: Scenario) -> str:
    return text.replace("{name}", scenario.id.replace("-", "_"))
