"""What to do next with an issue. This file owns the rules; nothing else decides.

"Attempts" are the issue's finished worker runs since it was last unblocked; "charged" ones are those whose failure
was the worker's own (law 8). An interrupted attempt (noface was stopped) is evidence of nothing: whatever is counted
in a row is counted as if it were not there. What was asked between two attempts (a diagnosis, a resolver's word, a
breakdown) is part of the history: an asking action is followed by the same question to the policy, now with an answer.

The rules, in order; the first that applies wins.

 0. All parts of it have landed: is that all (`closing`)?
 1. A person has named an attempt since the last one: it lands or is judged again if all that spoke against it is theirs
    to decide, and else the next one starts from it. No attempt yet: the first rung of the ladder.
 2. The last attempt passed (`rules_passed`): have it reviewed if that is due (N2; a reviewer who is away is waited
    for, and one who gives no verdict is no approval), ask a person where `[approval]` names its paths or labels
    (L10), land it.
    A review, or else a person's word, is due too where it may be half of the issue: after an order to do less, or
    after parts that failed, without a report that calls it done.
    Where it changed what judges it, as its issue's own commands want, a review is due, or else a person's word.
    Work that main's tests contradict, all of which it keeps and makes ask for something else, may be what its issue
    asks for (`[review] changed_tests`): a model that has not written it is asked, and a yes with a sentence of the
    issue that bears it makes the attempt one that passed. Without that it is rule 11's.
 3. Limits (law 12). As many charged attempts as the cap allows (N11 `max_total_attempts`, the issue's own
    `max_attempts`, or what a person granted), or the issue's money or tokens are spent, or do not pay for the run
    that the rules below would start: block.
 4. The last attempt was interrupted with noface: the same model again. What was ended for the run's money twice in a
    row, or once for the issue's, is blocked.
 5. Environment (AUTH, MISCONFIGURED, ENVIRONMENT, BASELINE_RED), not charged: no retry mends it. What is wrong with
    one model's login or entry leaves the others: one of its tier works in its place, else the next of the ladder.
    What has the same login (the same agent with the same key or home) is not tried after an AUTH. Without another one
    the model is looked at again after 10 s, 1 min and 5 min, unless another issue was blocked for it. For all else, and
    then: block at once. A main that turned red is waited for (engine/red_main), and what was finished is
    judged once it is green, for nothing; after five red mains in a row: block.
    (Where main passes in the same environment, the change is to blame, and it is charged: the ladder.) A setup or a
    plain command whose final error may pass by itself (a network, a rate limit, a port in use) is run again twice an
    issue, for nothing; a full disk, measured or met by main as well, ends the run, and the same model goes on with
    the next one.
 6. Transient (RATE_LIMITED, OVERLOADED, NETWORK): another model of the same tier if there is one; else wait until
    the provider's reset time, or back off exponentially with full jitter (N1). The run waits for up to `outage_max`,
    all issues on that model together; no issue is blocked for it, unless `transient_retries` says after how many
    failures in a row of a model.
 7. The worker found that it depends on other issues: look whether they are merged, and wait for those that are not
    (K5). The reviewer asked for changes: the same model again with the points, up to a cap of rounds (N2). Two merge
    conflicts in a row: ask the resolver once. The worker found it done already (`done_already`): one more look, then a
    person is asked; a green `accept` closes it. Part of the work that passes every gate (`partly_done`): the same model
    goes on with the rest. The work passed and holds what looks forgotten (`leftovers`): its worker is told once, and
    where no limit allows that it lands as it is. Anything else that was not charged (main moved under
    the attempt, the first malformed answer): again at once, up to three times since the last charged attempt, then
    block. After a merge conflict it works alone (`schedule`), so that main does not move again.
 8. Another machine refused access (401, 403), and no test made that up: block at once, until the next run (S4). The
    same failure `block_after` times in a row (N13), or the same library not installed twice: block.
 9. No progress: the same model, the same diff, the same failure (S5, P3), also if the attempt went on from that
    diff and left it as it was, and however long it thought; or two failures, or two diffs, in turn (A, B, A, B),
    whatever the models. Skip to the next rung; on the last, block at the third, or where A comes again. A rung on which
    the same model thinks longer is one more try, no beginning: who changes nothing is told so, thinks, and is asked no
    fourth time. Where nothing was changed, it is blocked as what it failed with.
10. Breakdown (N8): its worker, the planner or the reviewer says that it is too large; timeouts in a row, or several
    attempts and a diff that is too big; once an issue, down to a depth.
11. Boundary (BOUNDARY_VIOLATION, GATE_TAMPERING): ask the resolver, then tell the worker; a second time in a row: a
    person. A worker that argues that a test or a contract is wrong: the resolver too, then a person's approval or none.
12. Context gap (AGENT_CONFUSION, AGENT_BLOCKED, AGENT_REFUSED): ask the planner, add context once; a second time in a
    row: a person. What only a person can answer, as the worker or the planner says, a person is asked at once, and so
    is a choice without a planner. The first AGENT_BLOCKED of an issue is charged to nobody.
    What one model refuses another may do: after its second refusal the next rung's, if it has not refused.
13. Unknown, or the same failure again and again: diagnose (S1: known patterns first), and follow the diagnosis once
    (S3): another approach or the same with changes is told to the worker; "escalate" is the next rung, above the last
    a person; "retry_same" is the same run again, uncharged, after its delay; "skip" only if that is allowed.
    Advice that comes again, if in other words, is answered by the next rung, and nobody is asked any more (S5).
    Without a diagnoser an unknown failure gets more context first (K7).
14. Three different recovery strategies have failed (K10): block.
15. Complexity (TIMEOUT, RESOURCE_EXHAUSTED): the ladder, with the order to reduce the scope.
16. Everything else: the ladder, with feedback (L5, L6), after a reflection if that is wished for (N7).

`[retry.strategies]` gives a kind another one of these answers. The ladder of `[retry]`: `default_model` for
`escalate_after_attempts` charged attempts, then `escalation_model`, then the same thinking longer; the last rung
repeats until the cap. `[[retry.ladder]]` replaces it. It is climbed, never descended. Whatever model comes out, a
stand-in of its tier takes its place while its provider is away. A step, or an issue, may ask for several candidates:
then models of that tier make the attempt at once (`candidates`).
"""

from collections.abc import Mapping
from dataclasses import replace

from noface.data import table
from noface.diagnosis.known_causes import known_cause
from noface.integrity.leftovers import LEFT_IN
from noface.model.actions import (
    Action,
    Ask,
    AwaitIssues,
    Block,
    Land,
    Mode,
    RequestApproval,
    RunWorker,
    WaitUntil,
    model_of,
    thinks,
)
from noface.model.attempt import HOST_LOST, PastAttempt, failure_of, noted
from noface.model.budget import (
    ENDS_MAX,
    Budget,
    EndedFor,
    Estimate,
    Estimates,
    Spent,
    can_pay,
    ended_at,
    limit_of,
    passed_by,
)
from noface.model.failure import MADE_UP, TOO_LARGE, Failure
from noface.model.history import History, Topic, Verdict
from noface.model.quoting import short, some
from noface.model.taxonomy import INTERRUPTED, PASSED, Category, DiagnosisStrategy, FailureKind, Strategy
from noface.model.worker_run import BlockedReason
from noface.recovery.candidates import with_candidates
from noface.recovery.closing import closed_or_looked_at
from noface.recovery.decided import OUTSIDE, is_for_a_person
from noface.recovery.done_already import closed_or_asked
from noface.recovery.partly_done import PARTLY_DONE
from noface.recovery.policy_state import (
    Attempts,
    PolicyState,
    climb,
    climb_higher,
    division,
    instead_of,
    is_transient,
    of_the_model,
    same_model,
    trailing,
    unusable,
)
from noface.recovery.retry_policy import REJECTED_BY_PERSON, REJECTED_BY_REVIEWER, ROUNDS_MAX, Policy, RoleModels, Rung
from noface.recovery.rules_charged import by_strategy, recover, same_again, says_contract, stopped
from noface.recovery.rules_outside import backoff, look_again, outside, wait
from noface.recovery.rules_passed import changed_tests, landing

__all__ = ["History", "Policy", "Rung", "backoff", "next_action"]

_NOWHERE: Mapping[str, float] = {}
_NOTHING = Estimate("", 0.0, 0)
_REFUSAL_CHARS_MAX = 300


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
    paid = with_candidates(paid, history, policy, away, now, estimates)
    paid = _asked_before_given_up(paid, history)
    last = history.current[-1] if history.current else None
    if isinstance(paid, Block) and last is not None and failure_of(last).rule in (LEFT_IN, MADE_UP):
        verdict = history.verdict(last.number)
        refused = verdict is not None and verdict.verdict is not Verdict.APPROVED
        return paid if refused else landing(history, policy, last, away, now)
    if paid is not action and isinstance(action, Ask) and action.topic is not Topic.REVIEW:
        review = replace(policy.review, judge=None)
        unasked = replace(policy, roles=RoleModels(), reflect=False, breakdown=False, review=review)
        return next_action(history, unasked, now, jitter, away, estimates)
    return paid


def _decide(history: History, policy: Policy, now: float, jitter: float, away: Mapping[str, float]) -> Action:
    ladder = policy.ladder_for(history.issue, history.model)
    attempts = history.current
    if (closing := closed_or_looked_at(history, policy.roles, away, now)) is not None:
        return closing
    if (persons := _as_a_person_says(history, ladder)) is not None:
        return persons
    if not attempts and (spent := _family_limit(history, policy, FailureKind.RESOURCE_EXHAUSTED)) is not None:
        return spent
    if not attempts:
        first = ladder[0]
        named = history.model or history.issue.model
        whose = "as you said" if history.model else "as its issue says"
        step = f"{named}, {whose}" if named else "the ladder's first step"
        return RunWorker(Mode.FIRST, first.model, f"first attempt: {step}", think=first.think)
    attempts = _as_decided(history, attempts)
    last = attempts[-1]
    if last.outcome == PASSED:
        return landing(history, policy, last, away, now)
    if (question := changed_tests(history, policy, last, away, now)) is not None:
        return question
    judged = tuple(attempt for attempt in attempts if attempt.outcome != INTERRUPTED)
    failure = failure_of(judged[-1] if judged else last)
    dear = _too_dear(attempts, policy.budget)
    blamed = dear.kind if dear is not None else _to_blame(judged, failure.kind)
    limit = _limit(history, policy, blamed) or dear
    if limit is not None:
        return limit
    if last.outcome == INTERRUPTED:
        return RunWorker(Mode.SAME, same_model(attempts, ladder), _why_again(last), think=last.think)
    state = PolicyState(history, policy, ladder, judged, failure)
    if failure.category is Category.ENVIRONMENT and not last.charged:
        other = instead_of(last.model, judged, history, policy) if of_the_model(failure) else None
        if other is not None:
            return RunWorker(
                Mode.SAME, other, f"{failure.kind}: {last.model} cannot be used here, {other} works in its place"
            )
        known = known_cause(failure)
        said = short(failure.message, _REFUSAL_CHARS_MAX) if failure.kind is FailureKind.AUTH else ""
        cause = known.cause if known is not None else said
        what = f"{last.model} cannot be used" if of_the_model(failure) else "no retry mends what is around the work"
        why = f"{what}{': ' if cause else ''}{cause}"
        return outside(state, now) or look_again(state, now) or Block(failure.kind, why)
    if failure.category is Category.TRANSIENT:
        return wait(state, now, jitter, away)
    return (outside(state, now) or _again(state, now) if not last.charged else None) or recover(state, now)


def _as_a_person_says(history: History, ladder: tuple[Rung, ...]) -> Action | None:
    """Go on from the attempt that a person has named since the last; its work lands, or is judged again as it is."""
    if history.chosen is None:
        return None
    decided, attempt = history.chosen
    right = f"a person says that attempt {attempt.number} is right"
    let_in = bool(decided.work) and is_for_a_person(attempt)
    if let_in and attempt.number == history.attempts[-1].number and failure_of(attempt).rule != OUTSIDE:
        return Land(right)
    how = "it is judged again as it is" if let_in else "the next starts from it"
    return RunWorker(Mode.SAME, ladder[0].model, f"{right}: {how}", think=ladder[0].think)


def _asked_before_given_up(action: Action, history: History) -> Action:
    """Ask a person what a yes can settle before an issue is blocked for any reason but money.

    May work land that alters its judges, may it change other files, is a test wrong as its worker says?
    """
    last = history.current[-1] if history.current else None
    failure = last.failure if last is not None else None
    if last is None or failure is None or not isinstance(action, Block) or action.limit:
        return action
    may_land = failure.kind is FailureKind.GATE_TAMPERING and last.candidate is not None
    whole = history.issue.parent is None  # a part that is blocked goes back to its parent
    paths = failure.evidence if whole and failure.rule == "outside-paths" else ()
    if not (may_land or paths or (whole and says_contract(last))) or history.verdict(last.number) is not None:
        return action
    return RequestApproval(failure.kind, f"{action.reason}; {failure.message}", paths)


def _as_decided(history: History, attempts: Attempts) -> Attempts:
    """Return the attempts, the last as rejected where it passed and a person turned it down."""
    last, verdict = attempts[-1], history.verdict(attempts[-1].number)
    if last.outcome != PASSED or verdict is None or verdict.verdict is Verdict.APPROVED:
        return attempts
    kind = FailureKind.REVIEW_REJECTED
    failure = Failure(kind, f"rejected by a person: {verdict.note}", rule=REJECTED_BY_PERSON, signature=verdict.note)
    return (*attempts[:-1], replace(last, outcome=kind.value, failure=failure, signature=verdict.note))


def _to_blame(judged: Attempts, kind: FailureKind) -> FailureKind:
    """Return what a limit is reached with: no cause that passes by itself, or the next run would lift the block."""
    if not kind.category.external:
        return kind
    kinds = (failure_of(attempt).kind for attempt in reversed(judged))
    return next((other for other in kinds if not other.category.external), FailureKind.RESOURCE_EXHAUSTED)


def _limit(history: History, policy: Policy, kind: FailureKind) -> Block | None:
    answered = {each.attempt for each in history.decisions if each.verdict is Verdict.APPROVED}
    counted = (a for a in history.current if a.charged and a.number not in answered)
    charged = sum(history.approved_work(attempt) is None for attempt in counted)
    cap = policy.cap(history.issue, history.attempts_max)
    if charged >= cap:
        used = f"all {cap} attempts are used up" if cap > 1 else "its only attempt is used up"
        free = len(history.current) - charged
        return Block(kind, f"{used}; {free} more {'was' if free == 1 else 'were'} not charged" if free else used)
    if (spent := _family_limit(history, policy, kind)) is not None:
        return spent
    refusal = can_pay(policy.budget, history.spent, (), _NOTHING)
    return Block(kind, refusal.reason, refusal.limit) if refusal is not None else None


FAMILY_CAPS_MAX = 3
"""How many times its cap an issue and all its parts may take together: then a person is asked."""


def _family_limit(history: History, policy: Policy, kind: FailureKind) -> Block | None:
    most = FAMILY_CAPS_MAX * policy.cap(history.issue, history.attempts_max)
    runs = history.family_runs
    return Block(kind, f"it and its parts took {runs} worker runs, of at most {most}") if runs >= most else None


def _payable(action: Action, history: History, policy: Policy, estimates: Estimates | None) -> Action:
    """Block if the issue's money does not pay for the model that an action would run.

    Work that passed has been paid for: what it takes to review it is due in any case.
    """
    model = model_of(action)
    passed = bool(history.current) and history.current[-1].outcome == PASSED
    if estimates is None or not policy.budget.limited or not model or passed:
        return action
    refusal = can_pay(policy.budget, history.spent, (), estimates.of(model, think=thinks(action)))
    if refusal is None:
        return action
    failed = tuple(attempt for attempt in history.current if attempt.failure is not None)
    kind = failure_of(failed[-1]).kind if failed else FailureKind.RESOURCE_EXHAUSTED
    return Block(_to_blame(failed, kind), refusal.reason, refusal.limit)


def _with_usable_model(action: Action, history: History, policy: Policy) -> Action:
    if not isinstance(action, RunWorker) or (action.mode in (Mode.FIRST, Mode.SWITCH) and not policy.unreachable):
        return action
    judged = tuple(attempt for attempt in history.current if attempt.outcome != INTERRUPTED)
    broken = action.model in unusable(judged, policy)
    other = instead_of(action.model, judged, history, policy) if broken else None
    if other is None:
        return action
    return replace(action, model=other, reason=f"{action.reason}; {action.model} cannot be used here")


def _standing_in(action: Action, policy: Policy, away: Mapping[str, float], now: float) -> Action:
    match action:
        case RunWorker(mode=Mode.SWITCH) | WaitUntil(provider=False):
            return action
        case RunWorker() | WaitUntil():
            pass
        case _:
            return action
    if away.get(action.model, now) <= now:
        return action
    free = [other for other in policy.stand_ins(action.model) if away.get(other, now) <= now]
    if not free:
        return action
    return replace(action, model=free[0], reason=f"{action.reason}; {action.model} waits for its provider")


def _too_dear(attempts: Attempts, issue: Budget) -> Block | None:
    """Block if the last attempt was ended at its issue's limit, which still holds, or the last ones at their run's.

    What was interrupted otherwise, or because of other work, is evidence of nothing.
    """
    last = attempts[-1] if attempts else None
    if last is None or last.outcome != INTERRUPTED:
        return None
    if ended_at(last.signature) is EndedFor.ISSUE:
        limit = limit_of(last.signature)
        reason = f"it was ended at the issue's {limit}"
        return (
            Block(FailureKind.RESOURCE_EXHAUSTED, reason, limit.partition(" = ")[0])
            if limit in _limits_of(issue)
            else None
        )
    cut = attempts[len(attempts) - trailing(attempts, lambda attempt: attempt.outcome == INTERRUPTED) :]
    times = sum(ended_at(attempt.signature) is EndedFor.RUN for attempt in cut)
    if times < ENDS_MAX or ended_at(last.signature) is not EndedFor.RUN:
        return None
    limit = limit_of(last.signature)
    cheaper = (
        ", or give the model a max_cost_usd below it" if limit.startswith("max_cost_usd") else ", or divide the issue"
    )
    return Block(
        FailureKind.RESOURCE_EXHAUSTED,
        f"ended {times} times in a row: its attempts need more than the run's {limit}; raise it{cheaper}",
    )


def _limits_of(budget: Budget) -> tuple[str, ...]:
    passed = (passed_by(Budget(budget.owner, budget.usd), Spent(float("inf"), 0)),
              passed_by(Budget(budget.owner, None, budget.tokens), Spent(0.0, 1 << 62)))  # fmt: skip
    return tuple(each.of for each in passed if each is not None)


def _why_again(last: PastAttempt) -> str:
    ended_for = ended_at(last.signature)
    if ended_for is None:
        return f"{noted(last.notes, HOST_LOST) or 'noface was interrupted'}; nothing is charged"
    owner = "issue" if ended_for is EndedFor.ISSUE else "run"
    return f"ended at the {owner}'s {limit_of(last.signature)}; nothing is charged"


UNCHARGED_RETRIES_MAX = 3
CONFLICTS_BEFORE_RESOLVER = 2


def _again(state: PolicyState, now: float) -> Action | None:
    """Answer a failure that was charged to nobody; None if the other rules have a better answer."""
    attempts, failure = state.attempts, state.failure
    if _says_dependency(state.last):
        return _dependency(state)
    if (answer := closed_or_asked(state)) is not None:
        return answer
    if failure.rule == PARTLY_DONE:
        model, why = same_model(attempts, state.ladder), "part of it is done and passes: the rest is next, for nothing"
        return RunWorker(Mode.SAME, model, why, think=state.last.think)
    if failure.rule != MADE_UP and (answer := stopped(state)) is not None:
        return answer
    if failure.rule == TOO_LARGE:
        divided = division(state.history, state.policy, "the worker says that it is too large for one issue")
        return divided or climb(state, Strategy.REDUCE)
    if once := table("orders")["once"].get(failure.rule):
        chosen = by_strategy(state) if failure.kind in dict(state.policy.strategies) else None
        told = f"{once}; nothing is charged"
        return chosen or RunWorker(Mode.SAME, same_model(attempts, state.ladder), told, think=state.last.think)
    diagnosis = state.advised(Topic.DIAGNOSIS)
    if diagnosis is not None and diagnosis.strategy == DiagnosisStrategy.SAME:
        return same_again(state, diagnosis, now)
    since_charged = trailing(attempts, lambda attempt: not attempt.charged)
    uncharged = attempts[len(attempts) - since_charged :]
    of_nobody = [each for each in uncharged if not is_transient(each)]
    times = sum(failure_of(attempt).rule != REJECTED_BY_REVIEWER for attempt in of_nobody)
    if times > UNCHARGED_RETRIES_MAX:
        return Block(failure.kind, f"{times} attempts failed for no fault of their own: {failure.message}")
    if failure.rule == REJECTED_BY_REVIEWER:
        return _changes_asked_for(state)
    if failure.kind is FailureKind.MERGE_CONFLICT and failure.kind in dict(state.policy.strategies):
        chosen = by_strategy(state)
        if chosen is not None:
            return chosen
    resolver = state.policy.roles.resolver
    row = trailing(_without_transient(attempts), lambda attempt: failure_of(attempt).kind is FailureKind.MERGE_CONFLICT)
    conflicts = row >= CONFLICTS_BEFORE_RESOLVER
    if conflicts and resolver is not None and not state.asked_before(Topic.MERGE_CONFLICT):
        reason = "main moved twice into the same place: ask how to merge"
        return Ask(Topic.MERGE_CONFLICT, resolver, reason)
    model = same_model(attempts, state.ladder)
    if failure.kind is FailureKind.OUTPUT_FORMAT:
        return RunWorker(
            Mode.SAME, model, "the answer was malformed: once more with a reminder of its form", think=state.last.think
        )
    why = "not the worker's fault: nothing is charged"
    if failure.kind is FailureKind.MERGE_CONFLICT:
        where = some(failure.evidence, 3) or "the same files"
        why = f"main moved into {where} meanwhile: it works alone the next time; nothing is charged"
    return RunWorker(Mode.SAME, model, why, think=state.last.think)


def _without_transient(attempts: Attempts) -> Attempts:
    return tuple(attempt for attempt in attempts if not is_transient(attempt))


def _changes_asked_for(state: PolicyState) -> Action:
    rounds = sum(failure_of(attempt).rule == REJECTED_BY_REVIEWER for attempt in state.attempts)
    if rounds >= ROUNDS_MAX:
        return Block(state.failure.kind, f"the reviewer has asked for changes {rounds} times")
    model = same_model(state.attempts, state.ladder)
    return RunWorker(
        Mode.FEEDBACK, model, f"the reviewer asks for changes (round {rounds} of {ROUNDS_MAX})", think=state.last.think
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
    again = "the worker says again that it depends on something that is not there"
    if trailing(_without_transient(state.attempts), _says_dependency) > 1 and not advice.needs:
        return climb_higher(state, again) or Block(state.failure.kind, again)
    return climb(state, Strategy.CONTEXT, "its dependencies are merged or unknown")
