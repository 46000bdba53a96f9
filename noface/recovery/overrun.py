"""Work under way that has passed a budget: what of it is ended, how that is remembered, and when it is too often.

Pure. What is ended for money is charged to nobody, so an attempt or a question that needs more than a run may spend
would be paid for again in every run, and never be judged (law 12).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from noface.model.actions import Block
from noface.model.attempt import PastAttempt
from noface.model.budget import Budget, Estimate, Spent
from noface.model.taxonomy import INTERRUPTED, FailureKind
from noface.recovery.policy_state import Attempts, trailing

ENDS_MAX = 2
"""So many attempts in a row, or runs of a question, may a run's budget end; one more would end like them."""

_MONEY = "max_cost_usd"


class EndedFor(StrEnum):
    """Whose budget ended work. WITH_RUN: other work had passed the run's before."""

    RUN = "ended-at-run-budget"
    WITH_RUN = "ended-with-run-budget"
    ISSUE = "ended-at-issue-budget"


@dataclass(frozen=True, slots=True)
class Passed:
    """A budget that is passed: whose it is ("run" or "issue"), the key that sets it, what was used, and of how much."""

    owner: str
    key: str
    used: str
    limit: str

    @property
    def reason(self) -> str:
        """Why a run stopped."""
        return f"stopped at the limit {self.key}: {self.used} of {self.limit}"


@dataclass(frozen=True, slots=True)
class Overrun:
    """Why work was ended. `own` is what it had used itself."""

    ended_for: EndedFor
    passed: Passed
    own: str

    @property
    def note(self) -> str:
        """Tell a person which limit ended the work, and of what amount."""
        passed = self.passed
        return f"ended at the {passed.owner}'s {passed.key} = {passed.limit}: {passed.used} used, {self.own} of it here"

    @property
    def mark(self) -> str:
        """What is kept with the work: `ended_at` and `limit_of` read it."""
        return f"{self.ended_for}: {self.passed.key} = {self.passed.limit}"


@dataclass(frozen=True, slots=True)
class Paid:
    """Work on an issue that can be ended: what it has used, and what it may use as far as anybody knows."""

    issue_id: str
    used: Spent
    may_use: Estimate

    @property
    def excess(self) -> Spent:
        """What it used beyond what was reserved for it."""
        usd, tokens = self.may_use.usd, self.may_use.tokens
        return Spent(
            max(0.0, self.used.usd - usd) if usd is not None else 0.0,
            max(0, self.used.tokens - tokens) if tokens is not None else 0,
        )


def passed_by(budget: Budget, spent: Spent) -> Passed | None:
    """Return which of a budget's limits is passed, None where none is."""
    if budget.usd is not None and spent.usd > budget.usd:
        return Passed(budget.owner, _MONEY, f"${spent.usd:.2f}", f"${budget.usd:.2f}")
    if budget.tokens is not None and spent.tokens > budget.tokens:
        return Passed(budget.owner, "max_tokens", f"{spent.tokens:,}", f"{budget.tokens:,}")
    return None


def overrun(ended_for: EndedFor, passed: Passed, used: Spent) -> Overrun:
    """Return why work that has used so much is ended."""
    return Overrun(ended_for, passed, f"${used.usd:.2f}" if passed.key == _MONEY else f"{used.tokens:,}")


def first_to_end(passed: Passed, paid: Sequence[Paid]) -> tuple[Paid, ...]:
    """Return whom to end first where a run's budget is passed: those over their own limit, else the dearest one."""
    beyond = tuple(each for each in paid if each.may_use.capped and each.excess.usd > 0)
    if beyond or not paid:
        return beyond
    return (max(paid, key=lambda each: each.used.usd if passed.key == _MONEY else each.used.tokens),)


def ended_at(mark: str) -> EndedFor | None:
    """Return whose budget ended work, from what was kept with it."""
    name = mark.partition(": ")[0]
    return next((each for each in EndedFor if each == name), None)


def limit_of(mark: str) -> str:
    """Return the limit that ended work, as its key and amount."""
    return mark.partition(": ")[2]


def too_dear(attempts: Attempts, issue: Budget) -> Block | None:
    """Block where the last attempt was ended at its issue's limit, which still holds, or the last ones at their run's.

    What was interrupted otherwise, or because of other work, is evidence of nothing.
    """
    last = attempts[-1] if attempts else None
    if last is None or last.outcome != INTERRUPTED:
        return None
    if ended_at(last.signature) is EndedFor.ISSUE:
        limit = limit_of(last.signature)
        reason = f"it was ended at the issue's {limit}"
        return (
            Block(FailureKind.RESOURCE_EXHAUSTED, reason, limit.partition(" = ")[0]) if limit in _told(issue) else None
        )
    cut = attempts[len(attempts) - trailing(attempts, lambda attempt: attempt.outcome == INTERRUPTED) :]
    times = sum(ended_at(attempt.signature) is EndedFor.RUN for attempt in cut)
    if times < ENDS_MAX or ended_at(last.signature) is not EndedFor.RUN:
        return None
    limit = limit_of(last.signature)
    cheaper = ", or give the model a max_cost_usd below it" if limit.startswith(_MONEY) else ", or divide the issue"
    return Block(
        FailureKind.RESOURCE_EXHAUSTED,
        f"ended {times} times in a row: its attempts need more than the run's {limit}; raise it{cheaper}",
    )


def _told(budget: Budget) -> tuple[str, ...]:
    """Return a budget's limits as marks tell them."""
    passed = (passed_by(Budget(budget.owner, budget.usd), Spent(float("inf"), 0)),
              passed_by(Budget(budget.owner, None, budget.tokens), Spent(0.0, 1 << 62)))  # fmt: skip
    return tuple(f"{each.key} = {each.limit}" for each in passed if each is not None)


def why_again(last: PastAttempt) -> str:
    """Say why an interrupted attempt is made again."""
    ended_for = ended_at(last.signature)
    if ended_for is None:
        return "noface was interrupted; nothing is charged"
    owner = "issue" if ended_for is EndedFor.ISSUE else "run"
    return f"ended at the {owner}'s {limit_of(last.signature)}; nothing is charged"
