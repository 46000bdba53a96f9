"""Asks a policy about decisions that were taken: what it would have decided then, on the very same attempts.

Each decision is looked at by itself. What another one would have led to nobody can know, so the attempts before it are
those that were. Of the answers that were had after its own attempt the policy sees those that it asks for; an answer
that nobody asked for then cannot be had. Providers are taken to be there, and waits to be as long as they can be.

What a person set when they unblocked an issue (another model, more attempts) is known for its present epoch only.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from noface.core.actions import (
    ASK_NAMES,
    CALL_RESOLVER,
    Action,
    Ask,
    AwaitIssues,
    Mode,
    RequestApproval,
    Run,
    WaitUntil,
)
from noface.core.attempt import PastAttempt
from noface.core.history import Advice, History, Topic
from noface.core.policy import next_action
from noface.core.retry_policy import Policy
from noface.core.review_rules import REJECTED_BY_REVIEWER
from noface.core.taxonomy import PASSED

_STOOD_IN = " waits for its provider"
"""What the reason of a decision ends in where a model stood in for the one named before it."""
_RUNNING = frozenset((*(mode.value for mode in Mode), WaitUntil.__name__))
_BY_KIND_ALONE = (WaitUntil.__name__, Mode.SWITCH.value)
"""Which model works then, and when, depends on who was away."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was decided after an attempt, as it was written down. `kind` is "" where nothing was."""

    kind: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision, recorded or made now. `asked` are the topics that were asked about before it.

    `model` and `think` belong to the attempt that it leads to; None where it leads to none, or none has followed yet.
    """

    kind: str
    reason: str = ""
    asked: tuple[Topic, ...] = ()
    model: str | None = None
    think: bool | None = None

    def differs(self, other: "Answer") -> bool:
        """Tell whether another answer to the same question is a different one; the reasons do not matter."""
        if self.kind != other.kind or set(self.asked) != set(other.asked):
            return True
        if self.kind in _BY_KIND_ALONE or None in (self.model, other.model):
            return False
        return (self.model, self.think) != (other.model, other.think)


@dataclass(frozen=True, slots=True)
class Decision:
    """A moment at which something was decided: after attempt `attempt` with its outcome, or before the first (None)."""

    issue_id: str
    epoch: int
    attempt: int | None
    outcome: str
    recorded: Answer
    now: Answer

    @property
    def differs(self) -> bool:
        """Tell whether the policy would decide otherwise."""
        return self.recorded.differs(self.now)


def replay(history: History, recorded: tuple[Recorded, ...], policy: Policy) -> tuple[Decision, ...]:
    """Return the decisions of an issue, of all its epochs, with what `policy` would decide.

    `recorded` belong to `history.attempts`, one each; where nothing was recorded there is nothing to compare. An
    attempt that a reviewer turned down had passed before: that it was reviewed is a decision of its own.
    """
    written = {attempt.number: each for attempt, each in zip(history.attempts, recorded, strict=True)}
    epochs = dict.fromkeys(attempt.epoch for attempt in history.attempts)
    return tuple(decision for epoch in epochs for decision in _epoch(history, epoch, written, policy))


def _epoch(history: History, epoch: int, written: dict[int, Recorded], policy: Policy) -> Iterator[Decision]:
    present = epoch == history.epoch
    model, most = (history.model, history.attempts_max) if present else (None, None)
    whole = replace(history, epoch=epoch, model=model, attempts_max=most)
    attempts = whole.current
    begun = next_action(replace(whole, attempts=(), advice=()), policy, attempts[0].started_at)
    first = Answer(begun.name, model=attempts[0].model, think=attempts[0].think)
    yield Decision(history.issue.id, epoch, None, "", first, _answer(begun, ()))
    for place, attempt in enumerate(attempts):
        if attempt.failure is not None and attempt.failure.rule == REJECTED_BY_REVIEWER:
            passed = replace(attempt, outcome=PASSED, charged=True, failure=None, signature="")
            yield _decision(whole, passed, Recorded(ASK_NAMES[Topic.REVIEW]), (), None, policy)
        if written[attempt.number].kind:
            given = tuple(advice for advice in whole.asked if advice.after == attempt.number)
            following = attempts[place + 1] if place + 1 < len(attempts) else None
            yield _decision(whole, attempt, written[attempt.number], given, following, policy)


def _decision(
    whole: History,
    last: PastAttempt,
    said: Recorded,
    given: tuple[Advice, ...],
    following: PastAttempt | None,
    policy: Policy,
) -> Decision:
    """Return what was decided after `last`, beside what would be; `given` are the answers that were had about it."""
    before = _recorded(last, said, given, following)
    now = _decided(_then(whole, last, said), said, given, policy)
    return Decision(whole.issue.id, whole.epoch, last.number, last.outcome, before, now)


def _then(history: History, last: PastAttempt, said: Recorded) -> History:
    """Return the history as it was when an attempt had ended, before anything was asked about it.

    A verdict on what an attempt asked for came after that it did.
    """
    attempts = tuple(attempt for attempt in history.attempts if attempt.number < last.number)
    advice = tuple(advice for advice in history.asked if advice.after < last.number)
    open_one = last.number if said.kind == RequestApproval.__name__ else None
    approvals = tuple(approval for approval in history.approvals if approval.attempt != open_one)
    return replace(history, attempts=(*attempts, replace(last, answer="")), advice=advice, approvals=approvals)


def _decided(then: History, said: Recorded, given: tuple[Advice, ...], policy: Policy) -> Answer:
    """Decide, and again with each answer that was had, as long as the policy asks for one.

    What was still to be answered when its question was written down is not known here either.
    """
    asked: list[Topic] = []
    left = list(given)
    now = then.attempts[-1].finished_at
    while True:
        action = next_action(then, policy, now)
        if isinstance(action, WaitUntil) and not action.provider and said.kind != action.name:
            action = next_action(then, policy, action.until)  # its wait was over when that was written down
        if not isinstance(action, Ask) or action.name == said.kind:
            return _answer(action, tuple(asked))
        found = next((advice for advice in left if advice.topic is action.topic), None)
        if found is None:
            return _answer(action, tuple(asked))
        left.remove(found)
        asked.append(found.topic)
        waited = found.needs and said.kind != AwaitIssues.__name__  # what it needed was merged by then
        then = replace(then, advice=(*then.advice, replace(found, needs=()) if waited else found))


def _answer(action: Action, asked: tuple[Topic, ...]) -> Answer:
    if not isinstance(action, Run | WaitUntil):
        return Answer(action.name, action.reason, asked)
    return Answer(action.name, action.reason, asked, action.model, action.think)


def _recorded(last: PastAttempt, said: Recorded, given: tuple[Advice, ...], following: PastAttempt | None) -> Answer:
    asked = tuple(dict.fromkeys(advice.topic for advice in _before(last, said, given)))
    if said.kind not in _RUNNING or following is None:
        return Answer(said.kind, said.reason, asked)
    stood_in = said.reason.endswith(_STOOD_IN)
    model = said.reason.rpartition("; ")[2].removesuffix(_STOOD_IN) if stood_in else following.model
    return Answer(said.kind, said.reason, asked, model, following.think)


def _before(last: PastAttempt, said: Recorded, given: tuple[Advice, ...]) -> tuple[Advice, ...]:
    """Return the answers from before a decision: not that to the question which the decision itself is.

    A review that turned the work down came before the attempt counted as failed.
    """
    reviewed = last.outcome == PASSED
    answers = [advice for advice in given if reviewed or advice.topic is not Topic.REVIEW]
    own = [advice for advice in answers if ASK_NAMES.get(advice.topic, CALL_RESOLVER) == said.kind]
    return tuple(advice for advice in answers if advice not in own[-1:])
