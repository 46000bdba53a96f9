"""What to do next with an issue. This file owns the rules; nothing else decides.

"Attempts" are the issue's finished worker runs since it was last unblocked; "charged" ones are those whose failure
was the worker's own (law 8). An interrupted attempt (noface was stopped) is evidence of nothing: whatever is counted
in a row is counted as if it were not there. What was asked between two attempts (a diagnosis, a resolver's word, a
breakdown) is part of the history: an asking action is followed by the same question to the policy, now with an answer.

The rules, in order; the first that applies wins.

 1. No attempt yet: the first rung of the ladder.
 2. The last attempt passed: have it reviewed where that is due (N2; a reviewer who is away is waited for, and one
    who gives no verdict is no approval), ask a person where `[approval]` names its paths or labels (L10), land it.
    Where it changed what judges it, as its issue's own commands want, a review is due, or else a person's word.
 3. Limits (law 12). As many charged attempts as the cap allows (N11 `max_total_attempts`, the issue's own
    `max_attempts`, or what a person granted), or the issue's money or tokens are spent, or do not pay for the run
    that the rules below would start: block.
 4. The last attempt was interrupted with noface: the same model again. What was ended for the run's money twice in a
    row, or once for the issue's, is blocked.
 5. Environment (AUTH, MISCONFIGURED, ENVIRONMENT, BASELINE_RED), not charged: no retry mends it. What is wrong with
    one model's login or entry leaves the others: one of its tier works in its place, else the next of the ladder.
    Without one, and for all else: block at once.
    (Where main passes in the same environment, the change is to blame, and it is charged: the ladder.)
 6. Transient (RATE_LIMITED, OVERLOADED, NETWORK): another model of the same tier where there is one; else wait until
    the provider's reset time, or back off exponentially with full jitter; up to `transient_retries` times in a row
    and model (N1), then block.
 7. The worker found that it depends on other issues: look whether they are merged, and wait for those that are not
    (K5). The reviewer asked for changes: the same model again with the points, up to a cap of rounds (N2). Two merge
    conflicts in a row: ask the resolver once. Anything else that was not charged (main moved under
    the attempt, the first malformed answer): again at once, up to three times since the last charged attempt, then
    block.
 8. The same failure `block_after` times in a row (N13): block.
 9. No progress: the same model, the same diff, the same failure (S5, P3). Skip to the next rung; three in a row on
    the last: block.
10. Breakdown (N8): timeouts in a row, or several attempts and a diff that is too big; once an issue, down to a depth.
11. Boundary (BOUNDARY_VIOLATION, GATE_TAMPERING): ask the resolver, then tell the worker; a second time in a row: a
    person. A worker that argues that a test is wrong gets a person's approval or none.
12. Context gap (AGENT_CONFUSION, AGENT_REFUSED): ask the planner, add context once; a second time in a row: a person.
13. Unknown, or the same failure again and again: diagnose (S1: known patterns first), and follow the diagnosis once.
    Without a diagnoser an unknown failure gets more context first (K7).
14. Three different recovery strategies have failed (K10): block.
15. Complexity (TIMEOUT, RESOURCE_EXHAUSTED): the ladder, with the order to reduce the scope.
16. Everything else: the ladder, with feedback (L5, L6), after a reflection where that is wished for (N7).

`[retry.strategies]` gives a kind another one of these answers. The ladder of `[retry]`: `default_model` for
`escalate_after_attempts` charged attempts, then `escalation_model`, then the same thinking longer; the last rung
repeats until the cap. `[[retry.ladder]]` replaces it. It is climbed, never descended. Whatever model comes out, a
stand-in of its tier takes its place while its provider is away.
"""

from collections.abc import Mapping
from dataclasses import replace

from noface.model.actions import Action, Ask, Block, Land, Mode, RequestApproval, Run, WaitUntil, model_of, thinks
from noface.model.attempt import PastAttempt
from noface.model.budget import Estimate, Estimates, can_pay
from noface.model.failure import Failure
from noface.model.history import AdviceOutcome, History, Topic, Verdict
from noface.model.patterns import matches_any
from noface.model.taxonomy import INTERRUPTED, PASSED, Category, FailureKind
from noface.recovery.ladder import OF_THE_MODEL, instead_of, replaced, same_model
from noface.recovery.overrun import too_dear, why_again
from noface.recovery.policy_state import Attempts, PolicyState, failure_of
from noface.recovery.retry_policy import REJECTED_BY_PERSON, Policy, Roles, Rung, review_due
from noface.recovery.rules_charged import recover
from noface.recovery.rules_transient import again, wait

__all__ = ["History", "Policy", "Rung", "next_action"]

_NOWHERE: Mapping[str, float] = {}
_NOTHING = Estimate("", 0.0, 0)


def next_action(
    history: History,
    policy: Policy,
    now: float,
    jitter: float = 1.0,
    away: Mapping[str, float] = _NOWHERE,
    estimates: Estimates | None = None,
) -> Action:
    """Decide. Total: every history gives exactly one action. `jitter` is a random number in [0, 1).

    `away` are the models whose provider is waited for, with the time until when. `estimates` say what the next run of
    a model may use; without them an issue's money is only looked at once it is spent.
    """
    action = _with_usable_model(_decide(history, policy, now, jitter, away), history, policy)
    if not history.issue.no_escalate:
        action = _standing_in(action, policy, away, now)
    paid = _payable(action, history, policy, estimates)
    if paid is not action and isinstance(action, Ask) and action.topic is not Topic.REVIEW:
        unasked = replace(policy, roles=Roles(), reflect=False, breakdown=replace(policy.breakdown, enabled=False))
        return next_action(history, unasked, now, jitter, away, estimates)
    return paid


def _decide(history: History, policy: Policy, now: float, jitter: float, away: Mapping[str, float]) -> Action:
    ladder = policy.ladder_for(history.issue, history.model)
    attempts = history.current
    if not attempts:
        return Run(Mode.FIRST, ladder[0].model, "first attempt: the ladder's first rung", think=ladder[0].think)
    attempts = _as_decided(history, attempts)
    last = attempts[-1]
    if last.outcome == PASSED:
        return _landing(history, policy, last, away, now)
    told = tuple(attempt for attempt in attempts if attempt.outcome != INTERRUPTED)
    failure = failure_of(told[-1] if told else last)
    dear = too_dear(attempts, policy.budget)
    limit = _limit(history, policy, dear.kind if dear is not None else _to_blame(told, failure.kind)) or dear
    if limit is not None:
        return limit
    if last.outcome == INTERRUPTED:
        return Run(Mode.SAME, same_model(attempts, ladder), why_again(last), think=last.think)
    state = PolicyState(history, policy, ladder, told, failure)
    if failure.category is Category.ENVIRONMENT and not last.charged:
        other = instead_of(last.model, told, history, policy) if failure.kind in OF_THE_MODEL else None
        if other is not None:
            return Run(
                Mode.SAME, other, f"{failure.kind}: {last.model} cannot be used here, {other} works in its place"
            )
        return Block(failure.kind, "no retry mends the environment")
    if failure.category is Category.TRANSIENT:
        return wait(state, now, jitter, away)
    return (again(state) if not last.charged else None) or recover(state, now)


def _as_decided(history: History, attempts: Attempts) -> Attempts:
    """Return the attempts, the last as rejected where it passed and a person turned it down."""
    last, verdict = attempts[-1], history.verdict(attempts[-1].number)
    if last.outcome != PASSED or verdict is None or verdict.verdict is Verdict.APPROVED:
        return attempts
    kind = FailureKind.REVIEW_REJECTED
    failure = Failure(kind, f"rejected by a person: {verdict.note}", rule=REJECTED_BY_PERSON, signature=verdict.note)
    return (*attempts[:-1], replace(last, outcome=kind.value, failure=failure, signature=verdict.note))


def _to_blame(told: Attempts, kind: FailureKind) -> FailureKind:
    """Return what a limit is reached with: no cause that passes by itself, or the next run would lift the block."""
    if not kind.category.external:
        return kind
    kinds = (failure_of(attempt).kind for attempt in reversed(told))
    return next((other for other in kinds if not other.category.external), FailureKind.RESOURCE_EXHAUSTED)


def _landing(history: History, policy: Policy, last: PastAttempt, away: Mapping[str, float], now: float) -> Action:
    verdict = history.verdict(last.number)
    if verdict is not None and verdict.verdict is Verdict.APPROVED:
        return Land("every hard gate passed, and a person approved")
    review = _review(history, policy, last, away, now)
    if review is not None:
        return review
    if last.doubts and policy.roles.reviewer is None:
        return RequestApproval(None, f"passed, as its own commands want it; {last.doubts[0]}")
    labels = [label for label in history.issue.labels if label in policy.approval_labels]
    if labels:
        return RequestApproval(None, f'passed; label "{labels[0]}" needs your approval ([approval] labels)')
    paths = [path for path in last.changed if matches_any(path, policy.approval_paths)]
    if paths:
        return RequestApproval(None, f"passed; it changes {paths[0]}, which needs your approval ([approval] paths)")
    return Land("every hard gate passed")


def _review(
    history: History, policy: Policy, last: PastAttempt, away: Mapping[str, float], now: float
) -> Action | None:
    """Have the work reviewed where that is due; None where nothing more is to be said by a reviewer."""
    reviewer = policy.roles.reviewer
    due = review_due(policy.review, history.issue, last)
    if reviewer is None or not due:
        return None
    told = [a for a in history.asked if a.topic is Topic.REVIEW and a.after == last.number]
    if told and told[-1].outcome is AdviceOutcome.ADVISED:
        approved = told[-1].strategy == "approve"  # nothing else lets it land, whatever it says
        return None if approved else RequestApproval(None, f"passed; the reviewer asks for a person: {told[-1].cause}")
    if told and told[-1].outcome is AdviceOutcome.UNUSABLE:
        return RequestApproval(None, f"passed; the reviewer's verdict could not be read: {told[-1].cause}")
    if len(told) > policy.transient_retries:
        return RequestApproval(None, f"passed; the reviewer was not there {len(told)} times: {told[-1].cause}")
    if away.get(reviewer, now) > now:
        return WaitUntil(reviewer, away[reviewer], f"passed; waits for the reviewer {reviewer}", provider=False)
    return Ask(Topic.REVIEW, reviewer, f"passed; {due}: reviewed before it lands")


def _limit(history: History, policy: Policy, kind: FailureKind) -> Action | None:
    charged = sum(attempt.charged for attempt in history.current)
    cap = policy.cap(history.issue, history.attempts_max)
    if charged >= cap:
        return Block(kind, f"all {cap} attempts are used up")
    refusal = can_pay(policy.budget, history.spent, (), _NOTHING)
    return Block(kind, refusal.reason, refusal.limit) if refusal is not None else None


def _payable(action: Action, history: History, policy: Policy, estimates: Estimates | None) -> Action:
    """Block where the issue's money does not pay for the model that an action would run.

    Work that passed has been paid for: what it takes to review it is due in any case.
    """
    model = model_of(action)
    passed = bool(history.current) and history.current[-1].outcome == PASSED
    if estimates is None or not policy.budget.limited or not model or passed:
        return action
    estimate = estimates.of(model, think=thinks(action))
    refusal = can_pay(policy.budget, history.spent, (), estimate)
    if refusal is None:
        return action
    told = tuple(attempt for attempt in history.current if attempt.failure is not None)
    kind = failure_of(told[-1]).kind if told else FailureKind.RESOURCE_EXHAUSTED
    return Block(_to_blame(told, kind), refusal.reason, refusal.limit)


def _with_usable_model(action: Action, history: History, policy: Policy) -> Action:
    if not isinstance(action, Run) or action.mode in (Mode.FIRST, Mode.SWITCH):
        return action
    told = tuple(attempt for attempt in history.current if attempt.outcome != INTERRUPTED)
    return replaced(action, told, history, policy)


def _standing_in(action: Action, policy: Policy, away: Mapping[str, float], now: float) -> Action:
    """Let a model of the same tier work where the one chosen waits for its provider."""
    match action:
        case Run(mode=Mode.SWITCH) | WaitUntil(provider=False):
            return action
        case Run() | WaitUntil():
            pass
        case _:
            return action
    if away.get(action.model, now) <= now:
        return action
    free = [other for other in policy.stand_ins(action.model) if away.get(other, now) <= now]
    if not free:
        return action
    return replace(action, model=free[0], reason=f"{action.reason}; {action.model} waits for its provider")
