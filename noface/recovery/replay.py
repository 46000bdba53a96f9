"""What a policy would have decided after each attempt that was made, beside what was decided then.

Each decision is looked at by itself, on the attempts and answers that there were: what another one would have led to
nobody can know. Providers are taken to be there. Only the attempts since an issue was last given back are asked about.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, NamedTuple

from noface.model.actions import RunWorker, WaitUntil
from noface.model.history import History
from noface.recovery.policy import next_action
from noface.recovery.retry_policy import Policy


class OtherDecision(NamedTuple):
    """A decision that a policy would have taken otherwise."""

    issue: Annotated[str, "The issue's id."]
    attempt: Annotated[int, "The attempt after which it was taken."]
    outcome: Annotated[str, "How that attempt ended."]
    was: Annotated[str, "What was decided, with the model that followed."]
    would_be: Annotated[str, "What the policy decides."]
    reason: Annotated[str, "Why."]


def replay(history: History, policy: Policy) -> Iterator[OtherDecision]:
    """Yield the recorded decisions on an issue that `policy` would take otherwise."""
    attempts = history.current
    for place, attempt in enumerate(attempts):
        if not attempt.answer:
            continue
        then = replace(
            history,
            attempts=(*attempts[:place], replace(attempt, answer="")),
            advice=tuple(each for each in history.advice if each.after <= attempt.number),
            decisions=tuple(each for each in history.decisions if each.attempt <= attempt.number),
        )
        action = next_action(then, policy, attempt.finished_at)
        if isinstance(action, WaitUntil) and not action.provider and attempt.answer != action.name:
            action = next_action(then, policy, action.until)  # the wait was over when that was written down
        followed = attempts[place + 1 : place + 2]
        works = isinstance(action, RunWorker) and bool(followed)
        was = f"{attempt.answer} {followed[0].model}" if works else attempt.answer
        would_be = f"{action.name} {action.model}" if isinstance(action, RunWorker) and followed else action.name
        if was != would_be:
            yield OtherDecision(history.issue.id, attempt.number, attempt.outcome, was, would_be, action.reason)
