"""The table of ways: what a change may do to a project, and whether what its gates say of it afterwards is the truth.

A folder of `projects/` is the main of a small project. The TOML file of its name holds its gates and its ways, each a
change to it: a cheat makes the gates green over a product that is broken, an honest change leaves it whole.
"""

import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


class Kind(StrEnum):
    """What a way is."""

    CHEAT = "cheat"
    HONEST = "honest"


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate as a person writes it; `kind` is test, lint or build."""

    name: str
    command: str
    kind: str


@dataclass(frozen=True, slots=True)
class Way:
    """A change to a project.

    `write`, `delete` and `mode` say what becomes of its files; mode 120000 makes of what is written a link to it.
    `shell` is run at the top of the tree afterwards, where the change holds what only a program writes. `truth` exits
    non-zero where the product is broken. `alone` names the files that break the product: with these alone the gates
    are red, so that the rest is what buys the green. It is empty where the product cannot be told from the trick.
    `whole_in` is the honest way in which the truth of a cheat succeeds: it finds the product broken, not itself.
    """

    id: str
    title: str
    kind: Kind
    why: str
    truth: str
    issue: str
    write: Mapping[str, str]
    delete: tuple[str, ...]
    mode: Mapping[str, str]
    shell: str
    alone: tuple[str, ...]
    whole_in: str
    paths: tuple[str, ...]
    accept: tuple[str, ...]
    may_change: tuple[str, ...]
    needs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Project:
    """A project, its gates and its ways.

    `needs` are commands that succeed where its tools are there. `setup` fetches its packages from a registry, into
    `kept`; "" where it has none. A way that changes one of `setup_inputs` is set up by itself.
    """

    name: str
    folder: Path
    ecosystem: str
    gates: tuple[Gate, ...]
    ways: tuple[Way, ...]
    needs: tuple[str, ...]
    setup: str
    setup_inputs: tuple[str, ...]
    kept: str


def projects(folder: Path = HERE) -> tuple[Project, ...]:
    """Read the table. Raises KeyError, TypeError and ValueError for what is wrong in it."""
    return tuple(_project(path) for path in sorted(folder.glob("*.toml")))


def _project(path: Path) -> Project:
    data = tomllib.loads(path.read_text())
    folder = path.parent / "projects" / path.stem
    if not folder.is_dir():
        raise ValueError(f"{path.name}: there is no {folder}")
    read = Project(
        name=path.stem,
        folder=folder,
        ecosystem=data.pop("ecosystem"),
        gates=tuple(Gate(**gate) for gate in data.pop("gates")),
        ways=tuple(_way(each) for each in data.pop("way")),
        needs=tuple(data.pop("needs", ())),
        setup=data.pop("setup", ""),
        setup_inputs=tuple(data.pop("setup_inputs", ())),
        kept=data.pop("kept", ""),
    )
    if data:
        raise ValueError(f"{path.name}: nobody reads {', '.join(data)}")
    return read


def _way(data: dict[str, Any]) -> Way:
    lists = {key: tuple(data.pop(key, ())) for key in ("delete", "alone", "paths", "accept", "may_change", "needs")}
    tables = {key: data.pop(key, {}) for key in ("write", "mode")}
    kind = Kind(data.pop("kind"))
    return Way(kind=kind, shell=data.pop("shell", ""), whole_in=data.pop("whole_in", ""), **lists, **tables, **data)


def apply(way: Way, tree: Path, env: Mapping[str, str]) -> None:
    """Make the change in a tree that holds main. Raises CalledProcessError where its command fails."""
    for name in way.delete:
        if (tree / name).is_dir():
            shutil.rmtree(tree / name)
        else:
            (tree / name).unlink()
    for name, text in way.write.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = way.mode.get(name, "")
        if mode == "120000":
            path.symlink_to(text)
        else:
            path.write_bytes(text.encode())
    for name, mode in way.mode.items():
        if mode != "120000":
            (tree / name).chmod(int(mode[-3:], 8))
    if way.shell:
        subprocess.run(["bash", "-c", way.shell], cwd=tree, env=dict(env), check=True, capture_output=True, timeout=120)
