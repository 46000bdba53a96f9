"""What `noface policy` tells, as records: the policy in force, and the simulated paths.

Scripts read them: add keys, never rename.
"""

from dataclasses import dataclass, field
from typing import Any

from noface.core.actions import kind_of
from noface.core.breaker import BreakerRules
from noface.core.budget import Budget
from noface.core.codec import encode
from noface.core.history import History
from noface.core.ladder import Rung
from noface.core.policy_table import ANY_ISSUE, Course, Row, Step, course, table
from noface.core.retry_policy import Policy
from noface.core.simulated_failure import model_of
from noface.core.taxonomy import FailureKind
from noface.core.waiting import backoff

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Told:
    """What the page is about: the policy of the file `name`, for one issue or for any.

    `history` holds the issue and what a person said when they unblocked it; its attempts are not looked at.
    `run` is what a run may spend, `attempt_usd` what an attempt of a model may, for the models that have a limit.
    """

    name: str
    policy: Policy
    breaker: BreakerRules
    history: History = field(default_factory=lambda: History(ANY_ISSUE))
    run: Budget = field(default_factory=lambda: Budget("run"))
    attempt_usd: tuple[tuple[str, float], ...] = ()

    @property
    def any_issue(self) -> bool:
        """True where it is about no issue in particular."""
        return self.history.issue is ANY_ISSUE

    @property
    def ladder(self) -> tuple[Rung, ...]:
        """The rungs for the issue."""
        return self.policy.ladder_for(self.history.issue, self.history.model)

    @property
    def cap(self) -> int:
        """How many charged attempts it may have."""
        return self.policy.cap(self.history.issue, self.history.attempts_max)

    def rows(self) -> tuple[Row, ...]:
        """Return what follows on every kind of failure."""
        history = self.history
        return table(self.policy, history.issue, model=history.model, attempts_max=history.attempts_max)

    def course(self, kind: FailureKind) -> Course:
        """Return what follows on one kind of failure."""
        history = self.history
        return course(self.policy, kind, history.issue, model=history.model, attempts_max=history.attempts_max)

    def waits(self, most: int) -> tuple[float, ...]:
        """Return the longest waits, in seconds, before the first `most` retries of a provider that is away."""
        base, longest = self.policy.backoff_base_s, self.policy.backoff_max_s
        return tuple(backoff(base, longest, number, 1.0) for number in range(1, most + 1))


_WAITS_MAX = 100


def policy_document(told: Told) -> Record:
    """Return the document of `noface policy --json`. Durations are seconds, money dollars."""
    policy = told.policy
    return {
        "file": told.name,
        "issue": None if told.any_issue else issue_record(told),
        "ladder": [rung_record(rung) for rung in told.ladder],
        "max_total_attempts": told.cap,
        "block_after": policy.block_after,
        "max_cost_usd": policy.issue_cost_usd_max,
        "max_tokens": policy.issue_tokens_max,
        "run": {"max_cost_usd": told.run.usd, "max_tokens": told.run.tokens},
        "attempt": {model: {"max_cost_usd": usd} for model, usd in told.attempt_usd},
        "transient": {
            "retries": policy.transient_retries,
            "waits_s": list(told.waits(min(policy.transient_retries, _WAITS_MAX))),
        },
        "breaker": {"after": told.breaker.after, "wait_s": told.breaker.wait_s},
        "roles": encode(policy.roles),
        "reflect": policy.reflect,
        "diagnose_after": policy.diagnose_after,
        "max_strategies": policy.strategies_max,
        "breakdown": encode(policy.breakdown),
        "review": encode(policy.review),
        "approval": {"paths": list(policy.approval_paths), "labels": list(policy.approval_labels)},
        "strategies": [
            {"kind": kind.value, "strategy": strategy.value, "default": kind.info.strategy.value}
            for kind, strategy in policy.strategies
        ],
        "policy": [
            {
                "kinds": [kind.value for kind in row.kinds],
                "same_each_time": row.repeats is not None,
                "steps": [step_record(step) for step in row.steps],
            }
            for row in told.rows()
        ],
    }


def issue_record(told: Told) -> Record:
    """Return what an issue, and the person who unblocked it, say about its attempts."""
    history = told.history
    issue = history.issue
    return {
        "id": issue.id,
        "title": issue.title,
        "model": history.model or issue.model,
        "max_attempts": history.attempts_max or issue.max_attempts,
        "tier": issue.tier,
        "no_escalate": issue.no_escalate,
        "labels": list(issue.labels),
    }


def rung_record(rung: Rung) -> Record:
    """Return a rung of the ladder."""
    return encode(rung)  # type: ignore[no-any-return] # a record becomes a dict


def step_record(step: Step) -> Record:
    """Return a step of a path: `after` failed attempts, this is done."""
    action = step.action
    topic = getattr(action, "topic", None)
    return {
        "after": step.after,
        "action": kind_of(action),
        "model": model_of(action) or None,
        "tier": step.tier,
        "think": bool(getattr(action, "think", False)),
        "topic": topic.value if topic is not None else None,
        "wait_s": step.wait_s,
        "charged": step.charged,
        "reason": action.reason,
    }
