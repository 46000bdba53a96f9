"""Which attempt the next one starts from: the best so far, or main where none is better (docs/decisions.md).

More hard gates passed is better, then fewer failing tests. Where an issue has `accept` commands, main itself takes
part: an attempt that satisfies them by breaking something else is no step forward.
"""

from noface.core.attempt import PastAttempt
from noface.core.taxonomy import INTERRUPTED, FailureKind

_NEVER = (FailureKind.NO_DIFF, FailureKind.GATE_TAMPERING, FailureKind.BOUNDARY_VIOLATION, INTERRUPTED)


def best_attempt(
    attempts: tuple[PastAttempt, ...], *, project_gates: int, accept_failing: int | None
) -> PastAttempt | None:
    """Return the attempt to start from, None for main.

    `project_gates` is how many hard gates main passes; `accept_failing` how many tests of the issue's `accept`
    commands fail on main, None where the issue has no such commands.
    """
    usable = [a for a in attempts if a.candidate is not None and a.patch_hash and a.outcome not in _NEVER]
    if not usable:
        return None
    best = max(usable, key=_score)
    if accept_failing is not None and _score(best)[:3] <= (True, project_gates, -accept_failing):
        return None
    return best


def _score(attempt: PastAttempt) -> tuple[bool, int, int, int]:
    judged = attempt.failing_tests is not None
    return judged, attempt.gates_passed, -(attempt.failing_tests or 0), attempt.number
