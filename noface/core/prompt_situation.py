"""Which prompt is written when: one template for each situation a worker, or a model that is asked, can be in."""

from enum import StrEnum

from noface.core.actions import Mode, prompt_of
from noface.core.taxonomy import FailureKind

SUFFIX = ".md.j2"
"""What the names of template files end in."""


class Situation(StrEnum):
    """What a prompt is for; the value names its template."""

    FIRST = "first"
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

    @property
    def template(self) -> str:
        """The file name of its template."""
        return f"{self.value}{SUFFIX}"

    @property
    def asks(self) -> bool:
        """True where a question is asked, False where an issue is worked on."""
        return self in QUESTIONS


QUESTIONS = frozenset(
    {
        Situation.DIAGNOSIS,
        Situation.REFLECTION,
        Situation.CLARIFICATION,
        Situation.BOUNDARY,
        Situation.CONFLICT,
        Situation.ARCHITECT,
        Situation.BREAKDOWN,
        Situation.REVIEWER,
    }
)
"""The situations in which a model is asked something; the others give it work."""

_BY_FAILURE = {
    FailureKind.MERGE_CONFLICT: Situation.MERGE_CONFLICT,
    FailureKind.REVIEW_REJECTED: Situation.REVIEW,
    FailureKind.OUTPUT_FORMAT: Situation.FORMAT_REMINDER,
}


def situation_for(action_kind: str, failure_kind: str | None) -> Situation:
    """Return the situation of the attempt that an action starts, after a failure of that kind (None: after none).

    What some failures need said comes before what the action would say, except at a first attempt: it begins
    afresh. An action that repeats (RetrySame, a wait) is a first attempt again, or a retry.
    """
    first = action_kind == Mode.FIRST
    if not first and failure_kind in _BY_FAILURE:
        return _BY_FAILURE[FailureKind(failure_kind)]
    named = prompt_of(action_kind)
    if named:
        return Situation(named)
    return Situation.FIRST if failure_kind is None else Situation.RETRY
