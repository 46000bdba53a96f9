"""What every rule of the policy looks at after a failed attempt, and how often in a row the same thing has happened.

Also what an attempt counts for: whether it is charged (law 8), and which one the next attempt starts from.
"""

from collections.abc import Callable
from dataclasses import dataclass

from noface.model.attempt import AttemptReport, PastAttempt
from noface.model.failure import Failure
from noface.model.history import Advice, AdviceOutcome, History, Topic
from noface.model.taxonomy import INTERRUPTED, Category, FailureKind
from noface.recovery.retry_policy import Policy, Rung

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
    return trailing(attempts, lambda attempt: _fingerprint(attempt) == _fingerprint(last))


def _fingerprint(attempt: PastAttempt) -> tuple[str, bool, str, tuple[str, str]]:
    return attempt.model, attempt.think, attempt.patch_hash, failure_signature(attempt)


def same_failure(attempts: Attempts) -> int:
    """Count how many attempts at the end failed in the same way."""
    return trailing(attempts, lambda a: failure_signature(a) == failure_signature(attempts[-1]))


def failure_signature(attempt: PastAttempt) -> tuple[str, str]:
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


@dataclass(frozen=True, slots=True)
class PolicyState:
    """`attempts` are those of this epoch that tell something, oldest first, one at least; `failure` the last's."""

    history: History
    policy: Policy
    ladder: tuple[Rung, ...]
    attempts: Attempts
    failure: Failure

    @property
    def last(self) -> PastAttempt:
        """The last attempt that tells something."""
        return self.attempts[-1]

    @property
    def charged(self) -> Attempts:
        """The attempts that were charged to the issue."""
        return tuple(attempt for attempt in self.attempts if attempt.charged)

    def answer(self, topic: Topic) -> Advice | None:
        """Return what was answered on a topic since the last attempt, None where nobody has asked."""
        return self.history.answer(topic, self.last.number)

    def advised(self, topic: Topic) -> Advice | None:
        """Return a usable answer on a topic since the last attempt."""
        advice = self.answer(topic)
        return advice if advice is not None and advice.outcome is AdviceOutcome.ADVISED else None

    def asked_before(self, topic: Topic) -> bool:
        """Tell whether anybody was asked about a topic since the issue was last unblocked."""
        return any(advice.topic is topic for advice in self.history.asked)

    def repeated(self, *kinds: FailureKind) -> int:
        """Count how many charged attempts at the end failed with one of `kinds`."""
        return trailing(self.charged, lambda attempt: failure_of(attempt).kind in kinds)


_NEVER_BEST = (FailureKind.NO_DIFF, FailureKind.GATE_TAMPERING, FailureKind.BOUNDARY_VIOLATION, INTERRUPTED)


def best_attempt(
    attempts: tuple[PastAttempt, ...], *, project_gates: int, accept_failing: int | None
) -> PastAttempt | None:
    """Return the attempt to start from, None for main.

    `project_gates` is how many hard gates main passes; `accept_failing` how many tests of the issue's `accept`
    commands fail on main, None where the issue has no such commands.
    """
    usable = [a for a in attempts if a.candidate is not None and a.patch_hash and a.outcome not in _NEVER_BEST]
    if not usable:
        return None
    best = max(usable, key=_score)
    if accept_failing is not None and _score(best)[:3] <= (True, project_gates, -accept_failing):
        return None
    return best


def _score(attempt: PastAttempt) -> tuple[bool, int, int, int]:
    judged = attempt.failing_tests is not None
    return judged, attempt.gates_passed, -(attempt.failing_tests or 0), attempt.number


def charged(report: AttemptReport, past: tuple[PastAttempt, ...]) -> bool:
    """Tell whether an attempt spends the issue's budget: only the worker's own failures, and work that passed.

    The first malformed answer in a row gets a reminder of the form for nothing (docs/decisions.md, Attempts).
    """
    if report.interrupted:
        return False
    if report.failure is None:
        return True
    if report.failure.kind is FailureKind.OUTPUT_FORMAT:
        told = (attempt for attempt in reversed(past) if attempt.outcome != INTERRUPTED)
        before = next((attempt for attempt in told if attempt.number < report.number), None)
        return before is not None and before.outcome == FailureKind.OUTPUT_FORMAT
    return report.failure.charged
