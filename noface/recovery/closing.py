"""What becomes of an issue all of whose parts have landed: is that all it asks for? Pure.

A part is what noface, or a planner, saw of the issue. So a parent closes only after a look: its own `accept`, else a
model with a role once, and without one a person.
"""

from collections.abc import Mapping

from noface.model.actions import Action, Ask, Land, RequestApproval, WaitUntil
from noface.model.attempt import PastAttempt
from noface.model.history import MISSING, NOTHING_MISSING, Advice, AdviceOutcome, History, Topic
from noface.model.quoting import quoted
from noface.model.worker_run import ReportStatus
from noface.recovery.partly_done import rest_reported
from noface.recovery.retry_policy import RoleModels

FURTHER_MAX = 2
"""So often a model's look makes a further part of what is missing; then a person is asked."""
_ASKED_MAX = 3


def _looks(history: History) -> list[Advice] | None:
    """Return the answers on what is missing since all parts landed; None if they have not, or more was tried since."""
    asked = history.asked
    at = max((at for at, advice in enumerate(asked) if advice.topic is Topic.BREAKDOWN), default=-1)
    last = history.current[-1].number if history.current else 0
    if at < 0 or (asked[at].outcome, asked[at].after) != (AdviceOutcome.PARTS_LANDED, last):
        return None
    return [advice for advice in asked[at + 1 :] if advice.topic is Topic.MISSING]


def missing(history: History) -> str:
    looks = _looks(history)
    return looks[-1].text or looks[-1].cause if looks and looks[-1].strategy == MISSING else ""


def closed_or_looked_at(history: History, roles: RoleModels, away: Mapping[str, float], now: float) -> Action | None:
    """Decide on an issue all of whose parts have landed; None for any other."""
    looks = _looks(history)
    if looks is None:
        return None
    look = looks[-1] if looks and looks[-1].outcome is AdviceOutcome.ADVISED else None
    who = look.model or "a person" if look is not None else ""
    if look is not None and look.strategy == NOTHING_MISSING:
        return Land(f"all its parts have landed, and {who} finds nothing missing", parts=True)
    if look is not None:
        times = sum(each.strategy == MISSING and bool(each.model) for each in history.asked)
        if times <= FURTHER_MAX or not look.model:
            return Ask(Topic.BREAKDOWN, "", f"{who} finds something missing: a further part")
        return _ask_person(f"{who} has found something missing {times} times, now {quoted(look.text)}")
    judge = roles.reviewer or roles.planner or roles.diagnoser
    if judge is None:
        return _ask_person("all its parts have landed")
    if looks and (looks[-1].outcome is AdviceOutcome.UNUSABLE or len(looks) >= _ASKED_MAX):
        return _ask_person(f"all its parts have landed; {judge} could not say what is missing: {looks[-1].cause}")
    if away.get(judge, now) > now:
        return WaitUntil(judge, away[judge], f"waits for {judge}, to be asked what is missing", provider=False)
    return Ask(Topic.MISSING, judge, "all its parts have landed: is anything missing that it names?")


def _ask_person(why: str) -> RequestApproval:
    return RequestApproval(None, f"{why}; is anything missing that it names?", parts=True)


def left_by(tried: tuple[PastAttempt, ...]) -> tuple[str, ...]:
    """Return what workers call left of an issue; () if the last one calls it done, or none says so."""
    last = tried[-1].report
    if last is not None and last.status is ReportStatus.DONE:
        return ()
    return next((words for attempt in reversed(tried) if (words := rest_reported(attempt.report))), ())
