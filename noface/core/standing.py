"""Where an issue stands after a failed attempt: what every rule of the policy looks at."""

from dataclasses import dataclass

from noface.core.attempt import PastAttempt
from noface.core.failure import Failure
from noface.core.history import Advice, AdviceOutcome, History, Topic
from noface.core.ladder import Rung
from noface.core.retry_policy import Policy
from noface.core.streaks import Attempts, failure_of, trailing
from noface.core.taxonomy import FailureKind


@dataclass(frozen=True, slots=True)
class Standing:
    """`told` are the attempts of this epoch that tell something, oldest first, one at least; `failure` the last's."""

    history: History
    policy: Policy
    ladder: tuple[Rung, ...]
    told: Attempts
    failure: Failure

    @property
    def last(self) -> PastAttempt:
        """The last attempt that tells something."""
        return self.told[-1]

    @property
    def charged(self) -> Attempts:
        """The attempts that were charged to the issue."""
        return tuple(attempt for attempt in self.told if attempt.charged)

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
