"""The retry policy in force, as a value: what `[retry]`, `[recovery]`, `[approval]` and `[review]` come to.

The ladder (N11, L5, L14) is a row of rungs, each a model with a number of charged attempts, climbed, never descended.
"""

import hashlib
from dataclasses import dataclass, field, replace
from enum import StrEnum

from noface.integrity.tampering import is_test_file
from noface.model.attempt import PastAttempt
from noface.model.budget import Budget
from noface.model.failure import REVIEWER, Failure
from noface.model.history import Advice
from noface.model.issue import Issue
from noface.model.patterns import matches_any
from noface.model.quoting import short
from noface.model.taxonomy import FailureKind, Strategy

REJECTED_BY_REVIEWER = "reviewer"
"""The rule of failures that a reviewer's verdict made."""

REJECTED_BY_PERSON = "person-rejected"
"""The rule of failures that `noface reject` made."""

MAY_BE_HALF = "may-be-half"
"""The rule of work that passed, and may be half of its issue: the next worker is asked, and nobody else."""

TEXT_EDITED = "text-edited"
"""The rule of work that passed, while a person changed what its issue asks for."""


class When(StrEnum):
    """`[review] when`."""

    ALWAYS = "always"
    RISKY = "risky"
    NEVER = "never"


class ChangedTests(StrEnum):
    """`[review] changed_tests`: who says whether a change may contradict main's tests, all of which it keeps."""

    ASK_MODEL = "ask-model"
    ASK_PERSON = "ask-person"
    LAND = "land"


RISKY_FILES, RISKY_LINES = 10, 300
_SAID_MAX = 200
"""A change of more files or lines than one reads at a sitting, or a worker less sure than this, is a risk."""


@dataclass(frozen=True, slots=True)
class ReviewRules:
    """`[review]`; `judge` is the model that is asked about changed tests, None if a person is."""

    when: When = When.RISKY
    paths: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    changed_tests: ChangedTests = ChangedTests.ASK_MODEL
    judge: str | None = None


def review_due(rules: ReviewRules, issue: Issue, attempt: PastAttempt) -> str:
    """Return why an attempt that passed is to be reviewed, "" if it need not be."""
    if attempt.doubts:
        return attempt.doubts[0]
    if rules.when is When.NEVER:
        return ""
    if rules.when is When.ALWAYS:
        return "every change is reviewed"
    return _risk(rules, issue, attempt)


def _risk(rules: ReviewRules, issue: Issue, attempt: PastAttempt) -> str:
    label = next((label for label in issue.labels if label in rules.labels), None)
    if label is not None:
        return f'it has the label "{label}"'
    path = next((path for path in attempt.changed if matches_any(path, rules.paths)), None)
    if path is not None:
        return f"it changes {path}"
    if len(attempt.changed) > RISKY_FILES:
        return f"it changes {len(attempt.changed)} files"
    if attempt.lines > RISKY_LINES:
        return f"it changes {attempt.lines} lines"
    if attempt.report is not None and attempt.report.unverified:
        return f"its worker did not verify {short(attempt.report.unverified[0], _SAID_MAX)}"
    if not issue.accept and attempt.changed and not any(is_test_file(path) for path in attempt.changed):
        return "it comes without a test"
    return ""


def rejection(advice: Advice) -> Failure:
    """Return the failure that a reviewer's request for changes is. Not charged: rounds have a cap of their own."""
    points = " ".join(advice.cause.split())
    digest = hashlib.sha256(" ".join(advice.text.split()).encode("utf-8", "replace")).hexdigest()[:12]
    return Failure(
        FailureKind.REVIEW_REJECTED,
        f"the reviewer ({advice.model}) asks for changes: {points}",
        rule=REJECTED_BY_REVIEWER,
        signature=f"review:{digest}",
        evidence=(points,),
        excerpt=advice.text,
        charged=False,
        points=advice.points,
        by=REVIEWER,
    )


@dataclass(frozen=True, slots=True)
class Rung:
    """`model` for `times` charged attempts by so many `candidates`; `answers` are the kinds it is for, () for all."""

    model: str
    tier: int
    times: int
    think: bool = False
    answers: tuple[FailureKind, ...] = ()
    candidates: int = 1

    def suits(self, kind: FailureKind | None) -> bool:
        return not self.answers or kind is None or kind in self.answers


@dataclass(frozen=True, slots=True)
class RoleModels:
    """The models that are asked rather than put to work; None if nobody is named."""

    planner: str | None = None
    diagnoser: str | None = None
    resolver: str | None = None
    architect: str | None = None
    reviewer: str | None = None


BREAKDOWN_AFTER_TIMEOUTS, BREAKDOWN_AFTER_ATTEMPTS = 2, 3
"""So many timeouts in a row, or charged attempts whose work is too big for one, and an issue is divided (N8)."""
TOO_MANY_FILES, TOO_MANY_LINES = 20, 1000
"""A larger diff counts as too big."""
CHILDREN_MAX, DEPTH_MAX = 8, 2
"""So many parts has an issue, and so deep are parts divided again (P9)."""
DIAGNOSE_AFTER = 2
"""So often in a row the same failure comes, then it is diagnosed (S1)."""
ROUNDS_MAX = 5
"""So many rejections by a reviewer, then a person is asked. They do not count as attempts (docs/decisions.md)."""
BACKOFF_MAX_S = 900.0
"""The longest pause between two tries of a provider that says nothing of when it is back: some come back in minutes."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Durations in seconds, money in dollars. `tiers` knows every model, `alternatives` those that may stand in.

    `logins` names each model's login: what refuses one model refuses all with the same. `unreachable` are the models
    whose sandbox keeps from them what they need, `refused` those for which a person is asked already.
    `transient_retries` None: no issue is blocked for a provider, the run waits for `outage_max_s`. So many
    So many different strategies as `strategies_max`, the ladder's among them, may fail; then a person is asked (K10).
    """

    ladder: tuple[Rung, ...]
    tiers: tuple[tuple[str, int], ...]
    attempts_max: int = 5
    block_after: int | None = None
    issue_cost_usd_max: float | None = None
    issue_tokens_max: int | None = None
    transient_retries: int | None = None
    outage_max_s: float = 12 * 3600.0
    backoff_base_s: float = 30.0
    alternatives: tuple[str, ...] = ()
    strategies: tuple[tuple[FailureKind, Strategy], ...] = ()
    roles: RoleModels = field(default_factory=RoleModels)
    reflect: bool = False
    strategies_max: int = 3
    allow_skip: bool = False
    breakdown: bool = True
    approval_paths: tuple[str, ...] = ()
    approval_labels: tuple[str, ...] = ()
    review: ReviewRules = field(default_factory=ReviewRules)
    logins: tuple[tuple[str, str], ...] = ()
    unreachable: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()

    @property
    def models(self) -> tuple[str, ...]:
        roles = self.roles
        asked = (roles.planner, roles.diagnoser, roles.resolver, roles.architect, roles.reviewer)
        return tuple(dict.fromkeys([*(rung.model for rung in self.ladder), *(name for name in asked if name)]))

    @property
    def budget(self) -> Budget:
        return Budget("issue", self.issue_cost_usd_max, self.issue_tokens_max)

    def cap(self, issue: Issue, granted: int | None = None) -> int:
        """Return how many charged attempts the issue may have; `granted` is what a person said at unblocking."""
        return granted or issue.max_attempts or self.attempts_max

    def ladder_for(self, issue: Issue, model: str | None = None) -> tuple[Rung, ...]:
        """Return the rungs for an issue. `model` is what a person named at unblocking, before the issue's own `model`.

        It comes first, and the ladder from there, or its stronger rungs, follow. `tier` leaves out what is below.
        """
        rungs = self.ladder
        if issue.tier is not None:
            rungs = tuple(rung for rung in self.ladder if rung.tier >= issue.tier) or self.ladder[-1:]
        wanted = model or issue.model
        if wanted is not None and wanted != rungs[0].model:
            names = [rung.model for rung in rungs]
            tier = dict(self.tiers).get(wanted, rungs[0].tier)
            first = replace(rungs[0], model=wanted, tier=tier, think=False, answers=())
            known = wanted in names
            rungs = rungs[names.index(wanted) :] if known else (first, *(rung for rung in rungs if rung.tier > tier))
        if issue.no_escalate:
            return tuple(rung for rung in rungs if rung.model == rungs[0].model)
        climbing = list(rungs[:1])
        for rung in rungs[1:]:
            if rung.tier >= climbing[-1].tier:
                climbing.append(rung)
        return tuple(climbing)

    def candidates(self, issue: Issue, wanted: str | None, model: str, *, think: bool) -> int:
        """Return by how many workers at once an attempt is made; `wanted` is the model a person named at unblocking."""
        rungs = [rung for rung in self.ladder_for(issue, wanted) if rung.model == model]
        exact = [rung for rung in rungs if rung.think == think]
        return max((rung.candidates for rung in exact or rungs), default=1)

    def same_login(self, model: str) -> frozenset[str]:
        own = dict(self.logins).get(model)
        return frozenset(other for other, login in self.logins if own is not None and login == own and other != model)

    def strategy(self, kind: FailureKind) -> Strategy:
        return dict(self.strategies).get(kind, kind.info.strategy)

    def stand_ins(self, model: str) -> tuple[str, ...]:
        """Return the other models of the same tier that may work while `model` waits for its provider."""
        tiers = dict(self.tiers)
        return tuple(other for other in self.alternatives if other != model and tiers.get(other) == tiers.get(model))
