"""Learns from recoveries that worked, and tells later attempts of them (S7)."""

from noface.core.attempt import AttemptOrder, AttemptReport, PastAttempt
from noface.core.history import Advice, AdviceOutcome, History, Topic
from noface.core.issue import Issue
from noface.core.lessons import Lesson, mine
from noface.core.taxonomy import PASSED
from noface.loop.context import RunContext

_MOST = 3


def lessons_for(context: RunContext, told: History, number: int) -> tuple[str, ...]:
    """Return what worked before for a failure like the last one, for the prompt of attempt `number`.

    What is told is counted by what becomes of that attempt.
    """
    lessons = look_up(context, told)
    if lessons:
        context.lessons.shown([lesson.id for lesson in lessons], "", told.issue.id, number)
    return tuple(_line(lesson) for lesson in lessons)


def look_up(context: RunContext, told: History) -> tuple[Lesson, ...]:
    """Return the lessons for an issue's last failure, none where learning is off."""
    last = _last_failed(told.current)
    if not context.settings.learn or last is None or last.failure is None:
        return ()
    return tuple(lesson for lesson in context.lessons.look_up(last.failure, _MOST) if lesson.issue_id != told.issue.id)


def count_lessons(context: RunContext, order: AttemptOrder, report: AttemptReport) -> None:
    """Count the lessons that an attempt was told by what became of it."""
    if not context.settings.learn or report.interrupted:
        return
    past, now = context.reader.past(order.issue.id), context.clock.now()
    before = _last_failed(tuple(attempt for attempt in past if attempt.number < order.number))
    signature = report.failure.signature if report.failure is not None else ""
    same = before is not None and bool(signature) and before.signature == signature
    dropped = context.lessons.judged(
        order.issue.id, order.number, passed=report.outcome == PASSED, same_failure=same, at=now
    )
    for number in dropped:
        context.journal.event(now, "lesson_dropped", order.issue.id, lesson=number)


def keep_lesson(context: RunContext, issue: Issue) -> None:
    """Keep what helped an issue that has landed after failures."""
    if not context.settings.learn:
        return
    lesson = mine(issue, context.reader.past(issue.id), cause=_cause(context.questions.advice(issue.id)))
    if lesson is not None:
        now = context.clock.now()
        context.lessons.learn(lesson, now)
        context.journal.event(now, "lesson_learnt", issue.id, number=lesson.number, advice=lesson.advice)


def _cause(advice: tuple[Advice, ...]) -> str:
    found = [a.cause for a in advice if a.topic is Topic.DIAGNOSIS and a.outcome is AdviceOutcome.ADVISED]
    return found[-1] if found else ""


def _last_failed(attempts: tuple[PastAttempt, ...]) -> PastAttempt | None:
    return next((a for a in reversed(attempts) if a.charged and a.failure is not None), None)


def _line(lesson: Lesson) -> str:
    counted = f" (told {lesson.hits} times since, helped {lesson.successes})" if lesson.hits else ""
    return f"{lesson.advice}{counted}"
