"""What `noface init` detects in a project: suggestions, each with the reason that a person will read."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

GateKindName = Literal["build", "lint", "test"]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the caller knows of the machine and the repository; detection itself looks at files only.

    `has` tells whether a program is on PATH; `version` is the version of the newest tag, "" without one.
    """

    has: Callable[[str], bool] = lambda _program: True
    version: str = ""


@dataclass(frozen=True, slots=True)
class DetectedGate:
    """A command that probably tells whether the project works; `covers` are those of CI that it stands for."""

    name: str
    command: str
    kind: GateKindName
    why: str
    needs: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True, slots=True)
class DetectedSetup:
    """A command that makes a fresh checkout ready, the files it depends on, and what it makes that should stay."""

    command: str
    inputs: tuple[str, ...]
    keep: tuple[str, ...]
    why: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Detection:
    """All suggestions, CI's commands with file and job, and what of them no gate can do, with the reason."""

    gates: tuple[DetectedGate, ...] = ()
    setups: tuple[DetectedSetup, ...] = ()
    notes: tuple[str, ...] = ()
    ci: tuple[tuple[str, str], ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()

    def __add__(self, other: "Detection") -> "Detection":
        return Detection(
            self.gates + other.gates, self.setups + other.setups, self.notes + other.notes, self.ci + other.ci
        )

    def has(self, kind: GateKindName) -> bool:
        return any(gate.kind == kind and not gate.refused for gate in self.gates)


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
        "\n".join(distinct(setup.why for setup in each)),
        distinct(program for setup in each for program in setup.needs),
    )
