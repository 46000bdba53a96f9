"""Attempts that never were: the failures and answers from which `policy_table` lets the policy decide.

Failures differ from attempt to attempt, in what they say and in the diff they left, except where they cannot: a worker
that changes nothing leaves the same as before, and one timeout is like another.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from noface.core.actions import Ask, Run, WaitUntil
from noface.core.attempt import PastAttempt
from noface.core.failure import Failure
from noface.core.history import Advice, AdviceOutcome, Topic
from noface.core.review_rules import rejection
from noface.core.taxonomy import FailureKind

_CHANGED = ("src/one.py", "src/two.py")
"""Two files: what can be divided, and is too big for nobody."""


class Repeats(StrEnum):
    """What all attempts have in common: nothing, the failure, or the diff as well."""

    NOTHING = "nothing"
    FAILURE = "failure"
    DIFF = "diff"


USUALLY: Mapping[FailureKind, Repeats] = {
    FailureKind.NO_DIFF: Repeats.DIFF,
    FailureKind.NO_PROGRESS: Repeats.DIFF,
    FailureKind.TIMEOUT: Repeats.FAILURE,
}
"""What attempts that fail with a kind have in common by its nature; nothing where a kind does not stand here."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """How every attempt of a simulated issue fails. `reviewer` is the model that rejects, None where a person does."""

    kind: FailureKind
    repeats: Repeats
    reviewer: str | None = None

    def charged(self, before: int) -> bool:
        """Tell whether the attempt after `before` such ones is charged (law 8)."""
        if self.kind.category.external or self.kind is FailureKind.MERGE_CONFLICT:
            return False
        if self.kind is FailureKind.REVIEW_REJECTED:
            return self.reviewer is None
        return self.kind is not FailureKind.OUTPUT_FORMAT or before > 0

    def failure(self, number: int) -> Failure:
        """Return the failure of attempt `number`."""
        said = f"<message {1 if self.repeats is not Repeats.NOTHING else number}>"
        if self.kind is FailureKind.REVIEW_REJECTED and self.reviewer is not None:
            return rejection(Advice(Topic.REVIEW, number, model=self.reviewer, cause="<points>", text=said))
        charged = self.charged(number - 1)
        return Failure(self.kind, "<message>", rule="simulated", signature=said, charged=charged)

    def attempt(self, number: int, action: Run | WaitUntil, tiers: Mapping[str, int], now: float) -> PastAttempt:
        """Return attempt `number` as it failed, begun by `action`."""
        model, failure = action.model, self.failure(number)
        changes = self.kind is not FailureKind.NO_DIFF
        diff = f"<diff {1 if self.repeats is Repeats.DIFF else number}>"
        return PastAttempt(
            number=number,
            model=model,
            tier=tiers.get(model, 1),
            outcome=self.kind.value,
            charged=failure.charged,
            signature=failure.signature,
            patch_hash=diff if changes else "",
            finished_at=now,
            failure=failure,
            think=action.think,
            changed=_CHANGED if changes else (),
            lines=len(_CHANGED) if changes else 0,
            started_at=now,
        )


def answer(action: Ask, after: int) -> Advice:
    """Return an answer as one would wish for, in the form of its topic; only the parts of a breakdown fail."""
    advice = Advice(action.topic, after, model=action.model, cause="<cause>", text=f"<proposal {after}>")
    match action.topic:
        case Topic.DIAGNOSIS:
            return replace(advice, strategy="alternative_approach", recoverable="yes")
        case Topic.BOUNDARY:
            return replace(advice, strategy="redesign")
        case Topic.BREAKDOWN:
            return replace(advice, outcome=AdviceOutcome.PARTS_FAILED)
        case Topic.REVIEW:
            return replace(advice, strategy="approve")
        case _:
            return advice
