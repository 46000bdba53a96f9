"""The rules for failures that the worker has to answer for: rules 8 to 16 of `policy`, in their order."""

from noface.core.actions import Action, Ask, Block, Land, Mode, RequestApproval, Skip
from noface.core.climbing import climb, climb_higher, on_last_rung
from noface.core.diagnosing import brief, diagnosed
from noface.core.history import AdviceOutcome, Topic, Verdict
from noface.core.standing import Standing
from noface.core.streaks import identical, same_failure
from noface.core.tampering_words import ALTERED, MISSING
from noface.core.taxonomy import Category, FailureKind, Strategy
from noface.core.worker_run import BlockedReason

IDENTICAL_ATTEMPTS_MAX = 3
_NO_STRATEGY = (Topic.REFLECTION, Topic.REVIEW)
_STRATEGY_OF = {Topic.CLARIFICATION: Mode.CONTEXT.value}
"""An answer whose only use is the action that follows it is one strategy with that."""
_STRATEGIES_OFF_THE_LADDER = (Mode.CONTEXT.value, Mode.REDUCE.value)


def recover(standing: Standing, now: float) -> Action:
    """Answer a failure that was charged to the worker."""
    return (
        _hopeless(standing)
        or _break_down(standing)
        or _boundary(standing)
        or _context_gap(standing)
        or diagnosed(standing, now)
        or _given_up(standing)
        or _by_strategy(standing)
        or _by_ladder(standing)
    )


def _hopeless(standing: Standing) -> Action | None:
    """Rules 8 and 9: nothing changes any more."""
    policy, failure, charged = standing.policy, standing.failure, standing.charged
    if policy.block_after is not None and same_failure(charged) >= policy.block_after:
        return Block(failure.kind, f"the same failure {policy.block_after} times in a row")
    stuck = identical(charged)
    if stuck > 1 and policy.strategy(FailureKind.NO_PROGRESS) is Strategy.BLOCK:
        return Block(
            FailureKind.NO_PROGRESS, "the same diff and the same failure; [retry.strategies] NO_PROGRESS = block"
        )
    if stuck >= IDENTICAL_ATTEMPTS_MAX and on_last_rung(standing):
        return Block(FailureKind.NO_PROGRESS, f"the same diff and the same failure {IDENTICAL_ATTEMPTS_MAX} times")
    return None


def _break_down(standing: Standing) -> Action | None:
    """Rule 10: make smaller issues of it, once, where it is too big and can be divided."""
    policy, failure, rules = standing.policy, standing.failure, standing.policy.breakdown
    issue = standing.history.issue
    asked_for = policy.strategy(failure.kind) is Strategy.BREAKDOWN
    if not (rules.enabled or asked_for) or issue.depth >= rules.depth_max or standing.asked_before(Topic.BREAKDOWN):
        return None
    planner = policy.roles.planner
    if planner is None and max(len(attempt.changed) for attempt in standing.told) < 2:  # noqa: PLR2004 - one file is no two parts
        return None
    timeouts = standing.repeated(FailureKind.TIMEOUT)
    why = ""
    if asked_for:
        why = f"[retry.strategies] {failure.kind} = breakdown"
    elif timeouts >= rules.after_timeouts:
        why = f"{timeouts} timeouts in a row"
    elif len(standing.charged) >= rules.after_attempts and _too_big(standing):
        why = f"{len(standing.charged)} attempts, and the work is too big for one"
    if not why:
        return None
    return Ask(Topic.BREAKDOWN, planner or "", f"{why}: {'the planner divides it' if planner else 'divided by files'}")


def _too_big(standing: Standing) -> bool:
    rules, last = standing.policy.breakdown, standing.last
    exhausted = standing.failure.kind is FailureKind.RESOURCE_EXHAUSTED
    return exhausted or len(last.changed) > rules.files or last.lines > rules.lines


def _boundary(standing: Standing) -> Action | None:
    """Rule 11: outside its boundary, or against the gates."""
    failure, last = standing.failure, standing.last
    if failure.category is not Category.BOUNDARY:
        return None
    contract = last.report is not None and last.report.blocked_reason is BlockedReason.CONTRACT_CHANGE
    verdict = standing.history.verdict(last.number)
    if verdict is not None:
        granted = verdict.verdict is Verdict.APPROVED
        judged = failure.kind is FailureKind.GATE_TAMPERING and (contract or failure.rule in (ALTERED, MISSING))
        if granted and judged and last.candidate is not None:
            return Land("a person approved the change of the tests; it lands if the gates pass")
        return climb(standing, Strategy.CONTEXT, "a person approved" if granted else "a person refused")
    if contract:
        return RequestApproval(failure.kind, "the worker argues that a test or a contract is wrong: look at it")
    strategy = standing.policy.strategy(failure.kind)
    if strategy is not Strategy.RESOLVER:
        return None
    resolved = _resolved(standing)
    if resolved is not None:
        return resolved
    if _same_kind_twice(standing):
        if failure.rule in (ALTERED, MISSING):
            return RequestApproval(failure.kind, f"the worker was told and did it again: {failure.message}")
        return Block(failure.kind, "the worker was told and did it again")
    resolver = standing.policy.roles.resolver
    if resolver is not None and standing.answer(Topic.BOUNDARY) is None:
        return Ask(Topic.BOUNDARY, resolver, f"{failure.kind}: how can it be done inside the boundary?")
    return climb(standing, why=str(failure.kind))


def _resolved(standing: Standing) -> Action | None:
    """Return what only a person can do of what the resolver said; guidance is for the worker."""
    advice, kind = standing.advised(Topic.BOUNDARY), standing.failure.kind
    if advice is not None and advice.strategy == "person":
        return Block(kind, f"the resolver asks for a person: {brief(advice)}")
    if advice is not None and advice.strategy == "expand" and advice.paths:
        return RequestApproval(kind, f"the resolver would allow {', '.join(advice.paths[:5])} as well", advice.paths)
    return None


def _context_gap(standing: Standing) -> Action | None:
    """Rule 12: the worker did not know what to do."""
    failure, strategy = standing.failure, standing.policy.strategy(standing.failure.kind)
    if strategy is not Strategy.CONTEXT:
        return None
    if failure.category is Category.CONTEXT_GAP and _same_kind_twice(standing):
        return Block(failure.kind, "the worker still does not know what to do")
    planner = standing.policy.roles.planner
    if planner is not None and standing.answer(Topic.CLARIFICATION) is None:
        return Ask(Topic.CLARIFICATION, planner, f"{failure.kind}: ask the planner what is meant")
    return climb(standing, Strategy.CONTEXT)


def _given_up(standing: Standing) -> Action | None:
    """Rule 14: three different strategies have been tried since it was unblocked, and it still fails (K10)."""
    number = standing.last.number
    advice = [a for a in standing.history.asked if a.after < number and a.outcome is not AdviceOutcome.UNAVAILABLE]
    tried = {_STRATEGY_OF.get(a.topic, str(a.topic)) for a in advice if a.topic not in _NO_STRATEGY}
    tried |= {attempt.answer for attempt in standing.told[:-1] if attempt.answer in _STRATEGIES_OFF_THE_LADDER}
    if len(tried) < standing.policy.strategies_max:
        return None
    return Block(standing.failure.kind, f"{len(tried)} recovery strategies have failed: {', '.join(sorted(tried))}")


def _by_strategy(standing: Standing) -> Action | None:
    """Rule 15, and what `[retry.strategies]` asks for beyond the rules above."""
    failure = standing.failure
    strategy = standing.policy.strategy(failure.kind)
    told = f"[retry.strategies] {failure.kind} = {strategy}"
    if failure.category is Category.ENVIRONMENT and failure.kind not in dict(standing.policy.strategies):
        return None  # the change broke it, and is to mend it
    match strategy:
        case Strategy.BLOCK:
            return Block(failure.kind, told)
        case Strategy.SKIP:
            return Skip(told)
        case Strategy.APPROVAL:
            asked = standing.history.verdict(standing.last.number)
            return RequestApproval(failure.kind, told) if asked is None else climb(standing, why="a person decided")
        case Strategy.ESCALATE:
            return climb_higher(standing, f"{failure.kind}")
        case Strategy.THINK | Strategy.REDUCE:
            return climb(standing, strategy)
        case Strategy.BREAKDOWN:
            return climb(standing, Strategy.REDUCE)
        case Strategy.RESOLVER:
            return _resolve(standing)
        case _:
            return None


def _resolve(standing: Standing) -> Action | None:
    """Ask the resolver about a failure that is no matter of boundaries, as the configuration wants."""
    resolver = standing.policy.roles.resolver
    topic = Topic.MERGE_CONFLICT if standing.failure.kind is FailureKind.MERGE_CONFLICT else Topic.BOUNDARY
    if standing.history.verdict(standing.last.number) is not None:
        return climb(standing, why="a person decided")
    if resolver is None or standing.answer(topic) is not None:
        return _resolved(standing)
    return Ask(topic, resolver, f"[retry.strategies] {standing.failure.kind} = resolver")


def _by_ladder(standing: Standing) -> Action:
    """Rule 16: the ladder, after a reflection or an architect's word where somebody is named for it."""
    policy, last = standing.policy, standing.last
    correctable = standing.failure.category is Category.CORRECTABLE
    if policy.reflect and correctable and standing.answer(Topic.REFLECTION) is None:
        return Ask(Topic.REFLECTION, last.model, "asks the worker's model why it failed and how it will mend it")
    architect = policy.roles.architect
    again = len(standing.charged) > 1 and on_last_rung(standing)
    if architect is not None and correctable and again and not standing.asked_before(Topic.ARCHITECT):
        return Ask(Topic.ARCHITECT, architect, "the implementation fails again and again: reconsider the design")
    return climb(standing)


def _same_kind_twice(standing: Standing) -> bool:
    return standing.repeated(standing.failure.kind) > 1
