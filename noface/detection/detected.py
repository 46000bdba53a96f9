"""What `noface init` detects in a project: suggestions, each with the reason that a person will read."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

GateKindName = Literal["build", "lint", "test"]


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


def _distinct(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))
