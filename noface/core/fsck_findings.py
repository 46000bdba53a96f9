"""What a check of noface's state comes to: findings, each with what a repair does about it or what a person does."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """Who has to do something: nobody, `noface fsck --repair`, or a person."""

    NOTE = "note"
    REPAIRABLE = "repairable"
    PERSON = "person"


class Kind(StrEnum):
    """What is not as it should be."""

    DATABASE_UNUSABLE = "database-unusable"
    DATABASE_DAMAGED = "database-damaged"
    DATABASE_MISSING = "database-missing"
    RUN_OPEN = "run-open"
    ATTEMPT_OPEN = "attempt-open"
    QUESTION_OPEN = "question-open"
    ISSUE_OPEN = "issue-open"
    LANDING_OPEN = "landing-open"
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
    REF_LEFT = "ref-left"
    REF_UNKNOWN = "ref-unknown"
    BRANCH_OF_A_PERSON = "branch-of-a-person"
    FOLDER_UNKNOWN = "folder-unknown"
    COUNTERS_WRONG = "counters-wrong"
    PROCESS_LEFT = "process-left"
    LOCK_LEFT = "lock-left"
    PRIVATE_GIT_CHANGED = "private-git-changed"


IN_FLIGHT = frozenset(
    {
        Kind.RUN_OPEN,
        Kind.ATTEMPT_OPEN,
        Kind.QUESTION_OPEN,
        Kind.ISSUE_OPEN,
        Kind.LANDING_OPEN,
        Kind.LANDING_CUT_OFF,
        Kind.REF_LEFT,
        Kind.LOCK_LEFT,
        Kind.PROCESS_LEFT,
        Kind.FOLDER_UNKNOWN,
    }
)
"""What is as it should be while a run is at work."""


class RepairKind(StrEnum):
    """What a repair does."""

    RECOVER = "recover"  # what the start of every run does: settle landings, attempts, questions, processes
    END_RUNS = "end-runs"
    MARK_MERGED = "mark-merged"
    HOLD = "hold"
    RELEASE = "release"
    RECOUNT = "recount"
    REWRITE_HUB = "rewrite-hub"
    UNLOCK = "unlock"


@dataclass(frozen=True, slots=True)
class Repair:
    """A repair with what it is about: an issue's id, a ref or a private git dir, and the object concerned."""

    kind: RepairKind
    subject: str = ""
    oid: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be. `advice` is what the repair does, or what a person does."""

    kind: Kind
    severity: Severity
    subject: str
    message: str
    advice: str = ""
    repair: Repair | None = None


def is_sound(findings: tuple[Finding, ...]) -> bool:
    """Tell whether nobody has to do anything."""
    return all(each.severity is Severity.NOTE for each in findings)


def note(kind: Kind, subject: str, message: str, advice: str = "") -> Finding:
    """Return a finding that nobody has to do anything about."""
    return Finding(kind, Severity.NOTE, subject, message, advice)


def for_person(kind: Kind, subject: str, message: str, advice: str) -> Finding:
    """Return a finding that only a person can settle."""
    return Finding(kind, Severity.PERSON, subject, message, advice)


def repairable(kind: Kind, subject: str, message: str, advice: str, repair: Repair) -> Finding:
    """Return a finding that a repair settles without touching anything of a person's."""
    return Finding(kind, Severity.REPAIRABLE, subject, message, advice, repair)
