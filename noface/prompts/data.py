"""What prompts are made of: the situation they are for, the records that go in, and the text that comes out.

Each situation of a worker, or of a model that is asked, has a template of its own.
"""

from dataclasses import dataclass
from enum import StrEnum

from noface.model.actions import Mode, action_text
from noface.model.failure import Failure, PriorFailure
from noface.model.gate import GateSpec
from noface.model.history import Decided
from noface.model.issue import Issue
from noface.model.protection import always_protected, default_protected
from noface.model.start import NOTHING_YET, CutOff, StartPoint
from noface.model.taxonomy import FailureKind


@dataclass(frozen=True, slots=True)
class Quote:
    """A model's words about the issue: `title` says what it is, `by` which model, `text` is quoted as data."""

    title: str
    text: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class RelatedFile:
    """A file of the project that may help, and why (K3): who reads of it stands in the checkout."""

    path: str
    why: str


class EarlierForm(StrEnum):
    """What a prompt says of the attempts before the newest (P5): notes, only what they ended with, or their output."""

    NOTES_ONLY = "notes_only"
    MINIMAL = "minimal"
    FULL_OUTPUT = "full_output"


@dataclass(frozen=True, slots=True)
class PromptData:
    """What a worker's prompt is made of, or a question to another model.

    `earlier` are the failed attempts, oldest first; `told` is the number of the one told in full (0: the newest).
    `patch` is the diff of the attempt that `start` names, else the newest attempt's; `main_patch` what main has changed
    since. `compare` is the command that shows what is in the workspace against main.
    `hints` are the user's, `instruction` and `strategy` noface's; `diagnosis`, `advice` and `lessons` are quoted as
    data. `on_main` is how the issue's own commands fail there. `points` are what reviews asked for that is open.
    `decided` and `note` are the owner's. `notes` are for a person.

    Of a question: its `answer_example`; `whole_patch`: the answer is about each line of it. `limits` are sentences of
    noface ("at most 8 parts"), `questions` the worker's, `paths` the files it is about, `others` the other issues as
    lines ("8: Add a button"), `results` what the gates found in work under review.
    """

    issue: Issue
    gates: tuple[GateSpec, ...] = ()
    protected: tuple[str, ...] = ()
    earlier: tuple[PriorFailure, ...] = ()
    told: int = 0
    start: StartPoint = NOTHING_YET
    cut_off: CutOff | None = None
    patch: str = ""
    whole_patch: bool = False
    main_patch: str = ""
    compare: str = ""
    hints: tuple[str, ...] = ()
    note: str = ""
    decided: tuple[Decided, ...] = ()
    instruction: str = ""
    strategy: str = ""
    another_way: bool = False
    diagnosis: tuple[Quote, ...] = ()
    advice: tuple[Quote, ...] = ()
    lessons: tuple[str, ...] = ()
    files: tuple[RelatedFile, ...] = ()
    on_main: Failure | None = None
    points: tuple[str, ...] = ()
    read_first: tuple[str, ...] = ()
    report_example: str = ""
    answer_example: str = ""
    limits: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    think: bool = False
    earlier_form: EarlierForm = EarlierForm.NOTES_ONLY
    earlier_bytes_max: int = 20_000
    notes: tuple[str, ...] = ()


SUFFIX = ".md.j2"
"""What the names of template files end in."""


class Situation(StrEnum):
    """What a prompt is for; the value names its template."""

    FIRST = "first"
    RESUME = "resume"
    RETRY = "retry"
    ESCALATE = "escalate"
    THINK = "think"
    REDUCE = "reduce"
    CONTEXT = "context"
    MERGE_CONFLICT = "merge_conflict"
    REVIEW = "review"
    FORMAT_REMINDER = "format_reminder"
    DIAGNOSIS = "diagnosis"
    REFLECTION = "reflection"
    CLARIFICATION = "clarification"
    BOUNDARY = "boundary"
    CONFLICT = "conflict"
    ARCHITECT = "architect"
    BREAKDOWN = "breakdown"
    REVIEWER = "reviewer"
    CHANGED_TESTS = "changed_tests"
    MISSING = "missing"

    @property
    def template(self) -> str:
        return f"{self.value}{SUFFIX}"

    @property
    def asks(self) -> bool:
        return self.value not in (*_WORK, "format_reminder")


_WORK = ("first", "resume", "retry", "escalate", "think", "reduce", "context", "merge_conflict", "review")
"""The situations in which a model gets work, and FORMAT_REMINDER; in the others it is asked something."""

_BY_FAILURE = {
    FailureKind.MERGE_CONFLICT: Situation.MERGE_CONFLICT,
    FailureKind.REVIEW_REJECTED: Situation.REVIEW,
    FailureKind.OUTPUT_FORMAT: Situation.FORMAT_REMINDER,
}


def situation_for(action_kind: str, failure_kind: str | None) -> Situation:
    """Return an attempt's situation: some failures call for one of their own, but not at a first attempt."""
    if action_kind != Mode.FIRST and failure_kind in _BY_FAILURE:
        return _BY_FAILURE[FailureKind(failure_kind)]
    named = action_text(action_kind, "prompt")
    if named:
        return Situation(named)
    return Situation.FIRST if failure_kind is None else Situation.RETRY


_NAMED_MAX = 8
_GLOB = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class ProtectedExcerpt:
    """`usual`, `agents`: the built-in patterns all hold, so that words can stand for them; `more` are not named."""

    usual: bool = False
    agents: bool = False
    paths: tuple[str, ...] = ()
    more: int = 0


def protected_excerpt(protected: tuple[str, ...]) -> ProtectedExcerpt:
    """Return what to say: files come before patterns."""
    usual = set(default_protected()) <= set(protected)
    agents = set(always_protected()) <= set(protected)
    in_words = {*(default_protected() if usual else ()), *(always_protected() if agents else ())}
    rest = [path for path in dict.fromkeys(protected) if path not in in_words]
    ranked = sorted(rest, key=lambda path: bool(_GLOB & set(path)))
    return ProtectedExcerpt(usual, agents, tuple(ranked[:_NAMED_MAX]), max(0, len(ranked) - _NAMED_MAX))
