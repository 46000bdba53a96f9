"""The person's checkouts: a gate must judge the workspace, so neither its environment nor its box leads there."""

import os
import pwd
from collections.abc import Mapping
from pathlib import Path

from noface.git.repository import Repository
from noface.loop.workshop import Workshop
from noface.system.environment import Variables, gate_environment, without_places
from noface.system.files import read_regular
from noface.system.sandbox_home import below

_POINTER_BYTES_MAX = 8192


def gate_variables(shop: Workshop, env_pass: tuple[str, ...], token: str, *, leaky: bool = False) -> Variables:
    """Return the environment of a gate or setup. It leads into no checkout of the person's, but where it is `leaky`."""
    env = gate_environment(env_pass)
    roots = () if leaky else checkouts(shop.plumbing.repository, home_of(dict(env)))
    if roots:
        env = without_places(env, roots, environments(dict(env), roots), env_pass)
    return (*env, *shop.markers(token))


def home_of(env: dict[str, str]) -> str:
    """Return the home that programs are told of; the user's own where that is none."""
    named = os.path.realpath(env.get("HOME", "")) if env.get("HOME", "").startswith("/") else ""
    return named if named and Path(named).is_dir() else own_home()


def own_home() -> str:
    """Return the home that the system knows of the user."""
    return os.path.realpath(pwd.getpwuid(os.geteuid()).pw_dir)


def checkouts(repository: Repository, home: str) -> tuple[str, ...]:
    """Return the working trees of the repository that can be hidden: those that do not hold the home itself."""
    return tuple(root for root in all_checkouts(repository) if not below(home, (root,)) and Path(root).is_dir())


def environments(env: Mapping[str, str], roots: tuple[str, ...]) -> tuple[str, ...]:
    """Return the virtual environments in the folders `roots` whose programs are on PATH."""
    folders = [folder for folder in env.get("PATH", "").split(":") if below(folder, roots)]
    return tuple(dict.fromkeys(prefix for folder in folders if (prefix := _environment(folder))))


def all_checkouts(repository: Repository) -> tuple[str, ...]:
    """Return the working trees of the repository."""
    linked = []
    for pointer in repository.common_dir.glob("worktrees/*/gitdir"):
        told = read_regular(pointer, _POINTER_BYTES_MAX)
        if told:
            linked.append(str(Path(os.fsdecode(told).strip()).parent))
    return (str(repository.root), *linked)


def _environment(folder: str) -> str:
    """Return the virtual environment that a folder of programs is of, "" where it is of none."""
    parent = Path(folder).parent
    return str(parent) if (parent / "pyvenv.cfg").exists() else ""


def prefix_of(folder: str) -> str:
    """Return what a folder of programs belongs to: a virtual environment, an installation of packages, or itself."""
    path = Path(folder)
    if "node_modules" in path.parts:
        return str(Path(*path.parts[: path.parts.index("node_modules")]))
    return _environment(folder) or folder
