"""What the policy does about each kind of failure, attempt by attempt: simulated, so that no table can drift from it.

A simulated issue fails in one way at every attempt, whatever is asked is answered usefully, and the parts of a
breakdown fail as well, until the policy gives up. Failures differ in what they say and in the diff they left, except if
they cannot: a worker that changes nothing leaves the same as before, and one timeout is like another.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from noface.model.actions import Action, Ask, RunWorker, Terminal, WaitUntil, model_of, thinks
from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.history import Advice, AdviceOutcome, History, Topic
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind
from noface.recovery.policy import next_action
from noface.recovery.retry_policy import Policy, rejection

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
        if self.kind.category.external or self.kind is FailureKind.MERGE_CONFLICT:
            return False
        if self.kind is FailureKind.REVIEW_REJECTED:
            return self.reviewer is None
        return self.kind not in (FailureKind.OUTPUT_FORMAT, FailureKind.AGENT_BLOCKED) or before > 0

    def failure(self, number: int) -> Failure:
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
_ORDINARY = (FailureKind.TEST_FAILURE, FailureKind.RUNTIME_ERROR, FailureKind.SYNTAX_ERROR, FailureKind.LINT_FAILURE)
"""The kinds that may stand for the others where it matters only that failures repeat."""


@dataclass(frozen=True, slots=True)
class SimulatedStep:
    """One decision, which follows `after` attempts; with `more` the same goes on with growing waits."""

    after: int
    action: Action
    tier: int | None = None
    wait_s: float = 0.0
    charged: bool = True
    more: bool = False

    @property
    def shape(self) -> tuple[object, ...]:
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
    """Kinds of failure that are answered alike; `repeats` is None if they fail as is usual for them."""

    kinds: tuple[FailureKind, ...]
    steps: tuple[SimulatedStep, ...]
    repeats: Repeats | None = None


def terminal(action: Action) -> bool:
    """True if noface stops here, until a person or another issue has done something."""
    return isinstance(action, Terminal)


def course(policy: Policy, kind: FailureKind, repeats: Repeats | None = None) -> SimulatedIssue:
    """Simulate an issue of which every attempt fails with `kind`, to the bitter end."""
    usually = repeats or USUALLY.get(kind, Repeats.NOTHING)
    failing = _ordinary(policy) if kind is FailureKind.NO_PROGRESS else kind
    trouble = Trouble(failing, usually, policy.roles.reviewer)
    tiers = dict(policy.tiers)
    history = History(Issue("ID", "any issue"))
    now, away, steps = 0.0, dict[str, float](), list[SimulatedStep]()
    while len(steps) < _STEPS_MAX and len(history.attempts) < ATTEMPTS_MAX:
        action = next_action(history, policy, now, jitter=1.0, away=away)
        *rest, last = history.attempts or (None,)
        if last is not None:  # written down on the last attempt, as the loop does
            history = replace(history, attempts=(*rest, replace(last, answer=action.name)))
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


def table(policy: Policy) -> tuple[Row, ...]:
    """Return what follows on every kind, and last on one that comes again with other diffs, if that is another."""
    rows: dict[tuple[object, ...], Row] = {}
    for kind in FailureKind:
        steps = course(policy, kind).steps
        before = rows.get(_shape(steps), Row((), steps))
        rows[_shape(steps)] = replace(before, kinds=(*before.kinds, kind))
    ordinary = _ordinary(policy)
    usual, again = (course(policy, ordinary, repeats=repeats).steps for repeats in (None, Repeats.FAILURE))
    return (*rows.values(), *([Row((ordinary,), again, Repeats.FAILURE)] if _shape(again) != _shape(usual) else []))


def _shape(steps: tuple[SimulatedStep, ...]) -> tuple[object, ...]:
    return tuple(step.shape for step in steps)


def _ordinary(policy: Policy) -> FailureKind:
    own = dict(policy.strategies)
    return next((kind for kind in _ORDINARY if kind not in own), _ORDINARY[0])
