"""Best of several: which models make an attempt at once, and whose work is taken. Pure.

Judges that are no model choose: what passed, before what is doubted; else what came furthest. The others are kept and
charged to nobody, so that to every rule they are as if they had not been.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from noface.model.actions import Action, Mode, RunWorker
from noface.model.attempt import BESIDE, AttemptReport, Interrupted, Judged, NotStarted
from noface.model.budget import Estimate, Estimates, can_pay
from noface.model.history import History
from noface.model.taxonomy import INTERRUPTED
from noface.recovery.policy_state import unusable
from noface.recovery.retry_policy import Policy

_ALONE = (Mode.SAME, Mode.SWITCH)
"""What goes on with something that was begun, or stands in for it."""


def with_candidates(
    action: Action, history: History, policy: Policy, away: Mapping[str, float], now: float, estimates: Estimates | None
) -> Action:
    """Return the action with the models that work beside its own, others of its tier first, as far as money pays."""
    if not isinstance(action, RunWorker) or action.mode in _ALONE:
        return action
    many = history.issue.candidates or policy.candidates(history.issue, history.model, action.model, think=action.think)
    judged = tuple(attempt for attempt in history.current if attempt.outcome != INTERRUPTED)
    refused = unusable(judged, policy)
    stand_ins = () if history.issue.no_escalate else policy.stand_ins(action.model)
    free = [name for name in stand_ins if away.get(name, now) <= now and name not in refused]
    models = [action.model, *free]
    beside = tuple(models[place % len(models)] for place in range(1, many))
    paid = _paid(action, beside, history, policy, estimates)
    if not paid:
        return action
    all_of_them = (action.model, *paid)
    named = ", ".join(f"{n} {t} times" if (t := all_of_them.count(n)) > 1 else n for n in dict.fromkeys(all_of_them))
    return replace(action, beside=paid, reason=f"{action.reason}; {len(all_of_them)} candidates at once: {named}")


def _paid(
    action: RunWorker, beside: tuple[str, ...], history: History, policy: Policy, estimates: Estimates | None
) -> tuple[str, ...]:
    if estimates is None or not policy.budget.limited:
        return beside
    reserved: list[Estimate] = [estimates.of(action.model, think=action.think)]
    for place, model in enumerate(beside):
        estimate = estimates.of(model, think=action.think)
        if can_pay(policy.budget, history.spent, reserved, estimate) is not None:
            return beside[:place]
        reserved.append(estimate)
    return beside


def taken(reports: Sequence[AttemptReport]) -> tuple[AttemptReport, str]:
    """Return whose work is taken, and why: what passed with the fewest lines, else what came furthest by its gates."""
    best = min(reports, key=_rank)
    passed = sum(isinstance(report, Judged) and report.failure is None for report in reports)
    if not passed:
        return best, "none passed, it came furthest"
    return best, "the only one that passed" if passed == 1 else f"of {passed} that passed the smallest without doubts"


def _rank(report: AttemptReport) -> tuple[object, ...]:
    if not isinstance(report, Judged):
        return 3 if isinstance(report, Interrupted) else 2, False, 0, 0, 0, report.number
    failure, changes = report.failure, report.snapshot.changes
    lines = sum((change.added or 0) + (change.deleted or 0) for change in changes)
    if failure is None:
        return 0, bool(report.doubts), 0, lines, len(changes), report.number
    failing = len(failure.failing_tests)
    passed = sum(result.failure is None for result in report.gates)
    return 2 if failure.category.external else 1, not changes, -passed, failing, lines, report.number


def set_aside(report: AttemptReport, winner: int) -> AttemptReport:
    """Return the report of a candidate that another was taken before, as one that is evidence of nothing."""
    beside = f"{BESIDE} {winner}, whose work was taken"
    match report:
        case Judged(failure=failure) if failure is None or not failure.category.external:
            how = f"failed with {failure.kind}: {failure.message}" if failure is not None else "passed as well"
            note = f"{beside}; it {how}"
            whose, left = (report.token, report.issue_id, report.number), (report.agent, report.snapshot, report.gates)
            return Interrupted(*whose, *left, (*report.notes, note), report.patch_hash, report.worker)
        case Interrupted():
            return replace(report, notes=(*report.notes, beside))
        case NotStarted() | Judged():
            return report
