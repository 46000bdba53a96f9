"""What the policy does about each kind of failure, attempt by attempt: simulated, so that no table can drift from it.

A simulated issue fails in one way at every attempt, whatever is asked is answered usefully, and the parts of a
breakdown fail as well, until the policy gives up. Each decision on the way is one that `policy.next_action` makes;
nothing here knows its rules. Failures differ from attempt to attempt, in what they say and in the diff they left,
except if they cannot: a worker that changes nothing leaves the same as before, and one timeout is like another.

NO_PROGRESS is no kind that an attempt fails with: its path is that of a failure which comes back with the same diff.

Asks a policy about decisions that were taken: what it would have decided then, on the very same attempts.

Each decision is looked at by itself. What another one would have led to nobody can know, so the attempts before it are
those that were. Of the answers that were had after its own attempt the policy sees those that it asks for; an answer
that nobody asked for then cannot be had. Providers are taken to be there, and waits to be as long as they can be.

What a person set when they unblocked an issue (another model, more attempts) is known for its present epoch only.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from noface.model.actions import (
    ASK_NAMES,
    CALL_RESOLVER,
    Action,
    Ask,
    AwaitIssues,
    Block,
    Mode,
    NextAction,
    RequestApproval,
    RunWorker,
    Skip,
    Terminal,
    WaitUntil,
    model_of,
    thinks,
)
from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.history import Advice, AdviceOutcome, History, Topic
from noface.model.issue import Issue
from noface.model.taxonomy import PASSED, FailureKind
from noface.recovery.policy import next_action
from noface.recovery.retry_policy import REJECTED_BY_REVIEWER, Policy, rejection

_CHANGED = ("src/one.py", "src/two.py")
"""Two files: what can be divided, and is too big for nobody."""


class Repeats(StrEnum):
    """What all attempts have in common: nothing, the failure, or the diff as well."""

    NOTHING = "nothing"
    FAILURE = "failure"
    DIFF = "diff"


USUALLY: Mapping[FailureKind, Repeats] = {
    FailureKind.NO_DIFF: Repeats.DIFF,
    FailureKind.NO_PROGRESS: Repeats.DIFF,
    FailureKind.TIMEOUT: Repeats.FAILURE,
}
"""What attempts that fail with a kind have in common by its nature; nothing if a kind does not stand here."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """How every attempt of a simulated issue fails. `reviewer` is the model that rejects, None if a person does."""

    kind: FailureKind
    repeats: Repeats
    reviewer: str | None = None

    def charged(self, before: int) -> bool:
        """True if the attempt after `before` such ones is charged (law 8)."""
        if self.kind.category.external or self.kind is FailureKind.MERGE_CONFLICT:
            return False
        if self.kind is FailureKind.REVIEW_REJECTED:
            return self.reviewer is None
        return self.kind is not FailureKind.OUTPUT_FORMAT or before > 0

    def failure(self, number: int) -> Failure:
        """Return the failure of attempt `number`."""
        text = f"<message {1 if self.repeats is not Repeats.NOTHING else number}>"
        if self.kind is FailureKind.REVIEW_REJECTED and self.reviewer is not None:
            return rejection(Advice(Topic.REVIEW, number, model=self.reviewer, cause="<points>", text=text))
        charged = self.charged(number - 1)
        return Failure(self.kind, "<message>", rule="simulated", signature=text, charged=charged)

    def attempt(self, number: int, action: RunWorker | WaitUntil, tiers: Mapping[str, int], now: float) -> PastAttempt:
        """Return attempt `number` as it failed, begun by `action`."""
        model, failure = action.model, self.failure(number)
        changes = self.kind is not FailureKind.NO_DIFF
        diff = f"<diff {1 if self.repeats is Repeats.DIFF else number}>"
        return PastAttempt(
            number=number,
            model=model,
            tier=tiers.get(model, 1),
            outcome=self.kind.value,
            charged=failure.charged,
            signature=failure.signature,
            patch_hash=diff if changes else "",
            finished_at=now,
            failure=failure,
            think=action.think,
            changed=_CHANGED if changes else (),
            lines=len(_CHANGED) if changes else 0,
            started_at=now,
        )


def answer(action: Ask, after: int) -> Advice:
    """Return an answer as one would wish for, in the form of its topic; only the parts of a breakdown fail."""
    advice = Advice(action.topic, after, model=action.model, cause="<cause>", text=f"<proposal {after}>")
    match action.topic:
        case Topic.DIAGNOSIS:
            return replace(advice, strategy="alternative_approach", recoverable="yes")
        case Topic.BOUNDARY:
            return replace(advice, strategy="redesign")
        case Topic.BREAKDOWN:
            return replace(advice, outcome=AdviceOutcome.PARTS_FAILED)
        case Topic.REVIEW:
            return replace(advice, strategy="approve")
        case _:
            return advice


ATTEMPTS_MAX = 60
"""A simulation goes no further; a path that is cut off here ends in no terminal action."""
_STEPS_MAX = 4 * ATTEMPTS_MAX
_WAITS_MAX = 3
"""So many waits for a provider are simulated if nothing but time ends them."""
ANY_ISSUE = Issue("ID", "any issue")
_ORDINARY = (FailureKind.TEST_FAILURE, FailureKind.RUNTIME_ERROR, FailureKind.SYNTAX_ERROR, FailureKind.LINT_FAILURE)
"""The kinds that may stand for the others where it matters only that failures repeat."""


@dataclass(frozen=True, slots=True)
class SimulatedStep:
    """One decision: what follows `after` attempts. `tier` is that of the model that works or is asked, if known.

    `wait_s` is the longest wait before the attempt that it starts, `charged` tells whether that one is charged. With
    `more` the same goes on with growing waits: no number of failures ends it.
    """

    after: int
    action: Action
    tier: int | None = None
    wait_s: float = 0.0
    charged: bool = True
    more: bool = False

    @property
    def shape(self) -> tuple[object, ...]:
        """What two steps have in common that a table shows alike: all but the words."""
        action = self.action
        topic = action.topic if isinstance(action, Ask) else None
        return self.after, action.name, model_of(action), thinks(action), topic, self.wait_s, self.more


@dataclass(frozen=True, slots=True)
class SimulatedIssue:
    """A simulated issue: how it fails, the decisions, and the history that led to the last of them."""

    trouble: Trouble
    steps: tuple[SimulatedStep, ...]
    history: History


@dataclass(frozen=True, slots=True)
class Row:
    """Kinds of failure that are answered alike, with the path of each of them.

    `repeats` is None if its kinds fail as is usual for them, else what all attempts have in common.
    """

    kinds: tuple[FailureKind, ...]
    steps: tuple[SimulatedStep, ...]
    repeats: Repeats | None = None


def terminal(action: Action) -> bool:
    """True if noface stops here, until a person or another issue has done something."""
    return isinstance(action, Terminal)


def path(
    policy: Policy,
    kind: FailureKind,
    issue: Issue = ANY_ISSUE,
    *,
    model: str | None = None,
    attempts_max: int | None = None,
) -> tuple[SimulatedStep, ...]:
    """Return the decisions about an issue of which every attempt fails with `kind`, to the bitter end.

    `model` and `attempts_max` are what a person said when they unblocked the issue.
    """
    return course(policy, kind, issue, model=model, attempts_max=attempts_max).steps


def course(
    policy: Policy,
    kind: FailureKind,
    issue: Issue = ANY_ISSUE,
    *,
    model: str | None = None,
    attempts_max: int | None = None,
    repeats: Repeats | None = None,
) -> SimulatedIssue:
    """Simulate an issue of which every attempt fails with `kind`; see `path`. `repeats` None: as is usual for it."""
    trouble = _trouble(policy, kind, repeats)
    tiers = dict(policy.tiers)
    history = History(issue, model=model, attempts_max=attempts_max)
    now, away, steps = 0.0, dict[str, float](), list[SimulatedStep]()
    while len(steps) < _STEPS_MAX and len(history.attempts) < ATTEMPTS_MAX:
        action = next_action(history, policy, now, jitter=1.0, away=away)
        history = _noted(history, action)
        after = len(history.attempts)
        wait_s = max(action.until - now, 0.0) if isinstance(action, WaitUntil) else 0.0
        steps.append(SimulatedStep(after, action, tiers.get(model_of(action)), wait_s, trouble.charged(after)))
        if isinstance(action, Terminal):
            break
        if policy.transient_retries is None and sum(step.wait_s > 0 for step in steps) == _WAITS_MAX:
            steps[-1] = replace(steps[-1], more=True)
            break
        if isinstance(action, Ask):
            history = replace(history, advice=(*history.advice, answer(action, after)))
            continue
        now += wait_s
        if isinstance(action, RunWorker) and action.instead_of is not None:
            model, until = action.instead_of
            away[model] = until
        history = replace(history, attempts=(*history.attempts, trouble.attempt(after + 1, action, tiers, now)))
    return SimulatedIssue(trouble, tuple(steps), history)


def table(
    policy: Policy, issue: Issue = ANY_ISSUE, *, model: str | None = None, attempts_max: int | None = None
) -> tuple[Row, ...]:
    """Return what follows on every kind, those that are answered alike in one row.

    A last row is about one failure that comes again and again with different diffs, where that makes a difference.
    """
    rows: dict[tuple[object, ...], Row] = {}
    for kind in FailureKind:
        steps = path(policy, kind, issue, model=model, attempts_max=attempts_max)
        before = rows.get(_shape(steps), Row((), steps))
        rows[_shape(steps)] = replace(before, kinds=(*before.kinds, kind))
    ordinary = _ordinary(policy)
    usual = path(policy, ordinary, issue, model=model, attempts_max=attempts_max)
    again = course(policy, ordinary, issue, model=model, attempts_max=attempts_max, repeats=Repeats.FAILURE).steps
    return (*rows.values(), *([Row((ordinary,), again, Repeats.FAILURE)] if _shape(again) != _shape(usual) else []))


def _shape(steps: tuple[SimulatedStep, ...]) -> tuple[object, ...]:
    return tuple(step.shape for step in steps)


def _trouble(policy: Policy, kind: FailureKind, repeats: Repeats | None) -> Trouble:
    repeats = repeats or USUALLY.get(kind, Repeats.NOTHING)
    kind = _ordinary(policy) if kind is FailureKind.NO_PROGRESS else kind
    return Trouble(kind, repeats, policy.roles.reviewer)


def _ordinary(policy: Policy) -> FailureKind:
    """Return a kind that the configuration leaves to the ladder."""
    own = dict(policy.strategies)
    return next((kind for kind in _ORDINARY if kind not in own), _ORDINARY[0])


def _noted(history: History, action: Action) -> History:
    """Write down on the last attempt what followed it, as the loop does."""
    if not history.attempts:
        return history
    *rest, last = history.attempts
    return replace(history, attempts=(*rest, replace(last, answer=action.name)))


_STOOD_IN = " waits for its provider"
"""What the reason of a decision ends in where a model stood in for the one named before it."""
_RUNNING = frozenset((*(mode.value for mode in Mode), WaitUntil.__name__))
_BY_KIND_ALONE = (WaitUntil.__name__, Mode.SWITCH.value)
"""Which model works then, and when, depends on who was away."""


@dataclass(frozen=True, slots=True)
class ComparedDecision:
    """A decision, recorded or made now. `asked` are the topics that were asked about before it.

    `model` and `think` belong to the attempt that it leads to; None if it leads to none, or none has followed yet.
    """

    action: str
    model: str | None = None
    think: bool | None = None
    asked: tuple[Topic, ...] = ()
    reason: str = ""

    def differs(self, other: "ComparedDecision") -> bool:
        """True if another answer to the same question is a different one; the reasons do not matter."""
        if self.action != other.action or set(self.asked) != set(other.asked):
            return True
        if self.action in _BY_KIND_ALONE or None in (self.model, other.model):
            return False
        return (self.model, self.think) != (other.model, other.think)


@dataclass(frozen=True, slots=True)
class DecisionPoint:
    """A moment at which something was decided: after attempt `attempt` with its outcome, or before the first (None)."""

    issue_id: str
    epoch: int
    attempt: int | None
    outcome: str
    recorded: ComparedDecision
    now: ComparedDecision

    @property
    def differs(self) -> bool:
        """True if the policy would decide otherwise."""
        return self.recorded.differs(self.now)


@dataclass(frozen=True, slots=True)
class Spared:
    """What the first other decision in an epoch would have spared if the rest had gone as it went.

    That are the attempts up to the first one of the model that it chooses, or all if it ends the work: then one that
    `passed` would be missing. `cost_usd` is what they cost, as far as it is known.
    """

    issue: str
    epoch: int
    attempts: int
    cost_usd: float
    passed: bool


def spared(history: History, decisions: Iterable[DecisionPoint]) -> Iterator[Spared]:
    """Yield what the first other decision of each epoch would have spared, where that can be told."""
    first = {decision.epoch: decision for decision in reversed([each for each in decisions if each.differs])}
    for epoch, decision in first.items():
        now, after = decision.now, decision.attempt or 0
        later = [each for each in history.attempts if each.epoch == epoch and each.number > after]
        chosen = [place for place, each in enumerate(later) if (each.model, each.think) == (now.model, now.think)]
        left = later if now.action in (Block.__name__, Skip.__name__) else later[: chosen[0]] if chosen else []
        if left:
            cost, passed = sum(each.cost_usd or 0.0 for each in left), any(each.outcome == PASSED for each in left)
            yield Spared(history.issue.id, epoch, len(left), cost, passed)


def replay(history: History, recorded: tuple[NextAction, ...], policy: Policy) -> tuple[DecisionPoint, ...]:
    """Return the decisions of an issue, of all its epochs, with what `policy` would decide.

    `recorded` belong to `history.attempts`, one each; if nothing was recorded there is nothing to compare. An
    attempt that a reviewer turned down had passed before: that it was reviewed is a decision of its own.
    """
    written = {attempt.number: each for attempt, each in zip(history.attempts, recorded, strict=True)}
    epochs = dict.fromkeys(attempt.epoch for attempt in history.attempts)
    return tuple(decision for epoch in epochs for decision in _epoch(history, epoch, written, policy))


def _epoch(history: History, epoch: int, written: dict[int, NextAction], policy: Policy) -> Iterator[DecisionPoint]:
    present = epoch == history.epoch
    model, most = (history.model, history.attempts_max) if present else (None, None)
    whole = replace(history, epoch=epoch, model=model, attempts_max=most)
    attempts = whole.current
    begun = next_action(replace(whole, attempts=(), advice=()), policy, attempts[0].started_at)
    first = ComparedDecision(begun.name, model=attempts[0].model, think=attempts[0].think)
    yield DecisionPoint(history.issue.id, epoch, None, "", first, _answer(begun, ()))
    for place, attempt in enumerate(attempts):
        if attempt.failure is not None and attempt.failure.rule == REJECTED_BY_REVIEWER:
            passed = replace(attempt, outcome=PASSED, charged=True, failure=None, signature="")
            yield _decision(whole, passed, NextAction(ASK_NAMES[Topic.REVIEW]), (), None, policy)
        if written[attempt.number].kind:
            given = tuple(advice for advice in whole.asked if advice.after == attempt.number)
            following = attempts[place + 1] if place + 1 < len(attempts) else None
            yield _decision(whole, attempt, written[attempt.number], given, following, policy)


def _decision(
    whole: History,
    last: PastAttempt,
    recorded: NextAction,
    given: tuple[Advice, ...],
    following: PastAttempt | None,
    policy: Policy,
) -> DecisionPoint:
    """Return what was decided after `last`, beside what would be; `given` are the answers that were had about it."""
    before = _recorded(last, recorded, given, following)
    now = _decided(_then(whole, last, recorded), recorded, given, policy)
    return DecisionPoint(whole.issue.id, whole.epoch, last.number, last.outcome, before, now)


def _then(history: History, last: PastAttempt, recorded: NextAction) -> History:
    """Return the history as it was when an attempt had ended, before anything was asked about it.

    A verdict on what an attempt asked for came after that it did.
    """
    attempts = tuple(attempt for attempt in history.attempts if attempt.number < last.number)
    advice = tuple(advice for advice in history.asked if advice.after < last.number)
    open_one = last.number if recorded.kind == RequestApproval.__name__ else None
    approvals = tuple(approval for approval in history.approvals if approval.attempt != open_one)
    return replace(history, attempts=(*attempts, replace(last, answer="")), advice=advice, approvals=approvals)


def _decided(then: History, recorded: NextAction, given: tuple[Advice, ...], policy: Policy) -> ComparedDecision:
    """Decide, and again with each answer that was had, as long as the policy asks for one.

    What was still to be answered when its question was written down is not known here either.
    """
    asked: list[Topic] = []
    left = list(given)
    now = then.attempts[-1].finished_at
    while True:
        action = next_action(then, policy, now)
        if isinstance(action, WaitUntil) and not action.provider and recorded.kind != action.name:
            action = next_action(then, policy, action.until)  # its wait was over when that was written down
        if not isinstance(action, Ask) or action.name == recorded.kind:
            return _answer(action, tuple(asked))
        answer = next((advice for advice in left if advice.topic is action.topic), None)
        if answer is None:
            return _answer(action, tuple(asked))
        left.remove(answer)
        asked.append(answer.topic)
        waited = answer.needs and recorded.kind != AwaitIssues.__name__  # what it needed was merged by then
        then = replace(then, advice=(*then.advice, replace(answer, needs=()) if waited else answer))


def _answer(action: Action, asked: tuple[Topic, ...]) -> ComparedDecision:
    if not isinstance(action, RunWorker | WaitUntil):
        return ComparedDecision(action.name, asked=asked, reason=action.reason)
    return ComparedDecision(action.name, action.model, action.think, asked, action.reason)


def _recorded(
    last: PastAttempt, recorded: NextAction, given: tuple[Advice, ...], following: PastAttempt | None
) -> ComparedDecision:
    asked = tuple(dict.fromkeys(advice.topic for advice in _before(last, recorded, given)))
    if recorded.kind not in _RUNNING or following is None:
        return ComparedDecision(recorded.kind, asked=asked, reason=recorded.reason)
    stood_in = recorded.reason.endswith(_STOOD_IN)
    model = recorded.reason.rpartition("; ")[2].removesuffix(_STOOD_IN) if stood_in else following.model
    return ComparedDecision(recorded.kind, model, following.think, asked, recorded.reason)


def _before(last: PastAttempt, recorded: NextAction, given: tuple[Advice, ...]) -> tuple[Advice, ...]:
    """Return the answers from before a decision: not that to the question which the decision itself is.

    A review that turned the work down came before the attempt counted as failed.
    """
    reviewed = last.outcome == PASSED
    answers = [advice for advice in given if reviewed or advice.topic is not Topic.REVIEW]
    own = [advice for advice in answers if ASK_NAMES.get(advice.topic, CALL_RESOLVER) == recorded.kind]
    return tuple(advice for advice in answers if advice not in own[-1:])
