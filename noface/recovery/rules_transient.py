"""What to do about failures that are not the worker's: providers that are away (N1), conflicts, missing issues (K5)."""

from collections.abc import Mapping

from noface.model.actions import Absence, Action, Ask, AwaitIssues, Block, Mode, Run, WaitUntil
from noface.model.attempt import PastAttempt
from noface.model.history import Topic
from noface.model.taxonomy import FailureKind, Strategy
from noface.model.worker_run import BlockedReason
from noface.recovery.ladder import climb, same_model
from noface.recovery.policy_state import Attempts, PolicyState, failure_of, is_transient, trailing
from noface.recovery.retry_policy import REJECTED_BY_REVIEWER

UNCHARGED_RETRIES_MAX = 3
CONFLICTS_BEFORE_RESOLVER = 2
_DOUBLINGS_MAX = 60


def backoff(base_s: float, max_s: float, tries: int, jitter: float) -> float:
    """Return the seconds to wait before retry number `tries` (from 1): exponential, full jitter (N1).

    Full jitter draws from the whole interval (Brooker, "Exponential Backoff And Jitter", 2015), so that many
    waiting for one provider do not come back together.
    """
    return min(max_s, base_s * 2.0 ** min(tries - 1, _DOUBLINGS_MAX)) * jitter


def wait(state: PolicyState, now: float, jitter: float, away: Mapping[str, float]) -> Action:
    """Answer a transient failure: another model of the tier, or the reset time, or backing off."""
    policy, failure, last = state.policy, state.failure, state.last
    strategy = policy.strategy(failure.kind)
    if strategy is Strategy.BLOCK:
        return Block(failure.kind, f"[retry.strategies] {failure.kind} = block")
    tries = _tries(state, last.model)
    known = failure.retry_at if failure.retry_at is not None and failure.retry_at > now else None
    until = known or now + backoff(policy.backoff_base_s, policy.backoff_max_s, tries, jitter)
    if strategy is Strategy.SWITCH and not state.history.issue.no_escalate:
        for other in policy.stand_ins(last.model):
            if away.get(other, now) <= now and _tries(state, other) == 0:
                reason = f"{failure.kind}: {other} is of the same tier and works meanwhile"
                return Run(Mode.SWITCH, other, reason, last.think, Absence(last.model, until))
    if tries > policy.transient_retries:
        return Block(failure.kind, f"still {failure.kind} after {policy.transient_retries} retries")
    model = same_model(state.attempts, state.ladder)
    if known is not None:
        return WaitUntil(model, known, f"{failure.kind}: the provider says when to come back", think=last.think)
    return WaitUntil(model, until, f"{failure.kind}: retry {tries} of {policy.transient_retries}", think=last.think)


def _tries(state: PolicyState, model: str) -> int:
    """Count the transient failures of a model in the row of transient failures at the end."""
    streak = trailing(state.attempts, is_transient)
    return sum(attempt.model == model for attempt in state.attempts[len(state.attempts) - streak :])


def again(state: PolicyState) -> Action | None:
    """Answer a failure that was charged to nobody; None where the other rules have a better answer."""
    told, failure = state.attempts, state.failure
    if _says_dependency(state.last):
        return _dependency(state)
    since_charged = trailing(told, lambda attempt: not attempt.charged)
    times = sum(_of_unknown_blame(attempt) for attempt in told[len(told) - since_charged :])
    if times > UNCHARGED_RETRIES_MAX:
        return Block(failure.kind, f"{times} attempts failed for no fault of their own: {failure.message}")
    if failure.rule == REJECTED_BY_REVIEWER:
        return _reviewed(state)
    resolver = state.policy.roles.resolver
    row = trailing(_without_transient(told), lambda attempt: failure_of(attempt).kind is FailureKind.MERGE_CONFLICT)
    conflicts = row >= CONFLICTS_BEFORE_RESOLVER
    if conflicts and resolver is not None and not state.asked_before(Topic.MERGE_CONFLICT):
        reason = "main moved twice into the same place: ask how to merge"
        return Ask(Topic.MERGE_CONFLICT, resolver, reason)
    model = same_model(told, state.ladder)
    if failure.kind is FailureKind.OUTPUT_FORMAT:
        return Run(
            Mode.SAME,
            model,
            "the answer was malformed: once more with a reminder of its form",
            think=state.last.think,
        )
    return Run(Mode.SAME, model, "not the worker's fault: nothing is charged", think=state.last.think)


def _without_transient(attempts: Attempts) -> Attempts:
    return tuple(attempt for attempt in attempts if not is_transient(attempt))


def _of_unknown_blame(attempt: PastAttempt) -> bool:
    return not is_transient(attempt) and failure_of(attempt).rule != REJECTED_BY_REVIEWER


def _reviewed(state: PolicyState) -> Action:
    """Have the reviewer's points answered, by the same model, up to the cap of rounds (N2)."""
    rounds = sum(failure_of(attempt).rule == REJECTED_BY_REVIEWER for attempt in state.attempts)
    most = state.policy.review.rounds
    if rounds >= most:
        return Block(state.failure.kind, f"the reviewer has asked for changes {rounds} times")
    model = same_model(state.attempts, state.ladder)
    return Run(
        Mode.FEEDBACK, model, f"the reviewer asks for changes (round {rounds} of {most})", think=state.last.think
    )


def _says_dependency(attempt: PastAttempt) -> bool:
    return attempt.report is not None and attempt.report.blocked_reason is BlockedReason.DEPENDENCY_ISSUE


def _dependency(state: PolicyState) -> Action:
    advice = state.answer(Topic.DEPENDENCY)
    if advice is None:
        return Ask(Topic.DEPENDENCY, "", "the worker says that it depends on other issues: look at them")
    needs = tuple(need for need in advice.needs if need not in state.history.issue.depends_on)
    if needs:
        return AwaitIssues(needs, f"depends on {', '.join(needs)}, which the work turned out to need")
    if trailing(_without_transient(state.attempts), _says_dependency) > 1 and not advice.needs:
        return Block(state.failure.kind, "the worker says again that it depends on something that is not there")
    return climb(state, Strategy.CONTEXT, "its dependencies are merged or unknown")
