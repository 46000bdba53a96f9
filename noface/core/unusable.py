"""Models that cannot be used here: no login, no credit, a wrong entry in the configuration. Others work in their place.

Nothing is charged for that, and every such model is tried once an issue only: the next issue, or the next run, finds
it mended. What stands in is a model of the same tier, else the next one of the ladder; never a weaker one.
"""

from dataclasses import replace

from noface.core.actions import Run
from noface.core.history import History
from noface.core.retry_policy import Policy
from noface.core.streaks import Attempts, failure_of
from noface.core.taxonomy import FailureKind

OF_THE_MODEL = (FailureKind.AUTH, FailureKind.MISCONFIGURED)
"""What is wrong with a model's login or entry; a broken machine or a red main is wrong for all of them."""


def unusable(told: Attempts) -> frozenset[str]:
    """Return the models whose newest attempt failed of their own login or entry."""
    newest = {attempt.model: attempt for attempt in told}
    return frozenset(
        model for model, last in newest.items() if not last.charged and failure_of(last).kind in OF_THE_MODEL
    )


def instead_of(model: str, told: Attempts, history: History, policy: Policy) -> str | None:
    """Return the model that works in the place of an unusable one, None where there is none.

    An issue that must not escalate keeps its model, and so does a kind that a person has given another answer.
    """
    broken = unusable(told)
    if history.issue.no_escalate or any(kind in dict(policy.strategies) for kind in OF_THE_MODEL):
        return None
    ladder = policy.ladder_for(history.issue, history.model)
    tier = dict(policy.tiers).get(model, 0)
    names = [*policy.stand_ins(model), *(rung.model for rung in ladder if rung.tier >= tier)]
    return next((name for name in names if name != model and name not in broken), None)


def replaced(action: Run, told: Attempts, history: History, policy: Policy) -> Run:
    """Return a worker's action with a usable model, where its own has shown that it is none."""
    if action.model not in unusable(told):
        return action
    other = instead_of(action.model, told, history, policy)
    if other is None:
        return action
    return replace(action, model=other, reason=f"{action.reason}; {action.model} cannot be used here")
