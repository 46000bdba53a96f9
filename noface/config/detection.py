"""What `noface init` found out about a project: suggestions, each with the reason a person will read."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

GateKindName = Literal["build", "lint", "test"]

_READ_BYTES_MAX = 1_000_000


@dataclass(frozen=True, slots=True)
class DetectedGate:
    """A command that probably tells whether the project works."""

    name: str
    command: str
    kind: GateKindName
    why: str


@dataclass(frozen=True, slots=True)
class DetectedSetup:
    """A command that makes a fresh checkout ready, the files it depends on, and what it makes that should stay.

    `certain` is False where the project may do well without; it is then suggested in a comment.
    """

    command: str
    inputs: tuple[str, ...]
    keep: tuple[str, ...]
    why: str
    certain: bool


@dataclass(frozen=True, slots=True)
class Detection:
    """All that was found; `notes` tell what could not be read."""

    gates: tuple[DetectedGate, ...] = ()
    setups: tuple[DetectedSetup, ...] = ()
    notes: tuple[str, ...] = ()

    def __add__(self, other: "Detection") -> "Detection":
        """Join two findings, in order."""
        return Detection(self.gates + other.gates, self.setups + other.setups, self.notes + other.notes)

    def has(self, kind: GateKindName) -> bool:
        """Tell whether there is a gate of this kind."""
        return any(gate.kind == kind for gate in self.gates)


def text_of(path: Path) -> str:
    """Return the beginning of a file of the project, "" where there is none that can be read."""
    try:
        with path.open("rb") as file:
            return file.read(_READ_BYTES_MAX).decode("utf-8", "replace")
    except OSError:
        return ""
