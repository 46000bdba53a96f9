"""What the policy's rules look at after a failed attempt, and where an issue stands on the ladder (N11, L5, L14).

A rung that has been used, or whose tier an attempt has reached, is the lowest of all later attempts until the issue is
unblocked. The last rung repeats until the cap.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from noface.diagnosis.check import PULL_QUESTION
from noface.model.actions import Ask, Block, Mode, RunWorker
from noface.model.attempt import AttemptReport, Interrupted, Judged, PastAttempt, failure_of
from noface.model.failure import DISK_SEEMS_FULL, MADE_UP, OUTSIDE_CAUSE, SETUP_PASSING, TOO_LARGE, UNANSWERED, Failure
from noface.model.history import Advice, AdviceOutcome, History, Topic
from noface.model.taxonomy import INTERRUPTED, Category, DiagnosisStrategy, FailureKind, Strategy
from noface.model.worker_run import ReportStatus
from noface.recovery.partly_done import PARTLY_DONE, is_free
from noface.recovery.retry_policy import DEPTH_MAX, Policy, Rung

Attempts = tuple[PastAttempt, ...]

OUTSIDE = (OUTSIDE_CAUSE, DISK_SEEMS_FULL, SETUP_PASSING)
"""The rules of a worker or a setup whose final error lies outside the work and may pass by itself."""
OUTSIDE_REPEATS_MAX = 2
"""So often an issue repeats such an attempt, for nothing (docs/decisions.md, Attempts)."""


def identical(attempts: Attempts) -> int:
    """Count how many attempts at the end came from the same model, left the same diff and failed the same way.

    Whoever makes the same change again has changed nothing, and what it leaves fails as before.
    """
    failures: list[tuple[str, str]] = []
    by_gates: dict[str, tuple[str, str]] = {}
    for attempt in attempts:
        own = failure_signature(attempt)
        unchanged = attempt.outcome == FailureKind.NO_DIFF
        failures.append(by_gates.get(attempt.patch_hash, own) if unchanged else own)
        if attempt.patch_hash and failure_of(attempt).gate is not None:
            by_gates[attempt.patch_hash] = own
    seen = [(a.model, a.patch_hash, failed) for a, failed in zip(attempts, failures, strict=True)]
    return sum(1 for _ in takewhile(lambda one: one == seen[-1], reversed(seen)))


_PERIOD = 2
_CIRCLE = 2 * _PERIOD


def alternating(attempts: Attempts) -> int:
    """Count how many attempts at the end alternate between two failures, or two diffs; 0 for fewer than A, B, A, B."""
    failures = [failure_signature(attempt) for attempt in attempts]
    diffs = [attempt.patch_hash for attempt in attempts]
    return max(_in_turn(failures), _in_turn(diffs) if all(diffs[-_CIRCLE:]) else 0)


def _in_turn(states: Sequence[object]) -> int:
    if len(states) < _CIRCLE or states[-1] == states[-_PERIOD]:
        return 0
    count = _PERIOD
    while count < len(states) and states[-1 - count] == states[-1 - count + _PERIOD]:
        count += 1
    return count if count >= _CIRCLE else 0


def without_progress(attempts: Attempts) -> int:
    """Count how many attempts at the end brought nothing new: A, A counts 2, and so does A, B, A, B."""
    return max(identical(attempts), alternating(attempts) - _PERIOD)


def same_failure(attempts: Attempts) -> int:
    return trailing(attempts, lambda a: failure_signature(a) == failure_signature(attempts[-1]))


def failure_signature(attempt: PastAttempt) -> tuple[str, str]:
    return attempt.outcome, attempt.signature or failure_of(attempt).message


def is_transient(attempt: PastAttempt) -> bool:
    return failure_of(attempt).category is Category.TRANSIENT


def trailing(attempts: Attempts, test: Callable[[PastAttempt], bool]) -> int:
    return sum(1 for _ in takewhile(test, reversed(attempts)))


@dataclass(frozen=True, slots=True)
class PolicyState:
    """`attempts` are those of this epoch that tell something, oldest first, one at least; `failure` the last's."""

    history: History
    policy: Policy
    ladder: tuple[Rung, ...]
    attempts: Attempts
    failure: Failure

    @property
    def last(self) -> PastAttempt:
        return self.attempts[-1]

    @property
    def charged(self) -> Attempts:
        return tuple(attempt for attempt in self.attempts if attempt.charged)

    def answer(self, topic: Topic) -> Advice | None:
        return self.history.answer(topic, self.last.number)

    def advised(self, topic: Topic) -> Advice | None:
        advice = self.answer(topic)
        return advice if advice is not None and advice.outcome is AdviceOutcome.ADVISED else None

    def asked_before(self, topic: Topic) -> bool:
        return any(advice.topic is topic for advice in self.history.asked)

    def repeated(self, *kinds: FailureKind) -> int:
        return trailing(self.charged, lambda attempt: failure_of(attempt).kind in kinds)


def charged(report: AttemptReport, past: tuple[PastAttempt, ...]) -> bool:
    """True if an attempt spends the issue's budget: only the worker's own failures, and work that passed.

    Free are parts as long as they are progress, the first malformed answer in a row, the first time that a worker stops
    by its own word, calls the issue too large, or has no answer of its model within its time, and twice an issue a
    plain command that ended with a cause outside the work (docs/decisions.md, Attempts).
    """
    if isinstance(report, Interrupted):
        return False
    if report.failure is None:
        before = next((attempt for attempt in reversed(past) if attempt.number < report.number), None)
        asked = before is not None and failure_of(before).rule == PULL_QUESTION  # it only answers about passed work
        return not (before is not None and asked and before.patch_hash == report.patch_hash)
    if report.failure.rule == PARTLY_DONE and isinstance(report, Judged):
        return not is_free(
            report.worker, report.patch_hash, (attempt for attempt in past if attempt.number < report.number)
        )
    if report.failure.rule == OUTSIDE_CAUSE:
        return outside_failures(attempt for attempt in past if attempt.number < report.number) >= OUTSIDE_REPEATS_MAX
    if report.failure.kind is FailureKind.AGENT_BLOCKED or report.failure.rule == TOO_LARGE:
        kind, earlier = report.failure.kind, (attempt for attempt in past if attempt.number < report.number)
        same = (each.kind is kind and each.rule != MADE_UP for each in map(failure_of, earlier))
        return report.failure.charged and any(same)
    if report.failure.rule == UNANSWERED:
        return any(failure_of(each).rule == UNANSWERED for each in past if each.number < report.number)
    if report.failure.kind is FailureKind.OUTPUT_FORMAT:
        judged = (attempt for attempt in reversed(past) if attempt.outcome != INTERRUPTED)
        before = next((attempt for attempt in judged if attempt.number < report.number), None)
        return before is not None and before.outcome == FailureKind.OUTPUT_FORMAT
    return report.failure.charged


def parts_named(history: History) -> tuple[str, ...]:
    """Return what the last worker, or a role since, would divide the issue into; () if nobody says so."""
    last = history.current[-1] if history.current else None
    if last is None:
        return ()
    asked = (each.divide for each in reversed(history.asked) if each.after == last.number and each.divide)
    too_large = last.report is not None and last.report.status is ReportStatus.TOO_LARGE
    return next(asked, last.report.parts if too_large and last.report is not None else ())


def division(history: History, policy: Policy, why: str) -> Ask | None:
    """Return the breakdown of an issue that is said to be too large; None if it may not be, or nobody names parts."""
    planner = policy.roles.planner
    before = any(advice.topic is Topic.BREAKDOWN for advice in history.asked)
    if not policy.breakdown or before or history.issue.depth >= DEPTH_MAX:
        return None
    if planner is None and len(parts_named(history)) < _PERIOD:
        return None
    return Ask(Topic.BREAKDOWN, planner or "", f"{why}: {'the planner divides it' if planner else 'divided so'}")


def _says_same(advice: Advice) -> bool:
    useful = advice.topic is Topic.DIAGNOSIS and advice.outcome is AdviceOutcome.ADVISED
    return useful and advice.strategy == DiagnosisStrategy.SAME


def excused(advice: Advice, history: History) -> Failure | None:
    """Return an attempt's failure as no fault of the worker's, if a diagnosis says so ("retry_same", once an epoch)."""
    before = any(_says_same(old) for old in history.asked if old.after < advice.after)
    if before or not _says_same(advice) or advice.recoverable == "no":
        return None
    attempt = next((one for one in history.current if one.number == advice.after and one.charged), None)
    return replace(failure_of(attempt), charged=False) if attempt is not None else None


def outside_failures(past: Iterable[PastAttempt]) -> int:
    return sum(failure_of(attempt).rule in OUTSIDE for attempt in past if not attempt.charged)


def rung_index(attempts: Attempts, ladder: tuple[Rung, ...]) -> int:
    """Return the rung of the next attempt: a charged one uses up one of its rung's times, no progress the rest."""
    index, used = 0, 0
    charged = tuple(attempt for attempt in attempts if attempt.charged)
    for position, attempt in enumerate(charged):
        reached = _rung_of(attempt.model, ladder, index, think=attempt.think)
        if reached > index:
            index, used = reached, 0
        used += 1
        stuck = without_progress(charged[: position + 1]) > 1
        if (used >= ladder[index].times or stuck) and index < len(ladder) - 1:
            index, used = index + 1, 0
    return max([index, *(_floor(attempt.tier, ladder, index) for attempt in attempts)])


def rung_used(attempts: Attempts, ladder: tuple[Rung, ...]) -> int:
    last, before = attempts[-1], rung_index(attempts[:-1], ladder)
    return max(_rung_of(last.model, ladder, before, think=last.think), _floor(last.tier, ladder, before))


def suitable(ladder: tuple[Rung, ...], index: int, kind: FailureKind | None, least_tier: int = 0) -> int | None:
    """Return the first rung from `index` on that answers `kind`, else the highest below it of `least_tier` at least."""
    above = next((place for place in range(index, len(ladder)) if ladder[place].suits(kind)), None)
    if above is not None:
        return above
    below = range(min(index, len(ladder)) - 1, -1, -1)
    return next((p for p in below if ladder[p].suits(kind) and ladder[p].tier >= least_tier), None)


def _rung_of(model: str, ladder: tuple[Rung, ...], least: int, *, think: bool) -> int:
    places = [place for place, rung in enumerate(ladder) if place >= least and rung.model == model]
    exact = [place for place in places if ladder[place].think == think]
    return (exact or places or [least])[0]


def _floor(tier: int, ladder: tuple[Rung, ...], least: int) -> int:
    """Return the lowest rung that keeps the tier from falling below an attempt's; the last if none is so high."""
    high_enough = [place for place, rung in enumerate(ladder) if place >= least and rung.tier >= tier]
    return high_enough[0] if high_enough else len(ladder) - 1


def climb(state: PolicyState, how: Strategy = Strategy.FEEDBACK, why: str = "") -> RunWorker | Block:
    """Return the next worker run: the ladder's rung, and on the same rung what `how` says. `why` begins the reason."""
    ladder, failure = state.ladder, state.failure
    reached = max(attempt.tier for attempt in state.attempts)
    index = suitable(ladder, rung_index(state.attempts, ladder), failure.kind, reached)
    if index is None:
        return Block(failure.kind, f"no step of the ladder answers {failure.kind}")
    return _on(state, index, how, why or str(failure.kind))


def climb_higher(state: PolicyState, why: str) -> RunWorker | None:
    index = rung_above(state, rung_used(state.attempts, state.ladder))
    return None if index is None else _on(state, index, Strategy.ESCALATE, why)


def rung_above(state: PolicyState, index: int) -> int | None:
    """Return the first rung above `index` that answers such a failure, None on the last one."""
    above = range(index + 1, len(state.ladder))
    return next((place for place in above if state.ladder[place].suits(state.failure.kind)), None)


def same_model(attempts: Attempts, ladder: tuple[Rung, ...]) -> str:
    """Return the last attempt's model, or its rung's where issue or configuration no longer name that model."""
    last = attempts[-1].model
    return last if any(rung.model == last for rung in ladder) else ladder[rung_index(attempts, ladder)].model


def _on(state: PolicyState, index: int, how: Strategy, why: str) -> RunWorker:
    rung, last = state.ladder[index], state.last
    cause = f"no progress: {why}" if without_progress(state.charged) > 1 else why
    if alternating(state.charged):
        cause = f"no progress, the same two in turn: {why}"
    own = last.model in {other.model for other in state.ladder}
    stood_in = not own and last.model in state.policy.stand_ins(rung.model)  # going back is no escalation
    if rung.think and not last.think:
        mode, what = Mode.THINK, "{} thinks longer, with everything learned so far"
    elif rung.model != last.model and rung.tier >= last.tier and not stood_in:
        mode, what = Mode.ESCALATE, "next step, {}"
    else:
        mode, what = _ON_THE_SAME_RUNG.get(how, (Mode.FEEDBACK, "once more, with feedback"))
    return RunWorker(mode, rung.model, f"{cause}: {what.format(rung.model)}", think=rung.think or mode is Mode.THINK)


_ON_THE_SAME_RUNG = {
    Strategy.CONTEXT: (Mode.CONTEXT, "once more, with what noface knows"),
    Strategy.REDUCE: (Mode.REDUCE, "a smaller step"),
    Strategy.THINK: (Mode.THINK, "{} thinks longer"),
}


OF_THE_MODEL = (FailureKind.AUTH, FailureKind.MISCONFIGURED)
"""What is wrong with a model's login or entry; a broken machine or a red main is wrong for all of them."""


def of_the_model(failure: Failure) -> bool:
    return failure.kind in OF_THE_MODEL and not failure.gate


def unusable(judged: Attempts, policy: Policy) -> frozenset[str]:
    """Return the models whose newest attempt failed of its login or entry, and those with a login so refused since."""
    newest = {attempt.model: attempt for attempt in judged}
    uncharged = {model: last for model, last in newest.items() if not last.charged}
    failed = {model: last for model, last in uncharged.items() if of_the_model(failure_of(last))}
    refused = {
        other
        for model, last in failed.items()
        if failure_of(last).kind is FailureKind.AUTH
        for other in policy.same_login(model)
        if other not in newest or newest[other].number < last.number
    }
    return frozenset(failed) | refused | policy.unreachable


def instead_of(model: str, judged: Attempts, history: History, policy: Policy) -> str | None:
    """Return the model that works in the place of an unusable one, None if there is none, or a person wants none."""
    broken = unusable(judged, policy)
    if history.issue.no_escalate or any(kind in dict(policy.strategies) for kind in OF_THE_MODEL):
        return None
    ladder = policy.ladder_for(history.issue, history.model)
    tier = dict(policy.tiers).get(model, 0)
    names = [*policy.stand_ins(model), *(rung.model for rung in ladder if rung.tier >= tier)]
    return next((name for name in names if name != model and name not in broken), None)
