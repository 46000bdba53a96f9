"""The rules for failures that lie outside the work: 5 and 6 of `policy`, but for what other models do about them."""

from collections.abc import Mapping

from noface.diagnosis.agent_errors import ASKS
from noface.diagnosis.known_causes import final_error
from noface.model.actions import Action, Block, Mode, RunWorker, WaitUntil
from noface.model.attempt import failure_of
from noface.model.failure import DISK_FULL, OUT_OF_REACH, TOOLS_DENIED, Failure
from noface.model.taxonomy import FailureKind, Strategy
from noface.recovery.policy_state import (
    OUTSIDE,
    OUTSIDE_REPEATS_MAX,
    PolicyState,
    is_transient,
    of_the_model,
    outside_failures,
    same_model,
    trailing,
)
from noface.recovery.retry_policy import BACKOFF_MAX_S
from noface.recovery.sudden_ends import SEVERAL_ISSUES

_DOUBLINGS_MAX = 60


def backoff(base_s: float, tries: int, jitter: float) -> float:
    """Return the seconds before retry `tries` (from 1): exponential with full jitter (N1; Brooker, AWS, 2015)."""
    return min(BACKOFF_MAX_S, base_s * 2.0 ** min(tries - 1, _DOUBLINGS_MAX)) * jitter


def wait(state: PolicyState, now: float, jitter: float, away: Mapping[str, float]) -> Action:
    """Answer a transient failure: another model of the tier, or the reset time, or backing off."""
    policy, failure, last = state.policy, state.failure, state.last
    strategy = policy.strategy(failure.kind)
    if strategy is Strategy.BLOCK:
        return Block(failure.kind, f"[retry.strategies] {failure.kind} = block")
    tries = _tries(state, last.model)
    known = failure.retry_at if failure.retry_at is not None and failure.retry_at > now else None
    until = known or now + backoff(policy.backoff_base_s, tries, jitter)
    if strategy is Strategy.SWITCH and not state.history.issue.no_escalate:
        for other in policy.stand_ins(last.model):
            if away.get(other, now) <= now and _tries(state, other) == 0:
                reason = f"{failure.kind}: {other} is of the same tier and works meanwhile"
                return RunWorker(Mode.SWITCH, other, reason, last.think, (last.model, until))
    most = policy.transient_retries
    if most is not None and tries > most:
        return Block(failure.kind, f"still {failure.kind} after {most} retries")
    model = same_model(state.attempts, state.ladder)
    if known is not None:
        return WaitUntil(model, known, f"{failure.kind}: the provider says when to come back", think=last.think)
    of_all = f" of {most}" if most is not None else ""
    return WaitUntil(model, until, f"{failure.kind}: retry {tries}{of_all}", think=last.think)


def _tries(state: PolicyState, model: str) -> int:
    streak = trailing(state.attempts, is_transient)
    return sum(attempt.model == model for attempt in state.attempts[len(state.attempts) - streak :])


_LOOKS = (1 / 3, 2.0, 10.0)
"""In `backoff_base`, by default 10 s, 1 min and 5 min: a login is renewed, or a program updated, in seconds."""


_SURE = (*SEVERAL_ISSUES, OUT_OF_REACH, TOOLS_DENIED, "command-refused", f"command-{ASKS}", "command-no-script")
"""Rules of what several issues have met, or what does not go by itself: a sandbox, a person's own command."""


def may_pass(failure: Failure) -> bool:
    """True of a login or a program that is refused, and may work a moment later."""
    return of_the_model(failure) and failure.rule not in _SURE


def look_again(state: PolicyState, now: float) -> WaitUntil | None:
    """Wait for a model whose login or program is refused before a person is asked; None after three looks.

    One that another issue was blocked for is known to be refused.
    """
    failure, last = state.failure, state.last
    told = failure.kind in dict(state.policy.strategies) or last.model in state.policy.refused
    if told or not may_pass(failure):
        return None
    looks = trailing(state.attempts, lambda each: each.model == last.model and may_pass(failure_of(each)))
    if looks > len(_LOOKS):
        return None
    until = now + _LOOKS[looks - 1] * state.policy.backoff_base_s
    reason = f"{failure.kind}: look {looks + 1} of {len(_LOOKS) + 1} before a person is asked"
    return WaitUntil(last.model, until, reason, think=last.think)


_SETUP_DELAY_S = 60.0
RED_MAINS_MAX = 5
"""So often in a row an issue goes on by itself after a red main; then main is no longer red just for a while."""
_ONCE_GREEN = "main was red: it goes on once main is green, for nothing"


def outside(state: PolicyState, now: float) -> Action | None:
    """Answer an uncharged failure for want of room on a disk, or with a cause that may pass; None for any other."""
    failure, last = state.failure, state.last
    model = same_model(state.attempts, state.ladder)
    if failure.rule == DISK_FULL:
        return RunWorker(Mode.SAME, model, "the disk was full; nothing is charged", think=last.think)
    if failure.kind is FailureKind.BASELINE_RED and state.policy.strategy(failure.kind) is Strategy.WAIT:
        times = trailing(state.attempts, lambda attempt: attempt.outcome == failure.kind)
        return RunWorker(Mode.SAME, model, _ONCE_GREEN, think=last.think) if times <= RED_MAINS_MAX else None
    if failure.rule not in OUTSIDE or last.charged:
        return None
    repeat = outside_failures(state.attempts)
    if repeat > OUTSIDE_REPEATS_MAX:
        return None
    cause = final_error((*reversed(failure.evidence), failure.message))
    until = last.finished_at + (cause.delay_s if cause is not None else _SETUP_DELAY_S)
    reason = f"it lies outside the work: repeat {repeat} of {OUTSIDE_REPEATS_MAX}, nothing is charged"
    if until > now:
        return WaitUntil(model, until, reason, think=last.think, provider=False)
    return RunWorker(Mode.SAME, model, reason, think=last.think)
