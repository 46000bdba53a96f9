"""What prompts are made of: the records that go in, and the text that comes out."""

from dataclasses import dataclass
from enum import StrEnum

from noface.core.failure import PriorFailure
from noface.core.gate import GateSpec
from noface.core.history import Part
from noface.core.issue import Issue


@dataclass(frozen=True, slots=True)
class Told:
    """What a model said about the issue: `title` says what it is, `by` which model, `text` is quoted as data."""

    title: str
    text: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class FileExcerpt:
    """A file of the project, or a piece of it, that may help (K3)."""

    path: str
    text: str


class EarlierForm(StrEnum):
    """How much is told of the attempts before the newest (P5): notes, only what they ended with, or their output."""

    NOTES_ONLY = "notes_only"
    MINIMAL = "minimal"
    FULL_OUTPUT = "full_output"


@dataclass(frozen=True, slots=True)
class PromptData:
    """What a worker's prompt is made of.

    `earlier` are the failed attempts, oldest first. `best` is the attempt the workspace starts from (None: main),
    `patch` its diff, or the newest attempt's where there is none; `previous_patch` is the newest attempt's where the
    workspace starts from an older one. `hints` are the user's own, `instruction` and `strategy` noface's. `advice`
    and `lessons` are quoted as data. `report_example` is JSON. `earlier_bytes_max` bounds what is told of the older
    attempts.
    """

    issue: Issue
    gates: tuple[GateSpec, ...]
    protected: tuple[str, ...] = ()
    earlier: tuple[PriorFailure, ...] = ()
    best: PriorFailure | None = None
    patch: str = ""
    previous_patch: str = ""
    hints: tuple[str, ...] = ()
    note: str = ""
    rejected_note: str = ""
    instruction: str = ""
    strategy: str = ""
    advice: tuple[Told, ...] = ()
    lessons: tuple[str, ...] = ()
    files: tuple[FileExcerpt, ...] = ()
    report_example: str = ""
    think: bool = False
    earlier_form: EarlierForm = EarlierForm.NOTES_ONLY
    earlier_bytes_max: int = 20_000


@dataclass(frozen=True, slots=True)
class QuestionData:
    """What a question to another model is made of. What PromptData has too means the same here.

    `answer_example` is the JSON object asked for, `answer_schema` its JSON Schema. `limits` are sentences of noface
    ("at most 8 parts"). `questions` are the worker's (clarification), `paths` the files it is about (those outside
    the limits, or in conflict), `parts` the issue's children, `others` the other issues as lines ("8: Add a button"),
    `results` what the gates said of work under review, as lines.
    `violation` says why the last answer could not be used, `previous_answer` is that answer (L11, P6).
    """

    issue: Issue
    answer_example: str
    gates: tuple[GateSpec, ...] = ()
    earlier: tuple[PriorFailure, ...] = ()
    patch: str = ""
    note: str = ""
    advice: tuple[Told, ...] = ()
    lessons: tuple[str, ...] = ()
    files: tuple[FileExcerpt, ...] = ()
    answer_schema: str = ""
    limits: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    others: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    violation: str = ""
    previous_answer: str = ""
    earlier_form: EarlierForm = EarlierForm.NOTES_ONLY
    earlier_bytes_max: int = 20_000


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt, and what was cut from it, in sentences for a person."""

    text: str
    cuts: tuple[str, ...] = ()
