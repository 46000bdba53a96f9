"""What to do next with an issue. This file owns the rules; nothing else decides.

The rules, in order; the first that applies wins. "Attempts" are the issue's finished worker runs since it was
last unblocked; "charged" ones are those whose failure was the worker's own (law 8).

 1. No attempt yet: the first rung of the ladder.
 2. The last attempt passed: land it.
 3. It was interrupted with noface: the same model again.
 4. Limits (law 12). As many charged attempts as the cap allows (N11 `max_total_attempts`, or the issue's own
    `max_attempts`), or the issue's money is spent: block.
 5. Environment (AUTH, MISCONFIGURED, ENVIRONMENT, BASELINE_RED), not charged: block at once; no retry mends it.
    (Where main passes in the same environment, the change is to blame, and it is charged: the ladder.)
 6. Transient (RATE_LIMITED, OVERLOADED, NETWORK): wait until the provider's reset time, or back off
    exponentially with full jitter; up to `transient_retries` times in a row (N1), then block.
 7. Anything else that was not charged (main moved under the attempt): again at once, up to three in a row.
 8. The same failure `block_after` times in a row (N13): block.
 9. No progress: the same model, the same diff, the same failure. Skip to the next rung; three in a row on the last: block.
10. Boundary (BOUNDARY_VIOLATION, GATE_TAMPERING): say so once; a second time in a row: block.
11. Context gap (AGENT_CONFUSION, AGENT_REFUSED): add context once; a second time in a row: block.
12. Complexity (TIMEOUT, RESOURCE_EXHAUSTED): the ladder, with the order to reduce the scope.
13. Everything else: the ladder, with feedback (L5, L6).

The ladder of `[retry]`: `default_model` for `escalate_after_attempts` charged attempts, then `escalation_model`;
the last rung repeats until the cap.
"""

from collections.abc import Callable
from dataclasses import dataclass

from noface.core.actions import (
    Action,
    AddContext,
    Block,
    Escalate,
    FirstAttempt,
    Land,
    ReduceScope,
    RetrySame,
    RetryWithFeedback,
    WaitUntil,
)
from noface.core.model import Failure, Issue, PastAttempt
from noface.core.taxonomy import INTERRUPTED, PASSED, Category, FailureKind

UNCHARGED_RETRIES_MAX = 3
IDENTICAL_ATTEMPTS_MAX = 3


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of the ladder: `model` for `times` charged attempts."""

    model: str
    tier: int
    times: int


@dataclass(frozen=True, slots=True)
class Policy:
    """The retry policy in force. Durations in seconds, money in dollars."""

    ladder: tuple[Rung, ...]
    tiers: tuple[tuple[str, int], ...]
    attempts_max: int = 5
    block_after: int | None = None
    issue_cost_usd_max: float | None = None
    transient_retries: int = 3
    backoff_base_s: float = 30.0
    backoff_max_s: float = 900.0

    def cap(self, issue: Issue) -> int:
        """Return how many charged attempts the issue may have."""
        return issue.max_attempts or self.attempts_max

    def ladder_for(self, issue: Issue) -> tuple[Rung, ...]:
        """Return the rungs for an issue: its own `model` comes first; with `no_escalate` nothing follows."""
        first = self.ladder[0]
        if issue.model is not None:
            first = Rung(issue.model, dict(self.tiers).get(issue.model, first.tier), first.times)
        if issue.no_escalate:
            return (first,)
        return (first, *(rung for rung in self.ladder[1:] if rung.tier > first.tier))


@dataclass(frozen=True, slots=True)
class History:
    """An issue with its finished attempts, oldest first, all epochs; `epoch` is the present one."""

    issue: Issue
    attempts: tuple[PastAttempt, ...] = ()
    epoch: int = 0

    @property
    def current(self) -> tuple[PastAttempt, ...]:
        """The attempts since the issue was last unblocked."""
        return tuple(attempt for attempt in self.attempts if attempt.epoch == self.epoch)


def next_action(history: History, policy: Policy, now: float, jitter: float = 1.0) -> Action:
    """Decide. Total: every history gives exactly one action. `jitter` is a random number in [0, 1)."""
    ladder = policy.ladder_for(history.issue)
    attempts = history.current
    if not attempts:
        return FirstAttempt(ladder[0].model, "first attempt: the ladder's first rung")
    last = attempts[-1]
    if last.outcome == PASSED:
        return Land("every hard gate passed")
    if last.outcome == INTERRUPTED:
        return RetrySame(last.model, "noface was interrupted; nothing is charged")
    failure = last.failure or Failure(FailureKind.UNKNOWN, "no failure was recorded", rule="missing")
    return (
        _limit(history, policy, failure)
        or _not_charged(attempts, policy, failure, now, jitter)
        or _hopeless(attempts, ladder, policy, failure)
        or _climb(attempts, ladder, failure)
    )


def _limit(history: History, policy: Policy, failure: Failure) -> Action | None:
    charged = sum(attempt.charged for attempt in history.current)
    cap = policy.cap(history.issue)
    if charged >= cap:
        return Block(failure.kind, f"all {cap} attempts are used up")
    spent = sum(attempt.cost_usd or 0.0 for attempt in history.current)
    if policy.issue_cost_usd_max is not None and spent >= policy.issue_cost_usd_max:
        return Block(failure.kind, f"${spent:.2f} spent of the issue's ${policy.issue_cost_usd_max:.2f}")
    return None


def _not_charged(
    attempts: tuple[PastAttempt, ...], policy: Policy, failure: Failure, now: float, jitter: float
) -> Action | None:
    last = attempts[-1]
    if failure.category is Category.ENVIRONMENT and not last.charged:
        return Block(failure.kind, "no retry mends the environment")
    if failure.category is Category.TRANSIENT:
        return _wait(attempts, policy, failure, now, jitter)
    if last.charged:
        return None
    in_a_row = _trailing(attempts, lambda attempt: not attempt.charged)
    if in_a_row > UNCHARGED_RETRIES_MAX:
        return Block(failure.kind, f"main moved under {in_a_row} attempts in a row")
    return RetrySame(last.model, "not the worker's fault: nothing is charged")


def _wait(attempts: tuple[PastAttempt, ...], policy: Policy, failure: Failure, now: float, jitter: float) -> Action:
    last = attempts[-1]
    tries = _trailing(
        attempts, lambda a: a.failure is not None and a.failure.category is Category.TRANSIENT and a.model == last.model
    )
    if failure.retry_at is not None and failure.retry_at > now:
        return WaitUntil(last.model, failure.retry_at, f"{failure.kind}: the provider says when to come back")
    if tries > policy.transient_retries:
        return Block(failure.kind, f"still {failure.kind} after {policy.transient_retries} retries")
    ceiling = min(policy.backoff_max_s, policy.backoff_base_s * 2 ** (tries - 1))
    delay = ceiling * jitter
    return WaitUntil(last.model, now + delay, f"{failure.kind}: retry {tries} of {policy.transient_retries}")


def _hopeless(
    attempts: tuple[PastAttempt, ...], ladder: tuple[Rung, ...], policy: Policy, failure: Failure
) -> Action | None:
    charged = tuple(attempt for attempt in attempts if attempt.charged)
    if policy.block_after is not None and _same_signature(charged) >= policy.block_after:
        return Block(failure.kind, f"the same failure {policy.block_after} times in a row")
    if _identical(charged) >= IDENTICAL_ATTEMPTS_MAX and _rung_after(charged, ladder) == len(ladder) - 1:
        return Block(FailureKind.NO_PROGRESS, f"the same diff and the same failure {IDENTICAL_ATTEMPTS_MAX} times")
    repeated = len(charged) > 1 and charged[-2].outcome == failure.kind
    if failure.category is Category.BOUNDARY and repeated:
        return Block(failure.kind, "the worker was told and did it again")
    if failure.category is Category.CONTEXT_GAP and repeated:
        return Block(failure.kind, "the worker still does not know what to do")
    return None


def _climb(attempts: tuple[PastAttempt, ...], ladder: tuple[Rung, ...], failure: Failure) -> Action:
    last = attempts[-1]
    charged = tuple(attempt for attempt in attempts if attempt.charged)
    rung = ladder[_rung_after(charged, ladder)]
    if rung.model != last.model and rung.tier > last.tier:
        why = "no progress" if _identical(charged) > 1 else f"{failure.kind} again"
        return Escalate(rung.model, f"{why}: next rung, {rung.model}")
    if failure.category is Category.CONTEXT_GAP:
        return AddContext(rung.model, f"{failure.kind}: once more, with what noface knows")
    if failure.category is Category.COMPLEXITY:
        return ReduceScope(rung.model, f"{failure.kind}: a smaller step")
    return RetryWithFeedback(rung.model, f"{failure.kind}: once more, with feedback")


def _rung_after(charged: tuple[PastAttempt, ...], ladder: tuple[Rung, ...]) -> int:
    """Return the rung of the next attempt: each charged attempt uses up one, no progress the rest of its rung."""
    rung, used = 0, 0
    for index in range(len(charged)):
        used += 1
        stuck = _identical(charged[: index + 1]) > 1
        if (used >= ladder[rung].times or stuck) and rung < len(ladder) - 1:
            rung, used = rung + 1, 0
    return rung


def _identical(attempts: tuple[PastAttempt, ...]) -> int:
    """Count how many attempts at the end came from the same model, left the same diff and failed the same way."""
    if not attempts:
        return 0
    last = attempts[-1]
    mark = (last.model, last.signature, last.patch_hash)
    return _trailing(attempts, lambda a: (a.model, a.signature, a.patch_hash) == mark)


def _same_signature(attempts: tuple[PastAttempt, ...]) -> int:
    return _trailing(attempts, lambda a: a.signature == attempts[-1].signature) if attempts else 0


def _trailing(attempts: tuple[PastAttempt, ...], test: Callable[[PastAttempt], bool]) -> int:
    count = 0
    for attempt in reversed(attempts):
        if not test(attempt):
            break
        count += 1
    return count
