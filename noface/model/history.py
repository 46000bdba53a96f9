"""What the policy decides from: an issue's attempts, what was asked about them, what became of its parts."""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from noface.data import table
from noface.model.attempt import PastAttempt
from noface.model.budget import Spent
from noface.model.description import Timestamp
from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.taxonomy import DiagnosisStrategy


class Topic(StrEnum):
    """What another model (or noface itself) can be asked about an issue, between two attempts at it."""

    DIAGNOSIS = "diagnosis"
    REFLECTION = "reflection"
    CLARIFICATION = "clarification"
    BOUNDARY = "boundary"
    MERGE_CONFLICT = "merge_conflict"
    DEPENDENCY = "dependency"
    ARCHITECT = "architect"
    BREAKDOWN = "breakdown"
    REVIEW = "review"
    CHANGED_TESTS = "changed_tests"
    MISSING = "what_is_missing"

    @property
    def role(self) -> str:
        known: dict[str, str] = table("topics")["role"]
        return known.get(self.value, "")


ASKED_FOR, CONTESTED = "asked_for", "contested"
"""The strategies of an answer that the issue, or that another one of the run, asks for what is made of main's tests."""


DIVIDE = "divide"
"""The strategy of a planner's or reviewer's answer that the issue should become several, its parts in `divide`."""
MISSING, NOTHING_MISSING = "missing", "nothing_missing"
"""The strategies of an answer on what of an issue is missing, all of whose parts have landed."""


class AdviceOutcome(StrEnum):
    """What came of asking. PARTS_LANDED: whether that is all of the issue is the next question (MISSING)."""

    ADVISED = "ADVISED"
    UNUSABLE = "UNUSABLE"
    UNAVAILABLE = "UNAVAILABLE"
    PARTS_FAILED = "PARTS_FAILED"
    PARTS_LANDED = "PARTS_LANDED"


_STRATEGY_TOLD = {DiagnosisStrategy.MODIFIED.value: DiagnosisStrategy.ALTERNATIVE.value}
_GIST_CHARS_MAX = 4_000
_STEM_CHARS, _WORD_CHARS_MIN = 5, 4
_SAME_SHARE = 0.6
_HEADING = re.compile(r"(?:Another approach|The same with (?:a change|these changes)|What is needed): ")
"""What the form of a diagnosis puts before a proposal, which every proposal has."""
_WORD = re.compile(r"[\w./-]+")
_NAME = re.compile(r"\w[./_]\w|\d|[a-z][A-Z]")


def _gist(text: str) -> tuple[frozenset[str], frozenset[str]]:
    words = [word.strip("./-") for word in _WORD.findall(_HEADING.sub("", text[:_GIST_CHARS_MAX], count=1))]
    names = frozenset(word.lower() for word in words if _NAME.search(word))
    telling = {word.lower() for word in words if len(word) >= _WORD_CHARS_MIN}
    telling -= names | set(table("stop_words")["words"].split())
    return names, frozenset(word[:_STEM_CHARS] for word in telling)


@dataclass(frozen=True, slots=True)
class PartFailure:
    """A part that failed, as its parent is told of it (P8); `kind` is a failure's, or the status it ended in."""

    part: Issue
    kind: str
    message: str
    partial: str = ""


@dataclass(frozen=True, slots=True)
class Advice:
    """An answer, given after attempt `after`, in the form its topic has. `text` is quoted as data.

    `strategy` is a diagnosis' (one of the five of S3) or a resolver's ("expand", "redesign", "person"). `recheck` are
    issues to verify again. `away`: nobody answered, since the model's provider was away. `settled` are the numbers of
    the points open before that a review calls settled. `failure` is what was wrong with its form. `parts` are those of
    a breakdown that failed, `tests` those of main that an answer on changed tests is about.
    """

    topic: Topic
    after: int
    outcome: AdviceOutcome = AdviceOutcome.ADVISED
    epoch: int = 0
    model: str = ""
    cause: Annotated[str, "What a diagnosis takes for the cause, or why there is no answer."] = ""
    recoverable: Annotated[str, "Whether a diagnosis considers it fixable."] = ""
    strategy: Annotated[str, "What the answer decides."] = ""
    text: Annotated[str, "What the next worker is told."] = ""
    paths: Annotated[tuple[str, ...], "Paths that the answer names."] = ()
    needs: Annotated[tuple[str, ...], "Ids of issues that must be merged first."] = ()
    recheck: tuple[str, ...] = ()
    delay_s: float | None = None
    cost_usd: float | None = None
    tokens: int | None = None
    away: bool = False
    points: tuple[str, ...] = ()
    settled: tuple[int, ...] = ()
    failure: Failure | None = None
    parts: tuple[PartFailure, ...] = ()
    tests: tuple[str, ...] = ()
    divide: tuple[str, ...] = ()

    def repeats(self, earlier: "Advice") -> bool:
        """True if a proposal names the same things as an earlier one, and says much the same in other words."""
        if self.strategy == earlier.strategy == DiagnosisStrategy.SAME:
            return True
        if _STRATEGY_TOLD.get(self.strategy, self.strategy) != _STRATEGY_TOLD.get(earlier.strategy, earlier.strategy):
            return False
        one, other = ((each.text or each.cause).lower().split() for each in (self, earlier))
        (names, words), (before, old) = (_gist(each.text or each.cause) for each in (self, earlier))
        alike = bool(words & old) and len(words & old) >= _SAME_SHARE * min(len(words), len(old))
        return one == other or (names == before and alike)


NO_ANSWER = Advice(Topic.DIAGNOSIS, 0)


class Verdict(StrEnum):
    """What a person says: yes, no, or words beside that."""

    APPROVED = "approved"
    REJECTED = "rejected"
    NOTED = "noted"


@dataclass(frozen=True, slots=True)
class Decided:
    """What a person decided, and how far that holds: for paths, tests, an attempt's work, or the answer to a question.

    What is approved holds in all later attempts at the issue, and ranks above every rule but the laws of docs/design.
    """

    attempt: Annotated[int, "The attempt it is about; 0 for none."]
    verdict: Annotated[Verdict, "What was decided."]
    epoch: Annotated[int, "How often the issue had been given back by then."] = 0
    note: Annotated[str, "What was said with it."] = ""
    at: Annotated[float, Timestamp, "When."] = 0.0
    paths: Annotated[tuple[str, ...], "Paths that the issue may change from then on."] = ()
    tests: Annotated[tuple[str, ...], "Tests of main that may ask for something else from then on."] = ()
    work: Annotated[str, "The hash of the patch that is right as it is; empty if it is about no work."] = ""
    question: Annotated[str, "What was asked."] = ""


@dataclass(frozen=True, slots=True)
class History:
    """An issue with its finished attempts, oldest first, all epochs; `epoch` is the present one.

    `model` and `attempts_max` are what a person set when they unblocked it. `unanswered` is what questions that were
    cut short have used since. `family_runs` are the worker runs of a divided issue and all its parts.
    """

    issue: Issue
    attempts: tuple[PastAttempt, ...] = ()
    epoch: int = 0
    advice: tuple[Advice, ...] = ()
    decisions: tuple[Decided, ...] = ()
    model: str | None = None
    attempts_max: int | None = None
    unanswered: Spent = field(default_factory=Spent)
    family_runs: int = 0

    @property
    def current(self) -> tuple[PastAttempt, ...]:
        return tuple(attempt for attempt in self.attempts if attempt.epoch == self.epoch)

    @property
    def asked(self) -> tuple[Advice, ...]:
        return tuple(advice for advice in self.advice if advice.epoch == self.epoch)

    @property
    def spent(self) -> Spent:
        used: list[PastAttempt | Advice] = [*self.current, *self.asked]
        return Spent(
            sum((each.cost_usd or 0.0 for each in used), self.unanswered.usd),
            sum((each.tokens or 0 for each in used), self.unanswered.tokens),
        )

    @property
    def open_points(self) -> tuple[str, ...]:
        """Return what reviews have asked for and no later one called settled (L7); a pull request's stand alone."""
        points: list[str] = []
        for attempt in self.attempts:
            reviews = [a for a in self.advice if a.topic is Topic.REVIEW and a.after == attempt.number and a.strategy]
            for review in reviews:
                kept = [point for number, point in enumerate(points, 1) if number not in review.settled]
                points = [] if review.strategy == "approve" else [*kept, *review.points]
            asked = attempt.failure.points if attempt.failure is not None else ()
            points = list(dict.fromkeys((*(points if reviews or not asked else ()), *asked)))
        return tuple(points)

    def answer(self, topic: Topic, after: int) -> Advice | None:
        answers = (advice for advice in reversed(self.asked) if advice.topic is topic and advice.after == after)
        return next(answers, None)

    def verdict(self, attempt: int) -> Decided | None:
        """Return what a person decided on an attempt, or on the same work, or on the same words without any."""
        said = [each for each in reversed(self.decisions) if each.verdict is not Verdict.NOTED]
        own = next((each for each in said if each.attempt == attempt), None)
        past = next((each for each in self.current if each.number == attempt), None)
        if own is not None or past is None:
            return own
        if (right := self.approved_work(past)) is not None or past.failure is None:
            return right
        same = {each.number for each in self.current if _put_before(each) == _put_before(past)}
        return next((each for each in said if each.attempt in same), None)

    def approved_work(self, attempt: PastAttempt) -> Decided | None:
        of_work = (each for each in reversed(self.decisions) if each.work and each.work == attempt.patch_hash)
        newest = next(of_work, None)
        return newest if newest is not None and newest.verdict is Verdict.APPROVED else None

    @property
    def chosen(self) -> tuple[Decided, PastAttempt] | None:
        last = max((each.finished_at for each in self.attempts), default=0.0)
        named = next((each for each in reversed(self.decisions) if each.at >= last and each.attempt), None)
        if named is None or named.verdict is Verdict.REJECTED or not (named.work or named.verdict is Verdict.NOTED):
            return None
        return next(((named, each) for each in self.attempts if each.number == named.attempt), None)


def _put_before(attempt: PastAttempt) -> tuple[object, ...]:
    """Return what a person sees who decides on an attempt: its work, and the words of a worker that asks."""
    failure, report = attempt.failure, attempt.report
    words = failure.message if failure is not None and not attempt.patch_hash else ""
    return failure is None, attempt.patch_hash, words, report.asks if report is not None else ()
