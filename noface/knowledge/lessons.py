"""Lessons: what mended a failure, kept for the next one like it (S7).

Learnt when an issue passes by a small change after a failure whose cause lay in the worker's hands, looked up before
the next diagnosis, quoted in the next prompt, counted by what became of it, and dropped when it makes no difference.
"""

import re
from dataclasses import dataclass

from noface.diagnosis.text import normalise
from noface.integrity.tampering import is_test_file
from noface.knowledge.fixes import Fix, in_workers_hands, parts_of
from noface.knowledge.hint_mining import is_common
from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.history import Advice, AdviceOutcome, Topic
from noface.model.issue import Issue
from noface.model.quoting import one_line
from noface.model.taxonomy import PASSED, DiagnosisStrategy, FailureKind

TERMS_MAX = 20
"""How many words of a failure are looked for."""

_TERM_CHARS_MIN, _TERM_CHARS_MAX = 3, 40
_TERMS_TEXT_MAX = 4000
_MESSAGE_MAX, _CAUSE_MAX, _SUMMARY_MAX = 300, 300, 200
_PARTS_MAX = 20
_TERMS_MIN = 2
"""A message of fewer telling words ("1 passed") is no sign by which to know a failure again; a test's name is one."""
_TRIED_MIN = 4
_PRIOR_TOLD, _PRIOR_UNTOLD = (1, 2), (1, 4)
"""What is taken for granted before anything is counted: (passed, tried) with a lesson, and without one."""
_ALIKE_MIN = 0.3
_PLACEHOLDER = re.compile(r"<(?:time|id|addr|hash|tmp|duration|n)>")
_GATE = re.compile(r"^gate [\w.-]{1,64}: ")
"""What noface puts before a gate's message; a gate's name says nothing about a failure."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Lesson:
    """A recovery that worked: `strategy` led to it, `advice` is what the next prompt quotes, `parts` its files.

    `hits` counts the attempts that read it and by which one could tell, `successes` those that passed, `learned` how
    often it was learnt anew. `dropped`: it makes no difference. `id` is 0 until it is stored.
    """

    signature: str
    kind: FailureKind
    rule: str
    message: str
    cause: str
    strategy: str
    advice: str
    hits: int = 0
    successes: int = 0
    learned: int = 1
    issue_id: str = ""
    number: int = 0
    dropped: bool = False
    id: int = 0
    parts: tuple[str, ...] = ()


ControlGroup = tuple[int, int]
"""How many failures of a kind were followed by a pass where no lesson was told, and how many by another failure."""


def lesson_of(issue: Issue, attempts: tuple[PastAttempt, ...], fix: Fix, cause: str = "") -> Lesson | None:
    """Return what an issue's last attempt, which passed, teaches by its `fix`; `cause` is a diagnosis's, if any."""
    failed = failed_before(attempts)
    failure = failed.failure if failed is not None else None
    if failed is None or failure is None or not fix.telling:
        return None
    passing = attempts[-1]
    summary = passing.report.summary if passing.report is not None else ""
    message = one_line(_GATE.sub("", failure.message), _MESSAGE_MAX)
    place = f" ({one_line(failure.location, _MESSAGE_MAX)})" if failure.location else ""
    words = one_line(summary, _SUMMARY_MAX)
    quoted = f' Its worker wrote: "{words}"' if words else ""
    return Lesson(
        failure.signature,
        failure.kind,
        failure.rule,
        one_line(failure.message, _MESSAGE_MAX),
        one_line(cause or _deciding_line(failure), _CAUSE_MAX),
        failed.answer,
        f'In issue {issue.id}, "{message}"{place} was mended by this change.{quoted}\n{fix.excerpt()}',
        issue_id=issue.id,
        number=passing.number,
        parts=parts_of(failure, fix.files)[:_PARTS_MAX],
    )


CURES = (DiagnosisStrategy.ALTERNATIVE.value, DiagnosisStrategy.MODIFIED.value)
"""The strategies of lessons that are a diagnosis's."""


def cure_of(issue: Issue, attempts: tuple[PastAttempt, ...], advice: tuple[Advice, ...]) -> Lesson | None:
    """Return the diagnosis by which an issue's last attempt passed, to be used again for the same signature."""
    failed = _fixed(attempts)
    failure = failed.failure if failed is not None else None
    if failed is None or failure is None or not failure.signature or not (failure.excerpt or failure.evidence):
        return None
    given = (a for a in reversed(advice) if a.topic is Topic.DIAGNOSIS and a.after == failed.number and a.model)
    advised = next((a for a in given if a.outcome is AdviceOutcome.ADVISED and a.strategy in CURES), None)
    if advised is None:
        return None
    return Lesson(
        failure.signature,
        failure.kind,
        failure.rule,
        one_line(failure.message, _MESSAGE_MAX),
        advised.cause,
        advised.strategy,
        advised.text,
        issue_id=issue.id,
        number=attempts[-1].number,
    )


def _fixed(attempts: tuple[PastAttempt, ...]) -> PastAttempt | None:
    if not attempts or attempts[-1].outcome != PASSED:
        return None
    epoch = attempts[-1].epoch
    return next((a for a in reversed(attempts[:-1]) if a.charged and a.failure and a.epoch == epoch), None)


def failed_before(attempts: tuple[PastAttempt, ...]) -> PastAttempt | None:
    failed = _fixed(attempts)
    failure = failed.failure if failed is not None else None
    if failure is None or not failure.signature or not in_workers_hands(failure):
        return None
    return failed if failure.failing_tests or len(_words(failure)) >= _TERMS_MIN else None


def cure_holds(learned: int, hits: int, successes: int) -> bool:
    """True if a cure still helps: nobody is asked in its place, so it has to work at least as often as not."""
    return 2 * (learned + successes) >= learned + hits + 1


def worth_keeping(hits: int, successes: int, control: ControlGroup) -> bool:
    """True if a lesson still helps: once four attempts have read it, more of them pass than without one."""
    with_lesson = (successes + _PRIOR_TOLD[0]) / (hits + _PRIOR_TOLD[1])
    passed, again = control
    without = (passed + _PRIOR_UNTOLD[0]) / (passed + again + _PRIOR_UNTOLD[1])
    return hits < _TRIED_MIN or with_lesson > without


def terms(text: str) -> tuple[str, ...]:
    lines = (_GATE.sub("", line) for line in text[:_TERMS_TEXT_MAX].splitlines())
    plain = _PLACEHOLDER.sub(" ", " ".join(normalise(line) for line in lines))
    words = (word.lower()[:_TERM_CHARS_MAX] for word in _WORD.findall(plain))
    telling = (w for w in words if len(w) >= _TERM_CHARS_MIN and not w.isdigit() and not is_common(w))
    return tuple(dict.fromkeys(telling))[:TERMS_MAX]


def alike(failure: Failure, lesson: Lesson) -> float:
    """Return which share of a failure's words a lesson has: one word in common is no likeness."""
    wanted = _words(failure)
    if not wanted:
        return 0.0
    has = set(terms(lesson.message)) | set(terms(lesson.cause))
    return sum(word in has for word in wanted) / len(wanted)


def fits(failure: Failure, lesson: Lesson, parts: tuple[str, ...]) -> bool:
    """True if a lesson is about a failure: a file of the project in common, and alike (benchmarks/lessons.py)."""
    shared = set(parts) & set(lesson.parts)
    tests = {path for path in shared if is_test_file(path)}
    # What a lesson has in common beside tests must be the product, unless it is about nothing but tests.
    product = shared - tests or all(is_test_file(path) for path in lesson.parts)
    if not shared or not product or not in_workers_hands(failure):
        return False
    same = bool(failure.signature) and failure.signature == lesson.signature
    return same or (failure.kind is lesson.kind and (bool(tests) or alike(failure, lesson) >= _ALIKE_MIN))


def _words(failure: Failure) -> tuple[str, ...]:
    return terms(f"{failure.message}\n{_deciding_line(failure)}")


def _deciding_line(failure: Failure) -> str:
    return next((line.strip() for line in reversed(failure.evidence) if line.strip()), "")[:_TERMS_TEXT_MAX]
