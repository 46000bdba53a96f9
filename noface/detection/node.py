"""What package.json says about a project's gates and its setup, and those of a monorepo about their packages."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noface import data
from noface.detection.detected import DetectedGate, DetectedSetup, Detection, GateKindName, Surroundings
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
from noface.model.json_record import json_value

_NODE = data.table("ecosystems")["node"]
_MODULES = "node_modules"
_MEMBERS_MAX = 200
_NO_TEST = "no test specified"
"""What `npm init` writes; it always fails."""
_AS_IT_IS = "COREPACK_ROOT=none "
"""With it pnpm does not fetch the version that package.json names, to where a sandbox lets nobody write."""
_WHY = (
    "Workspaces are fresh checkouts outside the repository, so your node_modules is not there;\n"
    "it is installed once for each workspace, and again when a file of setup_inputs changes."
)
_MORE_PACKAGES = "\n(A new package of the monorepo needs its node_modules named in keep.)"


@dataclass(frozen=True, slots=True)
class _Project:
    """A package.json with its manager, an entry of the table; `call` starts that, `lock` is its lock file or ""."""

    root: Path
    package: dict[str, Any]
    manager: dict[str, Any]
    lock: str
    call: str
    globs: tuple[str, ...]

    @property
    def members(self) -> tuple[str, ...]:
        found = (path.parent.relative_to(self.root) for each in self.globs for path in self.root.glob(_manifest(each)))
        own = {place.as_posix() for place in found if place.parts and _MODULES not in place.parts}
        return tuple(sorted(own)[:_MEMBERS_MAX])

    def gate(self, name: str, words: str, kind: GateKindName, why: str) -> DetectedGate:
        return DetectedGate(name, f"{self.call} {words}".replace("  ", " "), kind, why, (self.call.split()[-1],))


def detect_node(root: Path, surroundings: Surroundings) -> Detection:
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
    return Detection(_gates(project), _setup(project))


def _project(root: Path, package: dict[str, Any], surroundings: Surroundings) -> _Project:
    named, _, version = str(package.get("packageManager") or "").partition("@")
    managers = _NODE["managers"]
    locked = ((each, lock) for each in managers for lock in each["locks"] if is_committed(root, lock))
    manager, lock = next(locked, (next((each for each in managers if each["name"] == named), managers[-1]), ""))
    if lock == "yarn.lock" and "__metadata:" in text_of(root / lock)[:500]:
        manager = next(each for each in managers if "berry" in each)
    name = manager["name"]
    # corepack brings the manager that package.json names if it is not installed itself.
    by_corepack = name == named in {"pnpm", "yarn"} and not surroundings.has(name) and surroundings.has("corepack")
    pinned = _AS_IT_IS if name == named == "pnpm" and version else ""
    call = f"corepack {name}" if by_corepack else f"{pinned}{name}"
    listed = texts(package.get("workspaces")) or texts(table(package, "workspaces").get("packages"))
    of_pnpm = texts(yaml_of(root / "pnpm-workspace.yaml").get("packages"))
    globs = (glob.removeprefix("./").rstrip("/") for glob in (*of_pnpm, *listed))
    readable = tuple(glob for glob in globs if is_inner(glob) and re.fullmatch(r"[\w@.*/-]+", glob))
    return _Project(root, package, manager, lock, call, readable)


def _manifest(glob: str) -> str:
    return f"{glob}/package.json"


def _gates(project: _Project) -> tuple[DetectedGate, ...]:
    root, manager, own = project.root, project.manager, table(project.package, "scripts")
    inner = [table(json_value(text_of(root / _manifest(member))), "scripts") for member in project.members]
    gates = []
    for script, kind in _NODE["scripts"].items():
        name = f"{manager['name']}-{script}"
        if _is_script(own, script):
            gates.append(project.gate(name, f"run {script}", kind, f'package.json has the script "{script}"'))
        elif "everywhere" in manager and any(_is_script(scripts, script) for scripts in inner):
            why = f'packages of the monorepo have the script "{script}"'
            gates.append(project.gate(name, manager["everywhere"].format(script), kind, why))
    if any(gate.kind == "test" for gate in gates):
        return tuple(gates)
    named = {*table(project.package, "dependencies"), *table(project.package, "devDependencies")}
    runner = next((name for name in _NODE["runners"] if name in named), "")
    file = first_file(root, tuple(_NODE["tests"] if runner else _NODE["tests"][:3]))
    if file and runner:
        words = f"{manager.get('tool', '')} {_NODE['runners'][runner]}"
        gates.append(project.gate(runner, words, "test", f"{file} is there"))
    elif file:
        gates.append(DetectedGate("node-test", "node --test", "test", f"{file} is there", ("node",)))
    return tuple(gates)


def _is_script(scripts: dict[str, Any], name: str) -> bool:
    return isinstance(scripts.get(name), str) and _NO_TEST not in scripts[name]


def _setup(project: _Project) -> tuple[DetectedSetup, ...]:
    root, package, manager = project.root, project.package, project.manager
    if not (project.lock or project.globs or package.get("dependencies") or package.get("devDependencies")):
        return ()
    install = manager["install"] if project.lock else manager.get("unlocked", manager["install"])
    lock = (project.lock,) if project.lock else ()
    inputs = dict.fromkeys((*lock, *present(root, _NODE["inputs"]), *map(_manifest, project.globs)))
    if (root / "patches").is_dir():
        inputs["patches/**"] = None
    # What is committed of yarn's files is part of the work and must not be kept apart.
    committed = {rule.removeprefix("!").strip("/") for rule in ignore_lines(root) if rule.startswith("!")}
    committed |= {".pnp.cjs", ".pnp.loader.mjs"} if ".yarn/cache" in committed else set()
    own = (path for path in manager.get("keep", ()) if path not in committed)
    keep = (_MODULES, *(f"{member}/{_MODULES}" for member in project.members), *own)
    command = f"{manager.get('variables', '')}{project.call} {install}"
    why = _WHY + (_MORE_PACKAGES if project.globs else "")
    return (DetectedSetup(command, tuple(inputs), keep, why, (project.call.split()[-1],)),)
