"""Lessons in a run (S7): which ones a prompt quotes, what their readers made of them, and what a landing teaches."""

from dataclasses import replace

from noface.engine.context import RunContext
from noface.engine.prompt_context import patch_of
from noface.knowledge.fixes import fix_of, parts_of
from noface.knowledge.lessons import Lesson, cure_of, failed_before, lesson_of
from noface.model.attempt import AttemptOrder, AttemptReport, Interrupted, PastAttempt
from noface.model.history import Advice, AdviceOutcome, History, Topic
from noface.model.issue import Issue
from noface.model.taxonomy import PASSED

_MOST = 3


def lessons_for(context: RunContext, history: History, number: int) -> tuple[str, ...]:
    lessons = look_up(context, history)
    if lessons:
        context.lessons.quote([lesson.id for lesson in lessons], "", history.issue.id, number)
    return tuple(lesson.advice for lesson in lessons)


def look_up(context: RunContext, history: History) -> tuple[Lesson, ...]:
    last = _last_failed(history.current)
    if not context.settings.config.recovery.learn or last is None or last.failure is None:
        return ()
    lessons = context.lessons.look_up(last.failure, parts_of(last.failure, last.changed), _MOST + 1)
    return tuple(lesson for lesson in lessons if lesson.issue_id != history.issue.id)[:_MOST]


def count_lessons(context: RunContext, order: AttemptOrder, report: AttemptReport) -> None:
    """Count the lessons of an attempt's prompt by its outcome."""
    if not context.settings.config.recovery.learn or isinstance(report, Interrupted):
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
    if not context.settings.config.recovery.learn:
        return
    past, advice = context.reader.past(issue.id), context.questions.advice(issue.id)
    failed = failed_before(past)
    mined = None
    if failed is not None:
        fix = fix_of(patch_of(context, issue, failed.number), patch_of(context, issue, past[-1].number))
        causes = [a.cause for a in advice if a.topic is Topic.DIAGNOSIS and a.outcome is AdviceOutcome.ADVISED]
        mined = lesson_of(issue, past, fix, cause=causes[-1] if causes else "")
    for lesson in (mined, cure_of(issue, past, advice)):
        if lesson is not None:
            now = context.clock.now()
            context.lessons.learn(lesson, now)
            first = lesson.advice.partition("\n")[0]
            context.journal.event(now, "lesson_learnt", issue.id, number=lesson.number, advice=first)


def remembered(context: RunContext, history: History) -> Advice | None:
    """Return the diagnosis that cured the last failure before, in whatever issue, if it has not been given here yet."""
    last = history.current[-1]
    if not context.settings.config.recovery.learn or last.failure is None:
        return None
    for lesson in context.lessons.cures(last.failure):
        cause, strategy, text = lesson.cause, lesson.strategy, lesson.advice
        advice = Advice(Topic.DIAGNOSIS, last.number, cause=cause, recoverable="yes", strategy=strategy, text=text)
        if not any(advice.repeats(given) for given in history.asked if given.topic is Topic.DIAGNOSIS):
            context.lessons.quote([lesson.id], "", history.issue.id, last.number + 1)
            return replace(advice, epoch=history.epoch)
    return None


def _last_failed(attempts: tuple[PastAttempt, ...]) -> PastAttempt | None:
    return next((a for a in reversed(attempts) if a.charged and a.failure is not None), None)
