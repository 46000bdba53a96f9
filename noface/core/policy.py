"""What to do next with an issue. This file owns the rules; nothing else decides.

The rules, in order; the first that applies wins. "Attempts" are the issue's finished worker runs since it was
last unblocked; "charged" ones are those whose failure was the worker's own (law 8). An interrupted attempt (noface
was stopped) is evidence of nothing: whatever is counted in a row is counted as if it were not there.

 1. No attempt yet: the first rung of the ladder.
 2. The last attempt passed: land it.
 3. Limits (law 12). As many charged attempts as the cap allows (N11 `max_total_attempts`, or the issue's own
    `max_attempts`), or the issue's money is spent: block.
 4. The last attempt was interrupted with noface: the same model again.
 5. Environment (AUTH, MISCONFIGURED, ENVIRONMENT, BASELINE_RED), not charged: block at once; no retry mends it.
    (Where main passes in the same environment, the change is to blame, and it is charged: the ladder.)
 6. Transient (RATE_LIMITED, OVERLOADED, NETWORK): wait until the provider's reset time, or back off
    exponentially with full jitter; up to `transient_retries` times in a row (N1), then block.
 7. Anything else that was not charged (main moved under the attempt): again at once, up to three times since the
    last charged attempt, then block.
 8. The same failure `block_after` times in a row (N13): block.
 9. No progress: the same model, the same diff, the same failure. Skip to the next rung; three in a row on the
    last: block.
10. Boundary (BOUNDARY_VIOLATION, GATE_TAMPERING): say so once; a second time in a row: block.
11. Context gap (AGENT_CONFUSION, AGENT_REFUSED): add context once; a second time in a row: block.
12. Complexity (TIMEOUT, RESOURCE_EXHAUSTED): the ladder, with the order to reduce the scope.
13. Everything else: the ladder, with feedback (L5, L6).

The ladder of `[retry]`: `default_model` for `escalate_after_attempts` charged attempts, then `escalation_model`;
the last rung repeats until the cap. It is climbed, never descended: a rung whose model has been used is the lowest
of all later attempts until the issue is unblocked.
"""

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
from noface.core.model import Failure, Issue
from noface.core.streaks import Attempts, failure_of, identical, is_transient, same_failure, trailing
from noface.core.taxonomy import INTERRUPTED, PASSED, Category, FailureKind

UNCHARGED_RETRIES_MAX = 3
IDENTICAL_ATTEMPTS_MAX = 3
_DOUBLINGS_MAX = 60


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
        """Return the rungs for an issue; with `no_escalate` nothing follows the first.

        The issue's own `model` comes first. Where the ladder knows it, it goes on from there; after any other
        model only stronger ones follow.
        """
        first, later = self.ladder[0], self.ladder[1:]
        later = tuple(rung for rung in later if rung.tier >= first.tier)
        if issue.model is not None and issue.model != first.model:
            known = [rung.model for rung in later]
            place = known.index(issue.model) if issue.model in known else None
            first = Rung(issue.model, dict(self.tiers).get(issue.model, first.tier), first.times)
            later = later[place + 1 :] if place is not None else tuple(r for r in later if r.tier > first.tier)
        return (first,) if issue.no_escalate else (first, *later)


@dataclass(frozen=True, slots=True)
class History:
    """An issue with its finished attempts, oldest first, all epochs; `epoch` is the present one."""

    issue: Issue
    attempts: Attempts = ()
    epoch: int = 0

    @property
    def current(self) -> Attempts:
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
    told = tuple(attempt for attempt in attempts if attempt.outcome != INTERRUPTED)
    failure = failure_of(told[-1] if told else last)
    limit = _limit(history, policy, failure.kind)
    if limit is not None:
        return limit
    if last.outcome == INTERRUPTED:
        return RetrySame(_same_model(attempts, ladder), "noface was interrupted; nothing is charged")
    return (
        _not_charged(told, ladder, policy, failure, now, jitter)
        or _hopeless(told, ladder, policy, failure)
        or _climb(told, ladder, failure)
    )


def _limit(history: History, policy: Policy, kind: FailureKind) -> Action | None:
    charged = sum(attempt.charged for attempt in history.current)
    cap = policy.cap(history.issue)
    if charged >= cap:
        return Block(kind, f"all {cap} attempts are used up")
    spent = sum(attempt.cost_usd or 0.0 for attempt in history.current)
    if policy.issue_cost_usd_max is not None and spent >= policy.issue_cost_usd_max:
        return Block(kind, f"${spent:.2f} spent of the issue's ${policy.issue_cost_usd_max:.2f}")
    return None


def _not_charged(
    told: Attempts, ladder: tuple[Rung, ...], policy: Policy, failure: Failure, now: float, jitter: float
) -> Action | None:
    last = told[-1]
    if failure.category is Category.ENVIRONMENT and not last.charged:
        return Block(failure.kind, "no retry mends the environment")
    if failure.category is Category.TRANSIENT:
        return _wait(told, ladder, policy, failure, now, jitter)
    if last.charged:
        return None
    since_charged = trailing(told, lambda attempt: not attempt.charged)
    times = sum(not is_transient(attempt) for attempt in told[len(told) - since_charged :])
    if times > UNCHARGED_RETRIES_MAX:
        return Block(failure.kind, f"{times} attempts failed for no fault of their own: {failure.message}")
    return RetrySame(_same_model(told, ladder), "not the worker's fault: nothing is charged")


def _wait(
    told: Attempts, ladder: tuple[Rung, ...], policy: Policy, failure: Failure, now: float, jitter: float
) -> Action:
    last = told[-1]
    tries = trailing(told, lambda attempt: is_transient(attempt) and attempt.model == last.model)
    if tries > policy.transient_retries:
        return Block(failure.kind, f"still {failure.kind} after {policy.transient_retries} retries")
    model = _same_model(told, ladder)
    if failure.retry_at is not None and failure.retry_at > now:
        return WaitUntil(model, failure.retry_at, f"{failure.kind}: the provider says when to come back")
    ceiling = min(policy.backoff_max_s, policy.backoff_base_s * 2.0 ** min(tries - 1, _DOUBLINGS_MAX))
    return WaitUntil(model, now + ceiling * jitter, f"{failure.kind}: retry {tries} of {policy.transient_retries}")


def _hopeless(told: Attempts, ladder: tuple[Rung, ...], policy: Policy, failure: Failure) -> Action | None:
    charged = tuple(attempt for attempt in told if attempt.charged)
    if policy.block_after is not None and same_failure(charged) >= policy.block_after:
        return Block(failure.kind, f"the same failure {policy.block_after} times in a row")
    if identical(charged) >= IDENTICAL_ATTEMPTS_MAX and _rung(told, ladder) == len(ladder) - 1:
        return Block(FailureKind.NO_PROGRESS, f"the same diff and the same failure {IDENTICAL_ATTEMPTS_MAX} times")
    repeated = len(charged) > 1 and failure_of(charged[-2]).kind is failure.kind
    if failure.category is Category.BOUNDARY and repeated:
        return Block(failure.kind, "the worker was told and did it again")
    if failure.category is Category.CONTEXT_GAP and repeated:
        return Block(failure.kind, "the worker still does not know what to do")
    return None


def _climb(told: Attempts, ladder: tuple[Rung, ...], failure: Failure) -> Action:
    last = told[-1]
    rung = ladder[_rung(told, ladder)]
    if rung.model != last.model and rung.tier >= last.tier:
        stuck = identical(tuple(attempt for attempt in told if attempt.charged)) > 1
        return Escalate(rung.model, f"{'no progress' if stuck else failure.kind}: next rung, {rung.model}")
    if failure.category is Category.CONTEXT_GAP:
        return AddContext(rung.model, f"{failure.kind}: once more, with what noface knows")
    if failure.category is Category.COMPLEXITY:
        return ReduceScope(rung.model, f"{failure.kind}: a smaller step")
    return RetryWithFeedback(rung.model, f"{failure.kind}: once more, with feedback")


def _same_model(attempts: Attempts, ladder: tuple[Rung, ...]) -> str:
    """Return the last attempt's model, or its rung's where issue or configuration no longer name that model."""
    last = attempts[-1].model
    return last if any(rung.model == last for rung in ladder) else ladder[_rung(attempts, ladder)].model


def _rung(attempts: Attempts, ladder: tuple[Rung, ...]) -> int:
    """Return the rung of the next attempt: each charged attempt uses up one, no progress the rest of its rung."""
    charged = tuple(attempt for attempt in attempts if attempt.charged)
    rung, used = 0, 0
    for index in range(len(charged)):
        used += 1
        stuck = identical(charged[: index + 1]) > 1
        if (used >= ladder[rung].times or stuck) and rung < len(ladder) - 1:
            rung, used = rung + 1, 0
    models = [step.model for step in ladder]
    return max([rung, *(models.index(attempt.model) for attempt in attempts if attempt.model in models)])
