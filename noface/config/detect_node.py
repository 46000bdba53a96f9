"""What package.json says about a project's gates and its setup."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from noface.config.detection import DetectedGate, DetectedSetup, Detection, GateKindName, text_of


class _Manager(NamedTuple):
    name: str
    locks: tuple[str, ...]
    install: str


# The first whose lock file is there; npm where there is none.
_MANAGERS = (
    _Manager("pnpm", ("pnpm-lock.yaml",), "pnpm install --frozen-lockfile"),
    _Manager("yarn", ("yarn.lock",), "yarn install --frozen-lockfile"),
    _Manager("bun", ("bun.lock", "bun.lockb"), "bun install --frozen-lockfile"),
    _Manager("npm", ("package-lock.json", "npm-shrinkwrap.json"), "npm ci"),
)
_SCRIPTS: tuple[tuple[str, GateKindName], ...] = (
    ("build", "build"),
    ("lint", "lint"),
    ("typecheck", "lint"),
    ("type-check", "lint"),
    ("test", "test"),
)
# What `npm init` writes; it always fails.
_NO_TEST = "no test specified"


def detect_node(root: Path) -> Detection:
    """Return the scripts that are gates, run by the project's package manager, and its install as setup."""
    if not (root / "package.json").is_file():
        return Detection()
    try:
        package = json.loads(text_of(root / "package.json"))
    except (ValueError, RecursionError) as error:
        return Detection(notes=(f"package.json could not be read: {error}",))
    if not isinstance(package, dict):
        return Detection(notes=("package.json could not be read: it is not an object",))
    manager, lock = _manager(root)
    return Detection(_gates(package, manager), _setup(root, package, manager, lock))


def _manager(root: Path) -> tuple[_Manager, str | None]:
    for manager in _MANAGERS:
        for lock in manager.locks:
            if (root / lock).is_file():
                return manager, lock
    return _MANAGERS[-1], None


def _gates(package: dict[str, Any], manager: _Manager) -> tuple[DetectedGate, ...]:
    scripts = package.get("scripts")
    scripts = scripts if isinstance(scripts, dict) else {}
    return tuple(
        DetectedGate(
            f"{manager.name}-{script}",
            f"{manager.name} run {script}",
            kind,
            f'package.json has the script "{script}"',
        )
        for script, kind in _SCRIPTS
        if isinstance(scripts.get(script), str) and _NO_TEST not in scripts[script]
    )


def _setup(root: Path, package: dict[str, Any], manager: _Manager, lock: str | None) -> tuple[DetectedSetup, ...]:
    if lock is None and not (package.get("dependencies") or package.get("devDependencies")):
        return ()
    install = manager.install if lock else "npm install"
    # yarn 2 and later call it so; their configuration file tells them from yarn 1.
    if manager.name == "yarn" and (root / ".yarnrc.yml").is_file():
        install = "yarn install --immutable"
    why = (
        "Workspaces are fresh checkouts outside the repository, so your node_modules is not there;\n"
        "it is installed once for each workspace, and again when these inputs change:"
    )
    return (DetectedSetup(install, (lock or "package.json",), ("node_modules",), why, certain=True),)
