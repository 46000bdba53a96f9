"""What can come of a landing."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Landed:
    """Main is at the new commit."""

    commit: str


@dataclass(frozen=True, slots=True)
class Moved:
    """Main is no longer where it was; it stands at `commit` now. The merge must be made and proven again."""

    commit: str


@dataclass(frozen=True, slots=True)
class Held:
    """Something of the person's is in the way: `reason` says what, `paths` which files.

    `passing` names what goes by itself as a rule, and soon: another git's lock, a switch of branches.
    """

    reason: str
    paths: tuple[str, ...] = ()
    passing: str = ""


Result = Landed | Moved | Held
