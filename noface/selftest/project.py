"""Makes the project of a variant: a repository with an issue for each scenario, its world, and the tools it calls."""

import shlex
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import tomli_w

from noface.demo.sample import commit, front_matter, git, write_files
from noface.selftest.scenario import By, Scenario, Step, data, shared_file, whole_id
from noface.selftest.world import ANYONE, Secrets, World, fill

ATTEMPTS_MAX: int = data("settings")["noface"]["retry"]["max_total_attempts"]
"""The attempts that an issue may have, in all variants: noface's own default."""
_HIDDEN = "something-else"
"""What a complaint says in place of the secret, if its gate does not show it."""
_NOISE = "".join(f"INFO  shelf {number}: 17 labels read, none is missing\n" for number in range(2_000))
_README = "# labels\n\nThe project of `noface selftest`: each issue wants a label, and a worker has to learn which.\n"
_BODY = "Write the label of this shelf. The label desk knows which it is."


class Variant(StrEnum):
    """How the same scenarios are worked on."""

    NOFACE = "noface"
    FEEDBACK = "feedback"
    """One model; each attempt is told how the last one ended and what was printed, and nothing else."""
    PLAIN = "plain"
    """One model and the same prompt again."""


REPOSITORY = "repository"
TOOLS = "tools"
"""The folders in that of a project: its checkout, and what must come first on PATH when noface is run on it."""


FORMS = {
    name: {"code": 1, "green": "ok\n", **entry, "red": entry["red"].replace("{noise}\n", _NOISE)}
    for name, entry in data("forms").items()
}
"""What tools print when they are not content (`red`), their exit code then, and what they print else (`green`).

`{clue}` stands for what the worker should have written, `{guess}` for what it wrote, `{name}` for the scenario.
"""


def make(
    variant: Variant, scenarios: Sequence[Scenario], secrets: Secrets, folder: Path, python: str, workers: int
) -> None:
    """Make the project of a variant in `folder`, which must not exist. Raises RuntimeError if git fails.

    `python` runs worker and gates. The checkout stands on a branch of its own, so that main moves without files.
    """
    repository = folder / REPOSITORY
    repository.mkdir(parents=True)
    world = World.make(folder / "world", scenarios, secrets, repository)
    git(repository, "init", "--quiet", "--initial-branch=main", "--template=")
    files = {"README.md": _README, "noface.toml": settings(variant, scenarios, secrets, folder / "slots", workers)}
    for scenario in scenarios:
        files[f"issues/{scenario.id}.md"] = _issue(scenario)
        files |= {path: world.filled(scenario.id, text) for path, text in scenario.files.items()}
        if scenario.colleague:
            files[shared_file(scenario.id)] = "nothing yet\nnobody yet\nend\n"
    write_files(repository, files | _prompts(variant))
    commit(repository, "Open the label desk")
    git(repository, "checkout", "--quiet", "-b", "desk")
    _write_tools(folder / TOOLS, scenarios, world, python)


def settings(variant: Variant, scenarios: Sequence[Scenario], secrets: Secrets, slots: Path, workers: int) -> str:
    """Return the text of noface.toml for a project with these scenarios."""
    known = data("settings")
    side = "noface" if variant is Variant.NOFACE else "compared"
    models = dict(known["models"])
    models |= {one.id: {"tier": known["own_tiers"][one.kind]} for one in scenarios if one.model == "own"}
    models = {name: {**known["agents"][side], "model": name, **known["model"], **own} for name, own in models.items()}
    models["big"] |= {"env": {"SELFTEST_STRENGTH": secrets[ANYONE]["strength"]}}
    document = {**known["common"], **known[side], "models": models}
    document["run"] = {"workers": workers, "slots_dir": str(slots)}
    if variant is Variant.NOFACE:
        document["review"] = {"labels": [one.id for one in scenarios if one.reviewed]}
        document["failure_hints"] = [
            {"label": one.id, **one.hint, "hint": fill(one.hint["hint"], secrets[one.id])}
            for one in scenarios
            if one.hint
        ]
    return tomli_w.dumps(document)


def _prompts(variant: Variant) -> dict[str, str]:
    """Return the prompt templates of a variant by path; none for noface, which has its own."""
    known = data("settings")["prompts"]
    if variant is Variant.NOFACE:
        return {}
    text = known["task"] + (known["last"] if variant is Variant.FEEDBACK else "")
    return {f"prompts/{name}.md.j2": text for name in known["situations"]}


def _issue(scenario: Scenario) -> str:
    front: dict[str, object] = {
        "title": f"Write the label of {scenario.id}",
        "priority": scenario.priority,
        "labels": [scenario.id],
        "accept": [f"{scenario.tool} {scenario.id}"] if scenario.tool else [],
        "paths": scenario.paths,
        "depends_on": scenario.depends_on,
    }
    optional = {"model": scenario.own_model, "max_attempts": scenario.max_attempts, "no_escalate": scenario.no_escalate}
    front |= {key: value for key, value in optional.items() if value}
    return f"+++\n{front_matter(front)}\n+++\n\n{_BODY}\n"


def missing_on_main(folder: Path, scenarios: Sequence[Scenario]) -> dict[str, str]:
    """Return by scenario what the answers on main lack: the label of the first step that is not in them."""
    world = World(folder / "world")
    answers = {scenario.id: "" for scenario in scenarios}
    # README.md lets git find something if there is no answer at all.
    grep = git(folder / REPOSITORY, "grep", "--no-color", "-I", "-e", "", "main", "--", "work", "README.md")
    for line in grep.splitlines():
        _, path, text = line.split(":", 2)
        issue = path.removeprefix("work/").removesuffix(".txt")
        if whole_id(issue) in answers and not issue.endswith(".draft"):
            answers[whole_id(issue)] += f"{text}\n"
    steps = {one.id: world.first_missing(one, answers[one.id]) for one in scenarios}
    return {name: step.label for name, step in steps.items() if step is not None}


def _write_tools(folder: Path, scenarios: Sequence[Scenario], world: World, python: str) -> None:
    """Write the programs of PATH: the agent, and the gate under the name of each tool."""
    gates = world.folder / "gates"
    for scenario in scenarios:
        _write_gate(gates / scenario.id, scenario, world)
    here = Path(__file__)
    gate = here.with_name("gate.sh").read_text(encoding="utf-8").replace("@GATES@", str(gates))
    start = "from noface.selftest.worker import main; sys.exit(main(sys.argv[1:]))"
    code = f"import sys; sys.path.insert(0, {str(here.resolve().parents[2])!r}); {start}"
    # -I and -S: nothing of the person's Python acts, and it starts at once.
    agent = shlex.join([python, "-I", "-S", "-c", code, str(world.folder)])
    programs = {scenario.tool.split()[0]: gate for scenario in scenarios if scenario.tool}
    programs |= {"pytest": gate, "suite": here.with_name("suite.sh").read_text(encoding="utf-8")}
    programs["claude"] = f'#!/bin/sh\nexec {agent} "$@"\n'
    write_files(folder, programs)
    for name in programs:
        (folder / name).chmod(0o755)


def _write_gate(folder: Path, scenario: Scenario, world: World) -> None:
    """Write what `gate.sh` looks for and prints.

    `N.wanted` holds the lines of which the answer must have one, `N.red` and `N.code` what is printed without it,
    `N.label` the step's label, `N.patience` until when it is too early, `green` what is printed in the end.
    """
    folder.mkdir(parents=True)
    name = scenario.id.replace("-", "_")
    for number, step in enumerate(step for step in scenario.steps if not step.objection):
        wanted = folder / f"{number}.wanted"
        if step.by is By.DRAFT:
            wanted.symlink_to(world.drafts_file(scenario.id))
        else:
            wanted.write_text(f"{world.wanted(scenario, step)[0]}\n")
        (folder / f"{number}.label").write_text(step.label)
        (folder / f"{number}.red").write_text(_complaint(step, scenario, world).replace("{name}", name))
        (folder / f"{number}.code").write_text(str(FORMS[step.form]["code"]))
        if step.by is By.PATIENCE:
            (folder / f"{number}.patience").write_text("0")
    (folder / "green").write_text(FORMS[scenario.steps[0].form]["green"].replace("{name}", name))


def _complaint(step: Step, scenario: Scenario, world: World) -> str:
    red: str = FORMS[step.form]["red"]
    if not step.visible:
        return red.replace("{clue}", _HIDDEN)
    return world.filled(scenario.id, red.replace("{clue}", world.secret(scenario.id, step.label)))
