"""What package.json says about a project's gates and its setup, and those of a monorepo about their packages."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from noface import data
from noface.detection.checks import Ci
from noface.detection.detected import DetectedGate, DetectedSetup, Detection, Surroundings
from noface.detection.files import (
    first_file,
    ignore_lines,
    is_committed,
    is_inner,
    present,
    table,
    text_of,
    texts,
    yaml_of,
)
from noface.detection.shell import quoted

_MEMBERS_MAX = 200
_SKIPPED = ("node_modules", ".git")


def patterns(root: Path, package: dict[str, Any]) -> tuple[str, ...]:
    """Return where the packages lie, as globs: what pnpm-workspace.yaml says, or package.json's `workspaces`."""
    listed = texts(package.get("workspaces")) or texts(table(package, "workspaces").get("packages"))
    of_pnpm = yaml_of(root / "pnpm-workspace.yaml").get("packages")
    plain = (pattern.replace("!./", "!").removeprefix("./").rstrip("/") for pattern in (*texts(of_pnpm), *listed))
    return tuple(pattern for pattern in plain if is_inner(pattern.removeprefix("!")))


def members(root: Path, globs: Iterable[str]) -> tuple[str, ...]:
    """Return the folders of the packages, in order; a glob that begins with `!` takes out what others named."""
    folders: set[str] = set()
    out: set[str] = set()
    for glob in globs:
        (out if glob.startswith("!") else folders).update(_folders(root, glob.removeprefix("!")))
    return tuple(sorted(folders - out)[:_MEMBERS_MAX])


def _folders(root: Path, pattern: str) -> set[str]:
    try:
        places = {path.parent.relative_to(root) for path in root.glob(f"{pattern}/package.json")}
    except (ValueError, NotImplementedError, OSError):
        return set()  # Python's globs are not those of package managers: what it cannot read names nothing here
    return {place.as_posix() for place in places if place.parts and not set(_SKIPPED) & set(place.parts)}


class _Manager(NamedTuple):
    """An entry of ecosystems.toml, which says what its fields are."""

    name: str
    locks: list[str]
    install: str
    unlocked: str
    tool: str = ""
    everywhere: str = ""


_NO_CI = Ci()
_NODE = data.table("ecosystems")["node"]
_MANAGERS = tuple(_Manager(**entry) for entry in _NODE["managers"])
# What `npm init` writes; it always fails.
_NO_TEST = "no test specified"
_MODULES = "node_modules"
# With it pnpm takes itself for started by corepack, and so do the pnpms that scripts start.
_AS_IT_IS = "COREPACK_ROOT=none "
_WHY = (
    "Workspaces are fresh checkouts outside the repository, so your node_modules is not there;\n"
    "it is installed once for each workspace, and again when a file of setup_inputs changes."
)
_MORE_PACKAGES = "\n(A new package of the monorepo needs its node_modules named in keep.)"


@dataclass(frozen=True, slots=True)
class _Project:
    """A package.json with its manager; `program` is how that is called, `lock` its lock file, "" for none.

    `call` is `program` with the variables it needs before it.
    """

    root: Path
    package: dict[str, Any]
    manager: _Manager
    program: str
    lock: str
    berry: bool
    call: str

    @property
    def start(self) -> str:
        """The program that has to be on PATH."""
        return self.program.partition(" ")[0]


def detect_node(root: Path, surroundings: Surroundings, ci: Ci = _NO_CI) -> Detection:
    """Return the scripts that are gates, run by the project's package manager, and its install as setup."""
    if not (root / "package.json").is_file():
        return Detection()
    try:
        package = json.loads(text_of(root / "package.json"))
    except (ValueError, RecursionError) as error:
        return Detection(notes=(f"package.json could not be read: {error}",))
    if not isinstance(package, dict):
        return Detection(notes=("package.json could not be read: it is not an object",))
    project = _project(root, package, surroundings)
    gates, notes = _gates(project)
    setup = _setup(project)
    if ci.tests("node") or (ci.checks and not any(gate.kind == "test" for gate in gates)):
        gates = tuple(_of_ci(project, ci))
    elif ci.checks:
        gates = (*_of_ci(project, ci), *(gate for gate in gates if gate.kind == "test"))
    return Detection(gates, setup, notes)


def _of_ci(project: _Project, ci: Ci) -> Iterator[DetectedGate]:
    """Yield what CI runs of this package manager, and the tools it starts."""
    for check in ci.checks:
        if check.of != "node":
            continue
        program, *rest = check.words
        needs: tuple[str, ...] = (project.start,)
        if program == project.manager.name:
            start = project.call
        elif program in {manager.name for manager in _MANAGERS}:
            start, needs = program, (program,)
        else:
            start = f"{project.call} {project.manager.tool} {program}".replace("  ", " ")
        yield DetectedGate(check.name, check.shell(" ".join((start, *map(quoted, rest)))), check.kind, check.why, needs)


def _project(root: Path, package: dict[str, Any], surroundings: Surroundings) -> _Project:
    name, _, version = str(package.get("packageManager") or "").partition("@")
    manager, lock = _manager(root, name)
    older = re.match(r"[01]\.", version) is not None
    says_berry = manager.name == name and bool(version) and not older
    lock_text = text_of(root / lock)[:500] if lock else ""
    berry = manager.name == "yarn" and ((root / ".yarnrc.yml").is_file() or says_berry or "__metadata:" in lock_text)
    # corepack brings the manager that package.json names if it is not installed itself.
    here = surroundings.has(manager.name) or not surroundings.has("corepack")
    by_corepack = manager.name == name and name in {"pnpm", "yarn"} and not here
    program = f"corepack {manager.name}" if by_corepack else manager.name
    # pnpm would fetch the version that package.json names, to where a sandbox lets nobody write.
    call = f"{_AS_IT_IS}{program}" if manager.name == name == "pnpm" and version and not by_corepack else program
    return _Project(root, package, manager, program, lock, berry, call)


def _manager(root: Path, named: str) -> tuple[_Manager, str]:
    first = sorted(_MANAGERS, key=lambda manager: manager.name != named)
    for manager in first:
        for lock in manager.locks:
            if is_committed(root, lock):
                return manager, lock
    return next((manager for manager in _MANAGERS if manager.name == named), _MANAGERS[-1]), ""


def _gates(project: _Project) -> tuple[tuple[DetectedGate, ...], tuple[str, ...]]:
    """Return the scripts that are gates, and the packages that could not be read."""
    own = table(project.package, "scripts")
    globs = patterns(project.root, project.package)
    inner, notes = [], []
    for member in members(project.root, globs):
        try:
            inner.append(table(json.loads(text_of(project.root / member / "package.json")), "scripts"))
        except (ValueError, RecursionError) as error:
            notes.append(f"{member}/package.json could not be read: {error}")
    gates = []
    for script, kind in _NODE["scripts"].items():
        name, needs = f"{project.manager.name}-{script}", (project.start,)
        if _is_script(own, script):
            why = f'package.json has the script "{script}"'
            gates.append(DetectedGate(name, f"{project.call} run {script}", kind, why, needs))
        elif project.manager.everywhere and any(_is_script(scripts, script) for scripts in inner):
            why = f'packages of the monorepo have the script "{script}"'
            command = f"{project.call} {project.manager.everywhere.format(script)}"
            gates.append(DetectedGate(name, command, kind, why, needs))
    if not any(gate.kind == "test" for gate in gates):
        gates += _without_script(project)
    return tuple(gates), tuple(notes)


def _without_script(project: _Project) -> list[DetectedGate]:
    """Return how tests that no script runs are run: by the runner that is installed, else by node itself."""
    named = {*table(project.package, "dependencies"), *table(project.package, "devDependencies")}
    runner = next((name for name in _NODE["runners"] if name in named), "")
    file = first_file(project.root, _NODE["tests"] if runner else _NODE["tests"][:3])
    if not file or (project.root / "pyproject.toml").is_file():
        return []
    why = f"{file} is there"
    if not runner:
        return [DetectedGate("node-test", "node --test", "test", why, ("node",))]
    command = f"{project.call} {project.manager.tool} {_NODE['runners'][runner]}".replace("  ", " ")
    return [DetectedGate(runner, command, "test", why, (project.start,))]


def _is_script(scripts: dict[str, Any], name: str) -> bool:
    return isinstance(scripts.get(name), str) and _NO_TEST not in scripts[name]


def _setup(project: _Project) -> tuple[DetectedSetup, ...]:
    root, package, manager = project.root, project.package, project.manager
    globs = patterns(root, package)
    if not project.lock and not (package.get("dependencies") or package.get("devDependencies") or globs):
        return ()
    install = manager.install if project.lock else manager.unlocked
    settings = ""
    if project.berry:
        # The cache that all projects of a person share is not there for each of a workspace's commands.
        install, settings = "install --immutable", "YARN_ENABLE_GLOBAL_CACHE=false "
    inputs = [*((project.lock,) if project.lock else ()), "package.json"]
    inputs += [f"{glob}/package.json" for glob in globs if not glob.startswith("!")]
    inputs += present(root, _NODE["inputs"])
    inputs += [f"{folder}/**" for folder in _NODE["patches"] if (root / folder).is_dir()]
    why, command = _WHY + (_MORE_PACKAGES if globs else ""), f"{settings}{project.call} {install}"
    return (DetectedSetup(command, tuple(inputs), _keep(project, members(root, globs)), why, (project.start,)),)


def _keep(project: _Project, inner: tuple[str, ...]) -> tuple[str, ...]:
    """Return what the install makes: a folder for each package, or the files of yarn's Plug'n'Play."""
    modules = (_MODULES, *(f"{member}/{_MODULES}" for member in inner))
    if not project.berry:
        return modules
    linker = yaml_of(project.root / ".yarnrc.yml").get("nodeLinker", "pnp")
    # What is committed of it (a "zero install") is part of the work and must not be kept apart.
    committed = {rule.removeprefix("!").strip("/") for rule in ignore_lines(project.root) if rule.startswith("!")}
    if ".yarn/cache" in committed:
        committed |= {".pnp.cjs", ".pnp.loader.mjs"}
    kept = tuple(path for path in _NODE["plug_and_play"] if path not in committed)
    if linker == "pnp":
        return kept
    return (*modules, *(path for path in kept if path.startswith(".yarn/")))
