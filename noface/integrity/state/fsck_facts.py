"""What a check of noface's state looks at (facts from git, the database and the state folder) and what it comes to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from noface.integrity.state.landed import TrailedCommit
from noface.model.description import OneOf
from noface.model.gate import GateResult
from noface.model.transitions import UnexpectedStep


@dataclass(frozen=True, slots=True)
class MainMove:
    """An entry of main's reflog. `at` is in epoch seconds; `message` is empty if git was given none."""

    old: str
    new: str
    at: float
    message: str


@dataclass(frozen=True, slots=True)
class IssueFacts:
    """An issue as its row tells; `charged` and `spent` are its counters added up anew from its attempts."""

    id: str
    status: str
    merged_commit: str
    attempts: int
    charged: int
    cost_usd: float | None
    spent: float | None


@dataclass(frozen=True, slots=True)
class AttemptFacts:
    """An attempt as its row tells. `outcome` is "" while it is open; `saved`: its work only needs judging."""

    issue: str
    number: int
    outcome: str
    commit: str
    candidate: str
    directory: str
    saved: bool = False


@dataclass(frozen=True, slots=True)
class LandingFacts:
    """An intended or finished move of main; `gates` are the keys of the results that prove `tree`."""

    issue: str
    old: str
    new: str
    tree: str
    gates: tuple[str, ...]
    state: str


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """What the database holds; `learned` are landings that it learned from main's trailers."""

    damage: tuple[str, ...] = ()
    first_run_at: float | None = None
    open_runs: tuple[str, ...] = ()
    open_questions: int = 0
    learned: frozenset[str] = frozenset()
    released: Mapping[str, int] = field(default_factory=dict)
    issues: tuple[IssueFacts, ...] = ()
    attempts: tuple[AttemptFacts, ...] = ()
    landings: tuple[LandingFacts, ...] = ()
    unexpected_steps: tuple[UnexpectedStep, ...] = ()
    gates: Mapping[str, GateResult] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GitFacts:
    """What the repository holds. `refs` are those of noface; ids below are of commits unless said otherwise.

    `present` are the ids asked about whose object exists, `unreachable` those that no noface ref or branch holds,
    `off_main` those that main does not hold. `missing` are objects that something of noface's refers to.
    """

    main: str
    landed: tuple[TrailedCommit, ...] = ()
    moves: tuple[MainMove, ...] = ()
    refs: Mapping[str, str] = field(default_factory=dict)
    broken_refs: tuple[str, ...] = ()
    present: frozenset[str] = frozenset()
    unreachable: frozenset[str] = frozenset()
    off_main: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()
    cut_off: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """All that is known. `database` is None if it cannot be used (`database_error`) or is not there.

    `names` maps the slug in a ref or folder to its issue's id, for every issue that rows or main tell of; main's own
    gates go by the id "".
    """

    git: GitFacts
    database: DatabaseFacts | None
    database_error: str = ""
    database_hint: str = ""
    running: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    processes: tuple[int, ...] = ()


class Severity(StrEnum):
    """Who has to do something: nobody, `noface tools fsck --repair`, or a person."""

    NOTE = "note"
    REPAIRABLE = "repairable"
    PERSON = "person"


class FaultKind(StrEnum):
    """What is not as it should be."""

    DATABASE_UNUSABLE = "database-unusable"
    DATABASE_DAMAGED = "database-damaged"
    DATABASE_MISSING = "database-missing"
    RUN_OPEN = "run-open"
    ATTEMPT_OPEN = "attempt-open"
    QUESTION_OPEN = "question-open"
    LANDING_OPEN = "landing-open"
    STEP_UNEXPECTED = "step-unexpected"
    LANDING_CUT_OFF = "landing-cut-off"
    LANDING_UNPROVEN = "landing-unproven"
    LANDING_UNRECORDED = "landing-unrecorded"
    LANDING_DIFFERS = "landing-differs"
    MAIN_MOVED = "main-moved"
    MERGE_UNRECORDED = "merge-unrecorded"
    MERGE_LOST = "merge-lost"
    WORK_UNHELD = "work-unheld"
    WORK_MISSING = "work-missing"
    OBJECTS_MISSING = "objects-missing"
    REF_BROKEN = "ref-broken"
    REF_UNKNOWN = "ref-unknown"
    COUNTERS_WRONG = "counters-wrong"
    PROCESS_LEFT = "process-left"


class RepairKind(StrEnum):
    """What a repair does."""

    RECOVER = "recover"  # what every run does: settle landings, attempts, questions, runs, processes
    MARK_MERGED = "mark-merged"
    HOLD = "hold"
    RECOUNT = "recount"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is not as it should be. `of` is what a repair is about, and `oid` the object concerned."""

    kind: Annotated[FaultKind, OneOf(FaultKind), "What is wrong."]
    subject: Annotated[str, "What it is about."]
    message: Annotated[str, "What is wrong with it."]
    advice: Annotated[str, "What the repair does, or what a person does; may be empty."] = ""
    repair: Annotated[RepairKind | None, OneOf(RepairKind), "What --repair does."] = None
    of: str = ""
    oid: str = ""

    @property
    def severity(self) -> Annotated[Severity, OneOf(Severity), "Who has to do something: nobody, a repair, a person."]:
        """Who has to do something: a repair touches nothing of a person's, and a person is told what to do."""
        if self.repair is not None:
            return Severity.REPAIRABLE
        return Severity.PERSON if self.advice else Severity.NOTE
