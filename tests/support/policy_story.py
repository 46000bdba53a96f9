"""Stories for the retry policy: what happened to an issue, event by event, and what the policy makes of it."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import count

from noface.integrity.tampering import CONTRADICTED
from noface.model.actions import Action
from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.history import Advice, Decided, History, Topic, Verdict
from noface.model.issue import Issue
from noface.model.taxonomy import INTERRUPTED, PASSED, Category, FailureKind
from noface.model.worker_run import BlockedReason, ReportStatus, WorkerReport
from noface.recovery.policy import next_action
from noface.recovery.retry_policy import Policy, RoleModels, Rung

NOW = 1_000_000.0
TIERS = (("small", 1), ("twin", 1), ("big", 2), ("bigtwin", 2), ("huge", 3))
TIER_OF = dict(TIERS)
LADDER = (Rung("small", 1, 2), Rung("big", 2, 5))
ALONE = (Rung("small", 1, 5),)
POLICY = Policy(LADDER, TIERS)
ROLES = RoleModels(planner="planner", diagnoser="doctor", resolver="judge", architect="architect")
ISSUE = Issue("7", "Seven")
K = FailureKind
NEVER_CHARGED = (Category.TRANSIENT, Category.ENVIRONMENT)
_SERIAL = count(1)

Event = PastAttempt | Advice | Verdict


def policy(**changes: object) -> Policy:
    return replace(POLICY, **changes)


def rungs(*steps: tuple, **more: object) -> Policy:
    """A policy whose ladder has these steps: a model, how often, and perhaps "think" or the kinds it answers."""
    made = []
    for model, times, *rest in steps:
        answers = tuple(word for word in rest if word != "think")
        made.append(Rung(model, TIER_OF[model], times, "think" in rest, answers))
    return policy(ladder=tuple(made), **{"attempts_max": 9, **more})


def failed(
    kind: FailureKind,
    model: str = "small",
    *,
    said: str | None = None,
    diff: str | None = None,
    message: str | None = None,
    charged: bool | None = None,
    retry_at: float | None = None,
    **more: object,
) -> PastAttempt:
    """A failed attempt. Its signature and its diff are its own, unless `said` and `diff` name them.

    `more` are further fields of the attempt.
    """
    serial = next(_SERIAL)
    said = f"s{serial}" if said is None else said
    diff = f"d{serial}" if diff is None else diff
    charged = kind.category not in NEVER_CHARGED if charged is None else charged
    message = f"{kind} {said}" if message is None else message
    failure = Failure(kind, message, rule="r", signature=said, retry_at=retry_at, charged=charged)
    attempt = PastAttempt(0, model, TIER_OF[model], kind.value, charged)
    return replace(attempt, signature=said, patch_hash=diff, failure=failure, **more)


def fails(times: int, model: str = "small", kind: FailureKind = K.TEST_FAILURE, **more: object) -> list[PastAttempt]:
    """Failed attempts of one kind, each with a signature and a diff of its own."""
    return [failed(kind, model, **more) for _ in range(times)]


def same(times: int, model: str = "small", **more: object) -> list[PastAttempt]:
    return [failed(K.TEST_FAILURE, model, said="a", diff="x", **more) for _ in range(times)]


def passed(model: str = "small", **more: object) -> PastAttempt:
    return replace(PastAttempt(0, model, TIER_OF[model], PASSED, charged=True), **more)


def interrupted(model: str = "small", **more: object) -> PastAttempt:
    return replace(PastAttempt(0, model, TIER_OF[model], INTERRUPTED, charged=False), **more)


def conflict(model: str = "small", **more: object) -> PastAttempt:
    """An attempt that main moved away under: charged to nobody."""
    return failed(K.MERGE_CONFLICT, model, charged=False, **more)


def contradicted(**more: object) -> PastAttempt:
    """An attempt that keeps main's tests and makes them ask for something else."""
    failure = Failure(K.GATE_TAMPERING, "main's tests fail", rule=CONTRADICTED, failing_tests=("t.py::test_x",))
    return replace(failed(K.GATE_TAMPERING, **{"candidate": "c0ffee"} | more), failure=failure)


def blocked_by(reason: BlockedReason, *needs: str) -> WorkerReport:
    return WorkerReport(ReportStatus.BLOCKED, blocked_reason=reason, needs=needs)


def depends(*needs: str, **more: object) -> PastAttempt:
    report = blocked_by(BlockedReason.DEPENDENCY_ISSUE, *needs)
    return failed(K.AGENT_CONFUSION, charged=False, report=report, **more)


def said(topic: Topic, **more: object) -> Advice:
    return Advice(topic, 0, **more)


def history_of(*events: Event, issue: Issue = ISSUE, epoch: int = 0, **more: object) -> History:
    """The history in which `events` happened in this order: attempts, answers about them, a person's verdicts."""
    attempts: list[PastAttempt] = []
    advice: list[Advice] = []
    approvals: list[Decided] = []
    for event in events:
        match event:
            case PastAttempt():
                attempts.append(replace(event, number=len(attempts) + 1))
            case Advice():
                advice.append(replace(event, after=len(attempts)))
            case Verdict():
                approvals.append(Decided(len(attempts), event))
    return History(issue, tuple(attempts), epoch, tuple(advice), tuple(approvals), **more)


def decide(
    *events: Event,
    policy: Policy = POLICY,
    now: float = NOW,
    jitter: float = 0.5,
    away: Mapping[str, float] | None = None,
    **more: object,
) -> Action:
    """What the policy wants after `events`; `more` goes into the history."""
    return next_action(history_of(*events, **more), policy, now, jitter, away or {})


def typed(action: Action) -> Action:
    """The action without its words, for stories that are about what is done; test_policy_actions.py holds the words."""
    return replace(action, reason="")
