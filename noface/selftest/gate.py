"""Prepares the gates: for each scenario a folder that tells `gate.sh` what to look for, and what to print.

`N.wanted` holds the lines of which the answer must have one, `N.red` and `N.code` what is printed without it,
`N.label` the step's token, `N.patience` until when it is too early, `green` what is printed in the end.
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
    for number, step in enumerate(scenario.steps):
        wanted = folder / f"{number}.wanted"
        if step.by is By.DRAFT:
            wanted.symlink_to(world.drafts_file(scenario.id))
        else:
            wanted.write_text(f"{_wanted(step, scenario, world)}\n")
        (folder / f"{number}.label").write_text(step.token)
        (folder / f"{number}.red").write_text(_complaint(step, scenario, world))
        (folder / f"{number}.code").write_text(str(FORMS[step.form].code))
        if step.by is By.PATIENCE:
            (folder / f"{number}.patience").write_text("0")
    (folder / "green").write_text(_named(FORMS[scenario.steps[0].form].green, scenario))


def script(world: World) -> str:
    """Return the gate's program."""
    template = Path(__file__).with_name("gate.sh").read_text(encoding="utf-8")
    return template.replace("@GATES@", str(gates_of(world)))


def gates_of(world: World) -> Path:
    """Return the folder of all gates."""
    return world.folder / "gates"


def _wanted(step: Step, scenario: Scenario, world: World) -> str:
    match step.by:
        case By.TRIED:
            return f"{world.secret(scenario.id, step.token)} way"
        case By.THINKING | By.SAID | By.PATIENCE:
            return step.token
        case By.STRENGTH:
            return world.secret(ANYONE, "strength")
        case By.FILE:
            return world.secret(whole_id(step.says.rpartition("/")[2].removesuffix(".txt")), step.token)
        case _:
            return world.secret(scenario.id, step.token)


def _complaint(step: Step, scenario: Scenario, world: World) -> str:
    clue = world.secret(scenario.id, step.token) if step.shown else HIDDEN
    return _named(FORMS[step.form].red.replace("{clue}", clue), scenario)


def _named(text: str, scenario: Scenario) -> str:
    return text.replace("{name}", scenario.id.replace("-", "_"))
