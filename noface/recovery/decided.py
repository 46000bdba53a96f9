"""What a yes of a person to an attempt covers: paths that may change from then on, and its work as it is."""

from noface.integrity.judges import Part, part_of
from noface.integrity.leftovers import LEFT_IN
from noface.integrity.prose import ONLY_PROSE
from noface.model.attempt import PastAttempt
from noface.model.taxonomy import Category, FailureKind
from noface.recovery.start import left_work, wrong_files

OUTSIDE = "outside-paths"
_LAW = ("secret-added",)
_SAID_BY_WORKER = "report-"
_OF_TASTE = (LEFT_IN, ONLY_PROSE)


def is_for_a_person(attempt: PastAttempt) -> bool:
    """True if all that speaks against an attempt's work is what a person may decide: no red gate, no secret, no law."""
    failure = attempt.failure
    if failure is None or not left_work(attempt):
        return left_work(attempt)
    if failure.category is Category.BOUNDARY:
        return failure.rule not in _LAW and not failure.rule.startswith(_SAID_BY_WORKER)
    return failure.kind is FailureKind.REVIEW_REJECTED or failure.rule in _OF_TASTE


def leave_of(attempt: PastAttempt) -> tuple[str, ...]:
    """Return the paths that an attempt's work has to be let change: what judges it, and what its failure names."""
    failure = attempt.failure
    if failure is None or failure.category is not Category.BOUNDARY or failure.rule in _LAW:
        return ()
    named = wrong_files(attempt)
    if failure.kind is not FailureKind.GATE_TAMPERING:
        return named
    return tuple(path for path in attempt.changed if path in named or part_of(path) is not Part.PRODUCT)
