"""What people see of lessons: what was learnt from recoveries, and whether it helps."""

from typing import Any

from noface.core.lessons import Lesson
from noface.views.page import paint
from noface.views.text import count, hanging

Record = dict[str, Any]

_NO_FULL_TEXT = "This SQLite has no FTS5: lessons are found for the same failure only, not for similar ones."


def lessons_document(lessons: tuple[Lesson, ...], *, full_text: bool) -> Record:
    """Return the document of `noface hints list --lessons`; `full_text` tells whether similar failures are found."""
    return {
        "full_text": full_text,
        "lessons": [
            {
                "id": lesson.id,
                "signature": lesson.signature,
                "kind": lesson.kind.value,
                "rule": lesson.rule,
                "message": lesson.message,
                "cause": lesson.cause,
                "strategy": lesson.strategy,
                "advice": lesson.advice,
                "tags": list(lesson.tags),
                "confidence": round(lesson.confidence, 3),
                "hits": lesson.hits,
                "successes": lesson.successes,
                "learned": lesson.learned,
                "issue": lesson.issue_id,
                "attempt": lesson.number,
                "dropped": lesson.dropped,
            }
            for lesson in lessons
        ],
    }


def lessons_page(document: Record, width: int) -> list[str]:
    """Return the lines of the lessons, newest first."""
    lessons = document["lessons"]
    if not lessons:
        lines = hanging("No lesson yet: one is learnt when an issue passes after failures.", width)
    else:
        lines = [paint(f"{count(len(lessons), 'lesson')}, newest first", "title")]
    for lesson in lessons:
        lines += ["", *hanging(lesson["advice"], width, f"{lesson['id']}  ")]
        lines += [paint(line, "quiet") for line in hanging(_worth(lesson), width, "   ")]
    if not document["full_text"]:
        lines += ["", *(paint(line, "careful") for line in hanging(_NO_FULL_TEXT, width))]
    return lines


def _worth(lesson: Record) -> str:
    facts = [f"confidence {lesson['confidence']:.0%}", f"learnt {count(lesson['learned'], 'time')}"]
    if lesson["hits"]:
        facts.append(f"helped {lesson['successes']} of {count(lesson['hits'], 'attempt')}")
    if lesson["dropped"]:
        facts.append("dropped: it no longer helps")
    return "; ".join(facts)
