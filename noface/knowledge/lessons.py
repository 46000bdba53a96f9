"""Lessons: how a failure was overcome, kept for the next one like it (S7).

Learnt when an issue passes after failures of its own; looked up before the next diagnosis and quoted in the next
prompt; counted by what became of the attempts that were told; dropped when it stops helping. What a worker wrote
or named is quoted as data, on one line and bounded.
"""

import re
from dataclasses import dataclass

from noface.diagnosis.text import normalise
from noface.knowledge.hint_mining import is_common
from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.patterns import file_of, language_of
from noface.model.quoting import one_line, some
from noface.model.taxonomy import PASSED, FailureKind

TERMS_MAX = 20
"""How many words of a failure are looked for."""

_TERM_CHARS_MIN, _TERM_CHARS_MAX = 3, 40
_TERMS_TEXT_MAX = 4000
_MESSAGE_MAX, _CAUSE_MAX, _SUMMARY_MAX = 300, 300, 200
_PATHS_MAX, _TAGS_MAX, _TAG_CHARS_MAX = 5, 12, 60
_TRIED_MIN, _HELPED_ONE_IN = 4, 4
_ALIKE_MIN = 0.3
_PLACEHOLDER = re.compile(r"<(?:time|id|addr|hash|tmp|duration|n)>")
_GATE = re.compile(r"^gate [\w.-]{1,64}: ")
"""What noface puts before a gate's message; a gate's name says nothing about a failure."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Lesson:
    """A recovery that worked. `strategy` names the action that led to it; `advice` is what the next prompt quotes.

    `hits` counts the attempts that were told and by which one could tell, `successes` those of them that passed;
    `learned` how often it was learnt anew, last from attempt `number` of issue `issue_id`. `confidence` is 0 to 1.
    `dropped`: it has stopped helping. `id` is 0 until it is stored.
    """

    signature: str
    kind: FailureKind
    rule: str
    message: str
    cause: str
    strategy: str
    advice: str
    tags: tuple[str, ...] = ()
    confidence: float = 0.5
    hits: int = 0
    successes: int = 0
    learned: int = 1
    issue_id: str = ""
    number: int = 0
    dropped: bool = False
    id: int = 0


def mine(
    issue: Issue,
    attempts: tuple[PastAttempt, ...],
    changed: tuple[str, ...] = (),
    summary: str = "",
    cause: str = "",
) -> Lesson | None:
    """Return what an issue's last attempt, which passed, teaches; None where it followed no failure of the worker's.

    `attempts` are oldest first; only those since the issue was last unblocked count, since before that a person
    helped. `changed` are the paths and `summary` the words of the passing attempt, by default what its record has;
    `cause` is what a diagnosis found, by default the line that decided.
    """
    if not attempts or attempts[-1].outcome != PASSED:
        return None
    passing = attempts[-1]
    failed = next((a for a in reversed(attempts[:-1]) if a.charged and a.failure and a.epoch == passing.epoch), None)
    failure = failed.failure if failed is not None else None
    if failed is None or failure is None or not failure.signature:
        return None
    changed = changed or passing.changed
    summary = summary or (passing.report.summary if passing.report is not None else "")
    return Lesson(
        signature=failure.signature,
        kind=failure.kind,
        rule=failure.rule,
        message=one_line(failure.message, _MESSAGE_MAX),
        cause=one_line(cause or _deciding_line(failure), _CAUSE_MAX),
        strategy=failed.answer,
        advice=_advice(issue, failure, failed.answer, passing.number, changed, summary),
        tags=_tags(issue, failure, changed),
        confidence=confidence(1, 0, 0),
        issue_id=issue.id,
        number=passing.number,
    )


def confidence(learned: int, hits: int, successes: int) -> float:
    """Return how much a lesson is worth: the share of times it worked, begun at a half."""
    return (learned + successes) / (learned + hits + 1)


def worth_keeping(hits: int, successes: int) -> bool:
    """Tell whether a lesson still helps: of four attempts or more that were told, at least every fourth passed."""
    return hits < _TRIED_MIN or successes * _HELPED_ONE_IN >= hits


def terms(text: str) -> tuple[str, ...]:
    """Return the telling words of a text, in order, without repeats; what differs from run to run is left out."""
    lines = (_GATE.sub("", line) for line in text[:_TERMS_TEXT_MAX].splitlines())
    plain = _PLACEHOLDER.sub(" ", " ".join(normalise(line) for line in lines))
    words = (word.lower()[:_TERM_CHARS_MAX] for word in _WORD.findall(plain))
    return tuple(dict.fromkeys(word for word in words if _tells(word)))[:TERMS_MAX]


def query_terms(failure: Failure) -> str:
    """Return an FTS5 MATCH expression for lessons like a failure: its words in quotes, joined by OR, 20 at most.

    Whatever the message holds, it is a valid expression; one that matches nothing where there are no words.
    """
    words = terms(f"{failure.message}\n{_deciding_line(failure)}")
    return " OR ".join(f'"{word}"' for word in words) or '""'


def alike(failure: Failure, lesson: Lesson) -> float:
    """Return which share of a failure's words a lesson has: one word in common is no likeness."""
    wanted = terms(f"{failure.message}\n{_deciding_line(failure)}")
    if not wanted:
        return 0.0
    has = set(terms(lesson.message)) | set(terms(lesson.cause)) | set(terms(lesson.advice))
    return sum(word in has for word in wanted) / len(wanted)


def fits(failure: Failure, lesson: Lesson) -> bool:
    """Tell whether a lesson that shares words with a failure is about something like it."""
    return alike(failure, lesson) >= _ALIKE_MIN


def _tells(word: str) -> bool:
    return len(word) >= _TERM_CHARS_MIN and not word.isdigit() and not is_common(word)


def _deciding_line(failure: Failure) -> str:
    """Return the line that decided: the last of the evidence that has text."""
    return next((line.strip() for line in reversed(failure.evidence) if line.strip()), "")[:_TERMS_TEXT_MAX]


def _advice(issue: Issue, failure: Failure, strategy: str, number: int, changed: tuple[str, ...], summary: str) -> str:
    how = f"by changing {some(changed, _PATHS_MAX)}" if changed else f"by attempt {number}"
    message = one_line(failure.message, _MESSAGE_MAX)
    led = f" (strategy: {strategy})" if strategy else ""
    said = one_line(summary, _SUMMARY_MAX)
    quoted = f' Its worker reported: "{said}"' if said else ""
    return f'In issue {issue.id} {failure.kind} "{message}" was fixed {how}{led}.{quoted}'


def _tags(issue: Issue, failure: Failure, changed: tuple[str, ...]) -> tuple[str, ...]:
    languages = sorted({language_of(path) for path in (file_of(failure.location), *changed)} - {""})
    found = (failure.kind.value, failure.category.value, failure.gate or "", *languages, *issue.labels)
    return tuple(dict.fromkeys(one_line(tag, _TAG_CHARS_MAX) for tag in found if tag))[:_TAGS_MAX]
