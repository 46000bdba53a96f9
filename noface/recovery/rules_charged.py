"""The rules for failures that the worker has to answer for: rules 8 to 16 of `policy`, in their order."""

from noface.diagnosis.gate import ENDLESS
from noface.diagnosis.known_causes import access_refused_of, known_cause
from noface.diagnosis.missing_library import library_of
from noface.integrity.rubbish import generated
from noface.model.actions import Action, Ask, Block, Mode, RequestApproval, RunWorker, Skip, WaitUntil
from noface.model.attempt import PastAttempt, failure_of
from noface.model.failure import MADE_UP
from noface.model.history import Advice, AdviceOutcome, Topic, Verdict
from noface.model.taxonomy import Category, FailureKind, Strategy
from noface.model.worker_run import Asked, BlockedReason
from noface.recovery.partly_done import PARTLY_DONE, rest_reported
from noface.recovery.policy_state import (
    PolicyState,
    alternating,
    climb,
    climb_higher,
    division,
    failure_signature,
    rung_above,
    rung_index,
    rung_used,
    same_failure,
    same_model,
    trailing,
    without_progress,
)
from noface.recovery.retry_policy import (
    BREAKDOWN_AFTER_ATTEMPTS,
    BREAKDOWN_AFTER_TIMEOUTS,
    DEPTH_MAX,
    DIAGNOSE_AFTER,
    TOO_MANY_FILES,
    TOO_MANY_LINES,
)

IDENTICAL_ATTEMPTS_MAX = 3
NOT_INSTALLED_ATTEMPTS_MAX = 2
_NO_STRATEGY = (Topic.REFLECTION, Topic.REVIEW, Topic.MISSING)
_STRATEGY_OF = {Topic.CLARIFICATION: Mode.CONTEXT.value}
"""An answer whose only use is the action that follows it is one strategy with that."""
_STRATEGIES = tuple(mode.value for mode in (Mode.FEEDBACK, Mode.ESCALATE, Mode.THINK, Mode.CONTEXT, Mode.REDUCE))


def recover(state: PolicyState, now: float) -> Action:
    """Answer a failure that was charged to the worker."""
    return (
        _approved(state)
        or _refused(state)
        or _not_installed(state)
        or _stands_still(state)
        or _hopeless(state)
        or _break_down(state)
        or _boundary(state)
        or _context_gap(state)
        or diagnosed(state, now)
        or _given_up(state)
        or by_strategy(state)
        or _by_ladder(state)
    )


def _refused(state: PolicyState) -> Action | None:
    refused = access_refused_of(state.failure)
    return Block(FailureKind.ENVIRONMENT, refused.cause) if refused is not None else None


def _not_installed(state: PolicyState) -> Action | None:
    """Rule 8: a library that is not installed, and that a worker who was told could not add."""
    library = library_of(state.last.signature)
    same = trailing(state.charged, lambda attempt: library_of(attempt.signature) == library)
    if not library or same < NOT_INSTALLED_ATTEMPTS_MAX:
        return None
    return Block(state.failure.kind, f"the library {library} is not installed, and {same} attempts did not add it")


def _stands_still(state: PolicyState) -> Action | None:
    """Rule 7: two parts in a row that did nothing of what is left. The planner is asked, and may divide it."""
    report, planner = state.last.report, state.policy.roles.planner
    if state.failure.rule != PARTLY_DONE or report is None or not report.left:
        return None
    advice = state.answer(Topic.CLARIFICATION)
    if advice is not None and advice.divide and (divided := division(state.history, state.policy, "so the planner")):
        return divided
    if planner is not None and advice is None:
        return Ask(Topic.CLARIFICATION, planner, "two attempts in a row did nothing of what is left: ask the planner")
    return climb(state, Strategy.FEEDBACK, "two attempts in a row did nothing of what is left")


def _hopeless(state: PolicyState) -> Action | None:
    policy, failure, charged = state.policy, state.failure, state.charged
    if policy.block_after is not None and same_failure(charged) >= policy.block_after:
        return Block(failure.kind, f"the same failure {policy.block_after} times in a row")
    stuck, in_turn = without_progress(charged), alternating(charged)
    what = (
        f"the same two failures or diffs in turn, {in_turn} times" if in_turn else "the same diff and the same failure"
    )
    if stuck > 1 and policy.strategy(FailureKind.NO_PROGRESS) is Strategy.BLOCK:
        return Block(FailureKind.NO_PROGRESS, f"{what}; [retry.strategies] NO_PROGRESS = block")
    if stuck < IDENTICAL_ATTEMPTS_MAX or rung_above(state, rung_used(state.attempts, state.ladder)) is not None:
        return None
    if in_turn:
        return Block(FailureKind.NO_PROGRESS, what)
    if not charged[-1].patch_hash:
        return Block(failure.kind, f"nothing was changed, and it ended in the same way, {stuck} times")
    return Block(FailureKind.NO_PROGRESS, f"{what} {stuck} times")


def _break_down(state: PolicyState) -> Action | None:
    """Rule 10: make smaller issues of it, once, where it is too big and can be divided."""
    policy, failure = state.policy, state.failure
    issue = state.history.issue
    asked_for = policy.strategy(failure.kind) is Strategy.BREAKDOWN
    if not (policy.breakdown or asked_for) or issue.depth >= DEPTH_MAX or state.asked_before(Topic.BREAKDOWN):
        return None
    planner = policy.roles.planner
    rest = any(rest_reported(attempt.report) for attempt in state.attempts)
    if planner is None and max(len(_written(attempt)) for attempt in state.attempts) < 2 - rest:
        return None
    timeouts = state.repeated(FailureKind.TIMEOUT) if failure.rule not in ENDLESS else 0
    big = len(_written(state.last)) > TOO_MANY_FILES or state.last.lines > TOO_MANY_LINES
    why = ""
    if asked_for:
        why = f"[retry.strategies] {failure.kind} = breakdown"
    elif timeouts >= BREAKDOWN_AFTER_TIMEOUTS:
        why = f"{timeouts} timeouts in a row"
    elif len(state.charged) >= BREAKDOWN_AFTER_ATTEMPTS and (big or failure.kind is FailureKind.RESOURCE_EXHAUSTED):
        why = f"{len(state.charged)} attempts, and the work is too big for one"
    if not why:
        return None
    return Ask(Topic.BREAKDOWN, planner or "", f"{why}: {'the planner divides it' if planner else 'divided by files'}")


def _written(attempt: PastAttempt) -> frozenset[str]:
    return frozenset(attempt.changed) - generated(attempt.changed)


def says_contract(attempt: PastAttempt) -> bool:
    return attempt.report is not None and attempt.report.blocked_reason is BlockedReason.CONTRACT_CHANGE


def _approved(state: PolicyState) -> Action | None:
    """Go on as a person has let it: what was asked for is theirs to say, whatever the other rules count."""
    verdict = state.history.verdict(state.last.number)
    if verdict is None or verdict.verdict is not Verdict.APPROVED or state.failure.category is not Category.BOUNDARY:
        return None
    return climb(state, Strategy.CONTEXT, "a person approved")


def _boundary(state: PolicyState) -> Action | None:
    """Rule 11: outside its boundary, or against the gates."""
    failure, last = state.failure, state.last
    if failure.category is not Category.BOUNDARY:
        return None
    contract = says_contract(last)
    if state.history.verdict(last.number) is not None:
        return climb(state, Strategy.CONTEXT, "a person refused")
    if state.policy.strategy(failure.kind) is Strategy.RESOLVER:
        return _contract(state) if contract else _outside(state)
    return RequestApproval(failure.kind, _ARGUES) if contract else None


_ARGUES = "the worker argues that a test or a contract is wrong: look at it"


def _contract(state: PolicyState) -> Action:
    """Answer a worker that calls a test or a contract wrong: the resolver first, then a person (K5)."""
    kind, resolver = state.failure.kind, state.policy.roles.resolver
    advice = state.answer(Topic.BOUNDARY)
    if resolver is None or _same_kind_twice(state):
        return RequestApproval(kind, _ARGUES)
    if advice is None:
        return Ask(Topic.BOUNDARY, resolver, "the worker argues that a test or a contract is wrong: is it?")
    if advice.outcome is not AdviceOutcome.ADVISED:
        return RequestApproval(kind, _ARGUES)
    if advice.strategy == "person":
        return RequestApproval(kind, f"the resolver asks for a person: {brief(advice)}")
    return _resolved(state) or climb(state, why=f"the resolver: {brief(advice)}")


def _outside(state: PolicyState) -> Action:
    """Answer work beyond its limits: the resolver, then the worker is told; a second time a person."""
    failure, resolver = state.failure, state.policy.roles.resolver
    resolved = _resolved(state)
    if resolved is not None:
        return resolved
    if _same_kind_twice(state):
        if failure.kind is FailureKind.GATE_TAMPERING:
            return RequestApproval(failure.kind, f"the worker was told and did it again: {failure.message}")
        return Block(failure.kind, "the worker was told and did it again")
    if resolver is not None and state.answer(Topic.BOUNDARY) is None:
        return Ask(Topic.BOUNDARY, resolver, f"{failure.kind}: how can it be done inside the boundary?")
    return climb(state, why=str(failure.kind))


def _resolved(state: PolicyState) -> Action | None:
    """Return what only a person can do of what the resolver said; guidance is for the worker."""
    advice, kind = state.advised(Topic.BOUNDARY), state.failure.kind
    if advice is not None and advice.strategy == "person":
        return Block(kind, f"the resolver asks for a person: {brief(advice)}")
    if advice is not None and advice.strategy == "expand" and advice.paths:
        return RequestApproval(kind, f"the resolver would allow {', '.join(advice.paths[:5])} as well", advice.paths)
    return None


def stopped(state: PolicyState) -> Action | None:
    """Answer a worker that stopped by its own word, for nothing, as rule 12 does; None after anything else."""
    if state.failure.kind is not FailureKind.AGENT_BLOCKED:
        return None
    return _context_gap(state) or by_strategy(state) or climb(state)


def _context_gap(state: PolicyState) -> Action | None:
    """Rule 12: the worker did not know what to do."""
    failure, strategy = state.failure, state.policy.strategy(state.failure.kind)
    if strategy is not Strategy.CONTEXT:
        return None
    if (person := _for_a_person(state)) is not None:
        return person
    again = state.failure.kind is FailureKind.AGENT_BLOCKED and trailing(state.attempts, _stopped) > 1
    if failure.category is Category.CONTEXT_GAP and (again or _same_kind_twice(state)):
        refused = {attempt.model for attempt in state.attempts if attempt.outcome == FailureKind.AGENT_REFUSED}
        higher = climb_higher(state, f"{state.last.model} refuses")
        if failure.kind is FailureKind.AGENT_REFUSED and higher is not None and higher.model not in refused:
            return higher
        return Block(failure.kind, "the worker still does not know what to do")
    planner, advice = state.policy.roles.planner, state.advised(Topic.CLARIFICATION)
    if advice is not None and advice.divide:
        divided = division(state.history, state.policy, "the planner says that it is too large for one issue")
        return divided or climb(state, Strategy.CONTEXT)
    if planner is not None and state.answer(Topic.CLARIFICATION) is None:
        return Ask(Topic.CLARIFICATION, planner, f"{failure.kind}: ask the planner what is meant")
    return climb(state, Strategy.CONTEXT)


def _stopped(attempt: PastAttempt) -> bool:
    failure = failure_of(attempt)
    return failure.kind is FailureKind.AGENT_BLOCKED and failure.rule != MADE_UP


def _for_a_person(state: PolicyState) -> Block | None:
    report, advice = state.last.report, state.advised(Topic.CLARIFICATION)
    if advice is not None and advice.strategy == Asked.PERSON:
        return Block(state.failure.kind, f"the planner says that only a person can answer: {advice.cause}")
    if state.failure.kind is not FailureKind.AGENT_BLOCKED or report is None:
        return None
    without = state.policy.roles.planner is None
    if advice is None and (asked := report.asked_of(Asked.PERSON, *([Asked.CHOICE] if without else []))):
        return Block(state.failure.kind, f"only a person can answer: {asked[0]}")
    return None


def _given_up(state: PolicyState) -> Action | None:
    """Rule 14: three different strategies have been tried since it was unblocked, and it still fails (K10).

    The steps of the ladder are such, and each diagnosis is one of its own.
    """
    number = state.last.number
    advice = [a for a in state.history.asked if a.after < number and a.outcome is not AdviceOutcome.UNAVAILABLE]
    tried = {
        _STRATEGY_OF.get(a.topic, f"{a.topic} after attempt {a.after}") for a in advice if a.topic not in _NO_STRATEGY
    }
    tried |= {attempt.answer for attempt in state.attempts[:-1] if attempt.answer in _STRATEGIES}
    if len(tried) < state.policy.strategies_max:
        return None
    return Block(state.failure.kind, f"{len(tried)} recovery strategies have failed: {', '.join(sorted(tried))}")


def by_strategy(state: PolicyState) -> Action | None:
    """Rule 15, and what `[retry.strategies]` asks for beyond the rules above."""
    failure = state.failure
    strategy = state.policy.strategy(failure.kind)
    reason = f"[retry.strategies] {failure.kind} = {strategy}"
    if failure.category is Category.ENVIRONMENT and failure.kind not in dict(state.policy.strategies):
        return None  # the change broke it, and is to mend it
    match strategy:
        case Strategy.BLOCK:
            return Block(failure.kind, reason)
        case Strategy.SKIP:
            return Skip(reason)
        case Strategy.APPROVAL:
            asked = state.history.verdict(state.last.number)
            return RequestApproval(failure.kind, reason) if asked is None else climb(state, why="a person decided")
        case Strategy.ESCALATE:
            return climb_higher(state, f"{failure.kind}")
        case Strategy.THINK | Strategy.REDUCE:
            return climb(state, strategy) if failure.rule not in ENDLESS else climb(state)
        case Strategy.BREAKDOWN:
            return climb(state, Strategy.REDUCE)
        case Strategy.RESOLVER:
            return _resolve(state)
        case _:
            return None


def _resolve(state: PolicyState) -> Action | None:
    resolver = state.policy.roles.resolver
    topic = Topic.MERGE_CONFLICT if state.failure.kind is FailureKind.MERGE_CONFLICT else Topic.BOUNDARY
    if state.history.verdict(state.last.number) is not None:
        return climb(state, why="a person decided")
    if resolver is None or state.answer(topic) is not None:
        return _resolved(state)
    return Ask(topic, resolver, f"[retry.strategies] {state.failure.kind} = resolver")


def _by_ladder(state: PolicyState) -> Action:
    """Rule 16: the ladder, after a reflection or an architect's word if somebody is named for it."""
    policy, last = state.policy, state.last
    correctable = state.failure.category is Category.CORRECTABLE
    if policy.reflect and correctable and state.answer(Topic.REFLECTION) is None:
        return Ask(Topic.REFLECTION, last.model, "asks the worker's model why it failed and how it will mend it")
    architect = policy.roles.architect
    again = len(state.charged) > 1 and rung_above(state, rung_index(state.attempts, state.ladder)) is None
    if architect is not None and correctable and again and not state.asked_before(Topic.ARCHITECT):
        return Ask(Topic.ARCHITECT, architect, "the implementation fails again and again: reconsider the design")
    return climb(state)


def _same_kind_twice(state: PolicyState) -> bool:
    return state.repeated(state.failure.kind) > 1


_BRIEF_MAX = 200


def diagnosed(state: PolicyState, now: float) -> Action | None:
    """Return what a diagnosis leads to: a question, or what its answer asks for; None if there is no need of one."""
    policy, failure = state.policy, state.failure
    unknown = policy.strategy(failure.kind) is Strategy.DIAGNOSE
    repeated = same_failure(state.charged) >= DIAGNOSE_AFTER
    advice = state.advised(Topic.DIAGNOSIS)
    if advice is not None:
        followed = _follow(state, advice, now)
        if followed is not None:
            return followed
    if not unknown and not (repeated and policy.roles.diagnoser is not None):
        return None
    known = known_cause(failure)
    signature = failure_signature(state.last)
    told = any(a.answer == Mode.CONTEXT and failure_signature(a) == signature for a in state.charged[:-1])
    if known is not None and not told:
        if known.strategy == "escalate":
            return Block(failure.kind, known.cause)
        action = climb(state, Strategy.CONTEXT, f"known cause: {known.cause}")
        return _later(state, action, known.delay_s, now, known.cause) if known.strategy == "retry_same" else action
    answer = state.answer(Topic.DIAGNOSIS)
    due = answer is None and (unknown or not _diagnosed_before(state)) and not _nothing_new(state)
    if due and policy.roles.diagnoser is not None:
        why = "nobody knows yet why it failed" if unknown else "the same failure again"
        return Ask(Topic.DIAGNOSIS, policy.roles.diagnoser, f"{failure.kind}: {why}")
    helpless = answer is None or answer.outcome is not AdviceOutcome.ADVISED
    if unknown and helpless and state.repeated(failure.kind) == 1:
        return climb(state, Strategy.CONTEXT)
    return None


def _diagnosed_before(state: PolicyState) -> bool:
    """True if somebody has looked at this very failure: what they said has not helped, and would be said again."""
    numbers = {advice.after for advice in state.history.asked if advice.topic is Topic.DIAGNOSIS}
    return any(
        attempt.number in numbers and failure_signature(attempt) == failure_signature(state.last)
        for attempt in state.charged
    )


def _nothing_new(state: PolicyState) -> bool:
    given = _diagnoses(state)
    repetition = any(new.repeats(old) for at, new in enumerate(given) for old in given[:at])
    return repetition or (_diagnosed_before(state) and without_progress(state.charged) > 1)


def _diagnoses(state: PolicyState) -> list[Advice]:
    return [a for a in state.history.asked if a.topic is Topic.DIAGNOSIS and a.outcome is AdviceOutcome.ADVISED]


def _follow(state: PolicyState, advice: Advice, now: float) -> Action | None:
    """Return what a diagnosis asks for, the next rung where that was tried before; None if it is nothing."""
    failure = state.failure
    if any(advice.repeats(old) for old in _diagnoses(state) if old.after < advice.after):
        return climb_higher(state, "the diagnosis says again what has not helped")
    if advice.recoverable == "no" and advice.strategy != "skip_and_continue":
        return Block(failure.kind, f"diagnosed as not recoverable: {advice.cause}")
    match advice.strategy:
        case "alternative_approach" | "retry_modified":
            return climb(state, why=f"diagnosis: {brief(advice)}")
        case "skip_and_continue" if state.policy.allow_skip:
            return Skip(f"diagnosis: {brief(advice)}")
        case "skip_and_continue":
            return Block(failure.kind, f"the diagnosis advises to skip it: {brief(advice)}")
        case "escalate":
            higher = climb_higher(state, f"diagnosis: {advice.cause}")
            return higher or Block(failure.kind, f"the diagnosis asks for a person: {advice.cause}")
        case "retry_same":
            return same_again(state, advice, now)
        case _:
            return None


def same_again(state: PolicyState, advice: Advice, now: float) -> Action:
    """Return the same run once more, after the delay that the diagnosis names: the ladder is not climbed for it."""
    retry = RunWorker(
        Mode.SAME,
        same_model(state.attempts, state.ladder),
        f"diagnosis: the same again, since it was not the work: {advice.cause}",
        think=state.last.think,
    )
    return _later(state, retry, advice.delay_s, now, advice.cause)


def _later(state: PolicyState, retry: RunWorker | Block, delay_s: float | None, now: float, cause: str) -> Action:
    until = state.last.finished_at + (delay_s or 0.0)
    if until <= now or isinstance(retry, Block):
        return retry
    return WaitUntil(retry.model, until, f"diagnosis: wait first ({cause})", retry.think, provider=False)


def brief(advice: Advice) -> str:
    text = " ".join((advice.text or advice.cause).split())
    return text if len(text) <= _BRIEF_MAX else f"{text[: _BRIEF_MAX - 1]}…"
