"""Where an attempt starts, as a value: the same value prepares the workspace and is told to the worker.

Every reason has its entry in data/starts.toml.
"""

from dataclasses import dataclass
from enum import StrEnum

from noface.data import table
from noface.model.quoting import some


class Origin(StrEnum):
    """What the workspace holds at the start, beside main (MAIN: nothing). PARTS: what other issues had done."""

    MAIN = "main"
    BEST = "best"
    SNAPSHOT = "snapshot"
    PERSON = "person"
    PARTS = "parts"


class EarlierWork(StrEnum):
    """What to do about an earlier change that is not in the workspace. NONE: there is no such change."""

    NONE = ""
    REDO = "redo"
    AVOID = "avoid"


class StartReason(StrEnum):
    """Why an attempt starts where it does."""

    NOTHING_YET = "nothing_yet"
    BEST_SO_FAR = "best_so_far"
    CUT_OFF = "cut_off"
    BY_PERSON = "by_person"
    CHOSEN = "chosen"
    TAMPERED = "tampered"
    OUT_OF_BOUNDS = "out_of_bounds"
    UNPARSED = "unparsed"
    WORSE_THAN_MAIN = "worse_than_main"
    LEFT_ALONE = "left_alone"
    CONFLICT = "conflict"
    DIVIDED = "divided"
    OF_WHOLE = "of_whole"
    GONE = "gone"

    def told(self, key: str) -> str:
        """Return what starts.toml, which explains its keys, says of this reason under a key, "" for nothing."""
        return str(table("starts")[self].get(key, ""))


_FILES_TOLD_MAX = 20


@dataclass(frozen=True, slots=True)
class StartPoint:
    """Where an attempt starts, and why: at `commit`, merged with main; None stands for main alone.

    `number` is the attempt whose work it holds, or, at main, whose change is not in it. `without` are its files that
    are as on main, `broken` places that do not parse.
    """

    reason: StartReason
    number: int = 0
    commit: str | None = None
    without: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()

    @property
    def origin(self) -> Origin:
        if self.commit is None or not self.reason.told("rest"):
            return Origin(self.reason.told("origin"))
        return Origin.PARTS if self.reason is StartReason.DIVIDED else Origin.BEST

    @property
    def earlier(self) -> EarlierWork:
        return EarlierWork(self.reason.told("earlier"))

    @property
    def holds(self) -> int:
        return self.number if self.origin in (Origin.BEST, Origin.SNAPSHOT) else 0

    @property
    def message(self) -> str:
        text = (self.reason.told("rest") if self.commit is not None else "") or self.reason.told("worker")
        message = text.format(number=self.number, files=some(self.without, _FILES_TOLD_MAX))
        places = some(self.broken, _FILES_TOLD_MAX)
        return f"{message} These files do not parse, they may be half written: {places}." if places else message


@dataclass(frozen=True, slots=True)
class CutOff:
    """What a worker has to know of the attempt that was cut off before its own, and of what ended it (`cause`).

    `broken` are places that do not parse. `edited`: the issue's text has changed.
    """

    cause: str
    main_moved: bool = False
    broken: tuple[str, ...] = ()
    edited: bool = False
    last_output: str = ""


NOTHING_YET = StartPoint(StartReason.NOTHING_YET)
