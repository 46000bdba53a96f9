"""What `noface init` detects in a project: suggestions, each with the reason that a person will read.

What they are read from: a step of CI, and a session of tox, nox or a task runner, both as lines of shell.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from noface import data

GateKindName = Literal["build", "lint", "test"]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the caller knows of the machine and the repository; detection itself looks at files only.

    `has` tells whether a program is on PATH, `version_of` what it says when asked for its version, "" if nothing.
    `version` is the version of the newest tag, "" without one.
    """

    has: Callable[[str], bool] = lambda _program: True
    version: str = ""
    version_of: Callable[[str], str] = lambda _program: ""


@dataclass(frozen=True, slots=True)
class Needs:
    """What an environment needs besides the package: names of extras and groups, and words for pip."""

    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    items: tuple[str, ...] = ()

    def __add__(self, other: "Needs") -> "Needs":
        """Join both, each name once."""
        pairs = ((self.extras, other.extras), (self.groups, other.groups), (self.items, other.items))
        return Needs(*(tuple(dict.fromkeys(one + two)) for one, two in pairs))

    def __bool__(self) -> bool:
        """True if anything is wanted."""
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

    `missing` are programs that are not on PATH and that only a part of the checks needs: it is written in a comment.
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
        """True if there is a gate of this kind."""
        return any(gate.kind == kind for gate in self.gates)

    def usable(self, suggestion: DetectedGate | DetectedSetup) -> bool:
        """True if all programs that a gate or setup needs are there."""
        return self.missing.isdisjoint(suggestion.needs)


def joined(setups: Iterable[DetectedSetup]) -> DetectedSetup | None:
    """Return one setup that does what all of them do, in their order; None of none."""
    each = tuple(setups)
    if not each:
        return None

    def distinct(items: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(items))

    return DetectedSetup(
        " && ".join(setup.command for setup in each),
        distinct(path for setup in each for path in setup.inputs),
        distinct(path for setup in each for path in setup.keep),
        "\n".join(setup.why for setup in each),
        distinct(program for setup in each for program in setup.needs),
    )


CI = data.table("ci")
NOISE = re.compile(CI["noise"]["pattern"])
"""Variables that say nothing about the checks."""


@dataclass(frozen=True, slots=True)
class CiStep:
    """A script that a job runs: `where` names file and job, `folder` is where it runs, "" for the top.

    `other` is why it can't be taken over as it is, "" if it can; without a script, whose workflow the job is.
    """

    script: str
    where: str
    folder: str = ""
    env: tuple[tuple[str, str], ...] = ()
    other: str = ""


@dataclass(frozen=True, slots=True)
class RunnerSession:
    """What a runner runs in an environment of its own, in which folder, and what it installs there."""

    name: str
    lines: tuple[str, ...]
    wanted: Needs
    folder: str = ""


def option_values(words: list[str], *options: str) -> list[str] | None:
    """Return what is given with an option, None without it."""
    for index, word in enumerate(words):
        option, _, value = word.partition("=")
        if word in options and index + 1 < len(words):
            rest = words[index + 1 :]
            end = next((place for place, each in enumerate(rest) if each.startswith("-")), len(rest))
            return [name for each in rest[: end or 1] for name in re.split(r"[,\s]", each) if name]
        if option in options and value:
            return [name for name in value.split(",") if name]
    return None
