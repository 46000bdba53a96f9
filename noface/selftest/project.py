"""Makes the project of a variant: a repository with an issue for each scenario, its world, and the tools it calls."""

import json
import os
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from noface.selftest.gate import first_missing, prepare, script
from noface.selftest.scenario import Scenario, shared_file, whole_id
from noface.selftest.settings import Variant, own_model, prompts, toml
from noface.selftest.world import World

_IDENTITY = {"NAME": "Selftest", "EMAIL": "selftest@localhost"}
_README = "# labels\n\nThe project of `noface selftest`: each issue wants a label, and a worker has to learn which.\n"


@dataclass(frozen=True, slots=True)
class Project:
    """A project as made. `tools` is the folder that must come first on PATH when noface is run on it."""

    variant: Variant
    folder: Path
    repository: Path
    tools: Path


def make(
    variant: Variant,
    scenarios: tuple[Scenario, ...],
    secrets: Mapping[str, Mapping[str, str]],
    folder: Path,
    python: str,
    workers: int,
) -> Project:
    """Make the project of a variant in `folder`, which must not exist. Raises RuntimeError where git fails.

    `python` runs worker and gates. The checkout stands on a branch of its own, so that main moves without files.
    """
    project = Project(variant, folder, folder / "repository", folder / "tools")
    project.repository.mkdir(parents=True)
    world = World.make(folder / "world", {name: dict(own) for name, own in secrets.items()}, project.repository)
    _git(project.repository, "init", "--quiet", "--initial-branch=main", "--template=")
    for path, text in _files(variant, scenarios, world, secrets, folder / "slots", workers).items():
        _write(project.repository / path, text)
    _git(project.repository, "add", "--all")
    _git(project.repository, "commit", "--quiet", "--no-verify", "--message", "Open the label desk")
    _git(project.repository, "checkout", "--quiet", "-b", "desk")
    _tools(project.tools, scenarios, world, python)
    return project


def _files(
    variant: Variant,
    scenarios: tuple[Scenario, ...],
    world: World,
    secrets: Mapping[str, Mapping[str, str]],
    slots: Path,
    workers: int,
) -> dict[str, str]:
    found = {"README.md": _README, "noface.toml": toml(variant, scenarios, secrets, str(slots), workers)}
    found |= prompts(variant)
    for scenario in scenarios:
        found[f"issues/{scenario.id}.md"] = _issue(scenario)
        found |= {path: world.filled(scenario.id, text) for path, text in scenario.files}
        if scenario.colleague:
            found[shared_file(scenario.id)] = "nothing yet\nnobody yet\nend\n"
    return found


def _issue(scenario: Scenario) -> str:
    front: dict[str, object] = {
        "title": f"Write the label of {scenario.id}",
        "priority": scenario.priority,
        "labels": [scenario.id],
        "accept": [f"{scenario.tool} {scenario.id}"],
        "paths": list(scenario.paths),
        "depends_on": list(scenario.depends_on),
    }
    if scenario.model:
        front["model"] = own_model(scenario)
    if scenario.max_attempts is not None:
        front["max_attempts"] = scenario.max_attempts
    if scenario.no_escalate:
        front["no_escalate"] = True
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in front.items())
    return f"+++\n{lines}\n+++\n\nWrite the label of this shelf. The label desk knows which it is.\n"


def missing_on_main(project: Project, scenarios: tuple[Scenario, ...]) -> dict[str, str]:
    """Return by scenario what the answers on main lack: the label of the first step that is not in them."""
    world = World(project.folder / "world")
    answers = {scenario.id: "" for scenario in scenarios}
    for line in _git(project.repository, "grep", "--no-color", "-I", "-e", "", "main", "--", "work").splitlines():
        _, path, text = line.split(":", 2)
        issue = path.removeprefix("work/").removesuffix(".txt")
        if whole_id(issue) in answers and not issue.endswith(".draft"):
            answers[whole_id(issue)] += f"{text}\n"
    steps = {one.id: first_missing(one, world, answers[one.id]) for one in scenarios}
    return {name: step.label for name, step in steps.items() if step is not None}


def _tools(folder: Path, scenarios: tuple[Scenario, ...], world: World, python: str) -> None:
    """Write the programs of PATH: the agent, and the gate under the name of each tool."""
    for scenario in scenarios:
        prepare(scenario, world)
    gate = script(world, "gate.sh")
    home = str(Path(__file__).resolve().parents[2])
    start = "from noface.selftest.worker import main; sys.exit(main(sys.argv[1:]))"
    code = f"import sys; sys.path.insert(0, {home!r}); {start}"
    agent = shlex.join([python, "-I", "-S", "-c", code, str(world.folder)])
    programs = {scenario.tool.split()[0]: gate for scenario in scenarios}
    programs |= {"pytest": gate, "suite": script(world, "suite.sh"), "claude": f'#!/bin/sh\nexec {agent} "$@"\n'}
    for name, text in programs.items():
        _write(folder / name, text)
        (folder / name).chmod(0o755)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _git(directory: Path, *arguments: str) -> str:
    """Run git without anything of the user's configuration or of a git command that noface was started from."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    env |= {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _IDENTITY.items()}
    done = subprocess.run(
        ["git", *arguments], cwd=directory, env=env, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0 and (arguments[0] != "grep" or done.stderr):
        raise RuntimeError(f"git {arguments[0]} failed in {directory}: {done.stderr.strip()}")
    return done.stdout
