"""What `noface init` detects in a project: suggestions, each with the reason that a person will read."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, Literal

GateKindName = Literal["build", "lint", "test"]

_READ_BYTES_MAX = 1_000_000
_FOLDERS_MAX = 2_000
_NOT_OWN = ("node_modules", "vendor", "third_party", "thirdparty", "build", "dist", "target", "site-packages")


def _everything(_program: str) -> bool:
    return True


def _nothing(_program: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the caller knows of the machine and the repository; detection itself looks at files only.

    `has` tells whether a program is on PATH, `version_of` what it says when asked for its version, "" if nothing.
    `version` is the version of the newest tag, "" without one.
    """

    has: Callable[[str], bool] = field(default=_everything)
    version: str = ""
    version_of: Callable[[str], str] = field(default=_nothing)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an environment needs besides the package: names of extras and groups, and words for pip."""

    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    items: tuple[str, ...] = ()

    def __add__(self, other: "Wanted") -> "Wanted":
        """Join both, each name once."""
        return Wanted(
            tuple(dict.fromkeys(self.extras + other.extras)),
            tuple(dict.fromkeys(self.groups + other.groups)),
            tuple(dict.fromkeys(self.items + other.items)),
        )

    def __bool__(self) -> bool:
        """Tell whether anything is wanted."""
        return bool(self.extras or self.groups or self.items)


@dataclass(frozen=True, slots=True)
class DetectedGate:
    """A command that probably tells whether the project works; `needs` are the programs it can't do without."""

    name: str
    command: str
    kind: GateKindName
    why: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DetectedSetup:
    """A command that makes a fresh checkout ready, the files it depends on, and what it makes that should stay.

    `needs` are the programs it can't do without.
    """

    command: str
    inputs: tuple[str, ...]
    keep: tuple[str, ...]
    why: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Detection:
    """All suggestions; `notes` say what could not be read, and what a person has to see to.

    `missing` are programs that are not on PATH and that only a linter of their own needs: it is written in a comment.
    """

    gates: tuple[DetectedGate, ...] = ()
    setups: tuple[DetectedSetup, ...] = ()
    notes: tuple[str, ...] = ()
    missing: frozenset[str] = frozenset()

    def __add__(self, other: "Detection") -> "Detection":
        """Join two detections, in order."""
        return Detection(
            self.gates + other.gates,
            self.setups + other.setups,
            self.notes + other.notes,
            self.missing | other.missing,
        )

    def has(self, kind: GateKindName) -> bool:
        """Tell whether there is a gate of this kind."""
        return any(gate.kind == kind for gate in self.gates)

    def usable(self, suggestion: DetectedGate | DetectedSetup) -> bool:
        """Tell whether all programs that a gate or setup needs are there."""
        return self.missing.isdisjoint(suggestion.needs)


def joined(setups: Iterable[DetectedSetup]) -> DetectedSetup | None:
    """Return one setup that does what all of them do, in their order; None of none."""
    each = tuple(setups)
    if not each:
        return None
    return DetectedSetup(
        " && ".join(setup.command for setup in each),
        _distinct(path for setup in each for path in setup.inputs),
        _distinct(path for setup in each for path in setup.keep),
        "\n".join(setup.why for setup in each),
        _distinct(program for setup in each for program in setup.needs),
    )


def text_of(path: Path) -> str:
    """Return the beginning of a file of the project, "" if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(_READ_BYTES_MAX).decode("utf-8", "replace")
    except OSError:
        return ""


def is_committed(root: Path, name: str) -> bool:
    """Tell whether a file is there and not ignored by name: workspaces don't have what git ignores."""
    return (root / name).is_file() and not {name, f"/{name}"} & set(ignore_lines(root))


def ignore_lines(root: Path) -> tuple[str, ...]:
    """Return the rules of the .gitignore at the top."""
    return tuple(line.strip() for line in text_of(root / ".gitignore").splitlines())


def present(root: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the files that are there."""
    return tuple(name for name in names if (root / name).is_file())


def is_inner(path: str) -> bool:
    """Tell whether a path that a project's file names lies inside the project, spelled so that it can be kept."""
    parts = PurePosixPath(path).parts
    unusual = path.startswith(("/", "~")) or "\\" in path or not path.isprintable()
    return bool(parts) and not unusual and not {"..", ".git"} & set(parts)


def table(value: object, *names: str) -> dict[str, Any]:
    """Return the table that `names` lead to from `value`, an empty one where something else is on the way."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def texts(value: object) -> tuple[str, ...]:
    """Return the texts of a list, none where it is something else."""
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def first_file(root: Path, patterns: Iterable[str]) -> str:
    """Return the first file of a project that is named so, the one nearest to the top; "" without one.

    What is installed or built is not the project's.
    """
    wanted = tuple(patterns)
    folders, seen = [root], 0
    while folders and seen < _FOLDERS_MAX:
        inner = []
        for folder in folders:
            seen += 1
            try:
                paths = sorted(folder.iterdir())
            except OSError:
                continue
            for path in paths:
                if any(fnmatchcase(path.name, pattern) for pattern in wanted) and path.is_file():
                    return path.relative_to(root).as_posix()
            named = (path for path in paths if not path.name.startswith(".") and path.name not in _NOT_OWN)
            inner += [
                path for path in named if path.is_dir() and not path.is_symlink() and not (path / "pyvenv.cfg").exists()
            ]
        folders = inner
    return ""


def scripts_in(folder: Path) -> dict[str, str]:
    """Return the scripts of a folder's package.json, none where there is none to read."""
    try:
        scripts = table(json.loads(text_of(folder / "package.json")), "scripts")
    except (ValueError, RecursionError):
        return {}
    return {name: text for name, text in scripts.items() if isinstance(text, str)}


def _distinct(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))
