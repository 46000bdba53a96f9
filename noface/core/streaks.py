"""Reads an issue's attempts from their end: how often in a row the same thing has happened."""

from collections.abc import Callable

from noface.core.attempt import PastAttempt
from noface.core.failure import Failure
from noface.core.taxonomy import Category, FailureKind

Attempts = tuple[PastAttempt, ...]


def failure_of(attempt: PastAttempt) -> Failure:
    """Return the attempt's failure; from its outcome where none was recorded."""
    if attempt.failure is not None:
        return attempt.failure
    kind = FailureKind.__members__.get(attempt.outcome, FailureKind.UNKNOWN)
    return Failure(kind, "no failure was recorded", rule="missing", charged=attempt.charged)


def identical(attempts: Attempts) -> int:
    """Count how many attempts at the end came from the same model, left the same diff and failed the same way."""
    if not attempts:
        return 0
    last = attempts[-1]
    return trailing(attempts, lambda attempt: _deed(attempt) == _deed(last))


def _deed(attempt: PastAttempt) -> tuple[str, bool, str, tuple[str, str]]:
    return attempt.model, attempt.think, attempt.patch_hash, sign(attempt)


def same_failure(attempts: Attempts) -> int:
    """Count how many attempts at the end failed in the same way."""
    return trailing(attempts, lambda a: sign(a) == sign(attempts[-1]))


def sign(attempt: PastAttempt) -> tuple[str, str]:
    """Return what two attempts share that failed the same way; without a signature the message has to do."""
    return attempt.outcome, attempt.signature or failure_of(attempt).message


def is_transient(attempt: PastAttempt) -> bool:
    """Tell whether an attempt failed for a cause that passes by itself."""
    return failure_of(attempt).category is Category.TRANSIENT


def trailing(attempts: Attempts, test: Callable[[PastAttempt], bool]) -> int:
    """Count how many attempts at the end satisfy `test`."""
    count = 0
    for attempt in reversed(attempts):
        if not test(attempt):
            break
        count += 1
    return count
