"""A night as one value: all that its page shows stands here, computed once, so that text, HTML and JSON agree.

Pure: the records of rows come in. Scripts read the document: add keys, never rename.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Annotated, NamedTuple, TypeVar

from noface.data import table
from noface.model.actions import followed_by
from noface.model.attempt import HINTED, noted
from noface.model.budget import ESTIMATED
from noface.model.description import Minimum, OneOf, Timestamp
from noface.model.taxonomy import INTERRUPTED, PASSED, FailureKind, happened
from noface.store.overview import LandedAt, Quota, RunSpent
from noface.store.records import AttemptRow, IssueRow, QuestionRow, RunRow
from noface.ui.blocked import BlockedDocument
from noface.ui.landed import LandedIssue, look_first, ranked

_Cost = Annotated[float | None, "Dollars; null if nobody said."]
_Seconds = Annotated[float, "Seconds that attempts, and questions, took together."]
_T = TypeVar("_T")
_K = TypeVar("_K", bound=Hashable)
_CARRIED_OUT = "carried out on "
UNDER_WAY = "under way"
ASKED = "questions"
_MEASURES = {
    "person": "given back by you",
    "lessons": "told lessons of earlier recoveries",
    "hints": "told your hints",
}
_REVIEWS = {
    "request_changes": ("review_sent_back", "reviews that sent work back"),
    "approve": ("review_passed", "reviews that let work pass"),
}
_GIVEN_BACK = ("Block", "RequestApproval", "Skip", "AwaitIssues", "Land")
"""What ends an issue's attempts: another one after it is one that a person, or another issue, gave it."""
RUNS_MAX = 10
"""Earlier runs that a night is held against."""


class Sum(NamedTuple):
    """What was done in the time, and what it took."""

    issues: Annotated[int, "How many issues were worked on."]
    attempts: Annotated[int, "How many attempts were made."]
    landed: Annotated[int, "How many issues landed."]
    to_look_at: Annotated[int, "How many of those a person should look at."]
    need_you: Annotated[int, "How many issues need a person now, since when ever."]
    in_review: Annotated[int, "How many pull requests are open."]
    going_on: Annotated[int, "How many issues of the backlog the next run goes on with."]
    seconds: _Seconds
    began_at: Annotated[float, Timestamp, "When the first attempt began; without one as `since`."]
    ended_at: Annotated[float, Timestamp, "When the last one ended, or `at` while one is under way."]
    elapsed: Annotated[float, "Seconds between the two."]
    cost_usd: _Cost
    unpriced: Annotated[int, "How many attempts used tokens of which nobody knows the price."]
    estimated: Annotated[int, "How many attempts were priced from their tokens, since their agents told no cost."]
    tokens: Annotated[int | None, "Tokens read and written; null if nobody said."]
    usd_per_landed: Annotated[float | None, "What an issue that landed has cost: all cost by all that landed."]


class InReview(NamedTuple):
    """An issue whose pull request is open."""

    id: Annotated[str, "Its id."]
    title: Annotated[str, "Its title."]
    url: Annotated[str, "The address of its pull request; may be empty."]
    reason: Annotated[str, "What it waits for."]


class Span(NamedTuple):
    """An attempt in the time line of its worker."""

    id: Annotated[str, "The issue."]
    attempt: Annotated[int, Minimum(1), "Its number."]
    model: Annotated[str, "The entry of [models] that made it."]
    started_at: Annotated[float, Timestamp, "When it began."]
    seconds: Annotated[float, "How long it took, or has taken by now."]
    outcome: Annotated[
        str, OneOf((PASSED, INTERRUPTED, UNDER_WAY, *FailureKind)), "What came of it, or that it is under way."
    ]
    cost_usd: _Cost


class WorkerLine(NamedTuple):
    """A worker, and what it did."""

    worker: Annotated[str, "Its number, and its host if that is another machine."]
    seconds: _Seconds
    spans: Annotated[tuple[Annotated[Span, "An attempt."], ...], "Its attempts, in the order they began."]


class CostShare(NamedTuple):
    """Where time and money went: to a model, to attempts that ended alike, to what was done about failures."""

    name: Annotated[str, "What: an entry of [models], an outcome, an action, a topic of questions, `lessons`, …"]
    words: Annotated[str, "The same in a person's words; may be empty."]
    attempts: Annotated[int, "How many attempts, or questions."]
    passed: Annotated[
        int | None, "How many of them passed; of questions how many attempts that followed, null if none did."
    ]
    landed: Annotated[int, "How many issues landed with their work, or of those that it was about."]
    seconds: _Seconds
    tokens: Annotated[int | None, "Tokens read and written; null if nobody said."]
    cost_usd: _Cost
    time_share: Annotated[float, "The share of all time, from 0 to 1."]
    cost_share: Annotated[float, "The share of all cost, from 0 to 1; 0 if none is known."]


class RunCost(NamedTuple):
    """An earlier run."""

    started_at: Annotated[float, Timestamp, "When it began."]
    attempts: Annotated[int, "How many attempts it made."]
    landed: Annotated[int, "How many issues landed in it."]
    cost_usd: _Cost
    usd_per_landed: Annotated[float | None, "What an issue that landed has cost; null if none did, or nobody knows."]


class Night(NamedTuple):
    """A night, or what was done since a time: what to look at, what needs a person, what landed, what it took."""

    since: Annotated[float, Timestamp, "From when on it tells."]
    at: Annotated[float, Timestamp, "When it was told."]
    run: Annotated[RunRow | None, "The newest run; null before the first."]
    sum: Annotated[Sum, "What was done in the time, and what it took."]
    look_at: Annotated[tuple[str, ...], "The ids of those that landed which a person should look at, in that order."]
    needs: Annotated[BlockedDocument, "What needs a person."]
    review: Annotated[tuple[InReview, ...], "The issues whose pull request is open."]
    landed: Annotated[tuple[Annotated[LandedIssue, "An issue that landed."], ...], "What landed, the riskiest first."]
    workers: Annotated[tuple[WorkerLine, ...], "The attempts of each worker."]
    models: Annotated[tuple[Annotated[CostShare, "A model."], ...], "What each model took, the dearest first."]
    outcomes: Annotated[
        tuple[Annotated[CostShare, "A way to end."], ...], "What attempts took by how they ended, the dearest first."
    ]
    quotas: Annotated[tuple[Quota, ...], "The windows of logins' quotas at their providers, as was told last."]
    measures: Annotated[
        tuple[Annotated[CostShare, "A thing done."], ...],
        "What was done about failures and doubts, and what it brought.",
    ]
    earlier: Annotated[tuple[RunCost, ...], "The runs before, the newest first."]
    usd_per_landed_before: Annotated[float | None, "What an issue that landed has cost in those runs together."]
    trend: Annotated[
        float | None, "What an issue that landed costs now, as a multiple of that; null if either is not known."
    ]


class Records(NamedTuple):
    """The rows that a night is made of. `answers` tell what followed an attempt, by issue and number."""

    since: float
    at: float
    run: RunRow | None
    attempts: Sequence[AttemptRow]
    questions: Sequence[QuestionRow]
    landings: Sequence[LandedAt]
    landed: Sequence[LandedIssue]
    review: Sequence[IssueRow]
    left: int
    needs: BlockedDocument
    pulls: Mapping[str, str]
    quotas: tuple[Quota, ...]
    runs: Sequence[RunSpent]
    lessons: set[tuple[str, int]]
    answers: Mapping[tuple[str, int], str]


def night_of(records: Records) -> Night:
    """Return the night that the rows tell of."""
    whole = _sum(records)
    earlier = _earlier(records)
    costs = [(run.cost_usd, run.landed) for run in earlier if run.cost_usd is not None]
    before = _ratio(sum(cost for cost, _ in costs), sum(landed for _, landed in costs)) if costs else None
    return Night(
        since=records.since,
        at=records.at,
        run=records.run,
        sum=whole,
        look_at=tuple(each.id for each in look_first(records.landed)),
        needs=records.needs,
        review=tuple(InReview(row.id, row.title, records.pulls.get(row.id, ""), row.reason) for row in records.review),
        landed=tuple(ranked(records.landed)),
        workers=tuple(_workers(records.attempts, records.at)),
        models=tuple(sorted(_models(records, whole), key=_dearest_first)),
        outcomes=tuple(sorted(_outcomes(records, whole), key=_dearest_first)),
        quotas=records.quotas,
        measures=tuple(sorted(_measures(records, whole), key=_dearest_first)),
        earlier=tuple(earlier),
        usd_per_landed_before=before,
        trend=_ratio(whole.usd_per_landed, before),
    )


def _sum(records: Records) -> Sum:
    attempts, landed = records.attempts, records.landed
    cost = _usd([*attempts, *records.questions])
    began = attempts[0].started_at if attempts else records.since
    ended = max((each.finished_at or records.at for each in attempts), default=began)
    return Sum(
        issues=len({each.issue_id for each in attempts}),
        attempts=len(attempts),
        landed=len(landed),
        to_look_at=len(look_first(landed)),
        need_you=len(records.needs.blocked),
        in_review=len(records.review),
        going_on=records.left,
        seconds=_seconds([*attempts, *records.questions], records.at),
        began_at=began,
        ended_at=ended,
        elapsed=round(ended - began, 3),
        cost_usd=cost,
        unpriced=sum(each.cost_usd is None and bool(_tokens([each])) for each in attempts),
        estimated=sum(ESTIMATED in each.notes for each in attempts),
        tokens=_tokens(attempts),
        usd_per_landed=_ratio(cost, len(landed)),
    )


def _earlier(records: Records) -> list[RunCost]:
    """Return the runs before, with how many issues landed between their begin and that of the next."""
    until, earlier = records.since, []
    for run in records.runs:
        landed = sum(run.started_at <= each.at < until for each in records.landings)
        usd = None if run.usd is None and run.asked_usd is None else (run.usd or 0.0) + (run.asked_usd or 0.0)
        earlier.append(RunCost(run.started_at, run.attempts, landed, usd, _ratio(usd, landed)))
        until = run.started_at
    return earlier


def _workers(attempts: Sequence[AttemptRow], now: float) -> Iterator[WorkerLine]:
    for (host, slot), mine in sorted(_grouped(attempts, lambda each: (_host(each), each.slot)).items()):
        spans = (
            Span(row.issue_id, row.number, row.model, row.started_at, _seconds([row], now), row.outcome or UNDER_WAY,
                 row.cost_usd)
            for row in mine
        )  # fmt: skip
        yield WorkerLine(f"{slot + 1}{f' on {host}' if host else ''}", _seconds(mine, now), tuple(spans))


def _host(attempt: AttemptRow) -> str:
    return noted(attempt.notes, _CARRIED_OUT).removeprefix(_CARRIED_OUT)


def _models(records: Records, whole: Sum) -> Iterator[CostShare]:
    by_model = _grouped(records.attempts, lambda each: each.model)
    asked = _grouped((each for each in records.questions if each.model), lambda each: each.model)
    landed = _grouped(records.landed, lambda each: each.model)
    for name in dict.fromkeys((*by_model, *asked)):
        rows: list[AttemptRow | QuestionRow] = [*by_model.get(name, []), *asked.get(name, [])]
        yield _share(name, "", rows, whole, records.at, landed=len(landed.get(name, ())))


def _outcomes(records: Records, whole: Sum) -> Iterator[CostShare]:
    landed = {(each.id, each.attempt) for each in records.landed}
    for name, mine in _grouped(records.attempts, lambda each: each.outcome or UNDER_WAY).items():
        of_landed = sum((each.issue_id, each.number) in landed for each in mine)
        words = happened(name) if name != UNDER_WAY else ""
        yield _share(name, words, mine, whole, records.at, landed=of_landed)
    if asked := [each for each in records.questions if each.model]:
        yield _share(ASKED, "", asked, whole, records.at)


def _share(
    name: str, words: str, rows: Sequence[AttemptRow | QuestionRow], whole: Sum, now: float, *, landed: int = 0
) -> CostShare:
    attempts = [each for each in rows if isinstance(each, AttemptRow)]
    seconds, cost = _seconds(rows, now), _usd(rows)
    return CostShare(
        name=name,
        words=words,
        attempts=len(attempts) or len(rows),
        passed=sum(each.outcome == PASSED for each in attempts) if attempts else None,
        landed=landed,
        seconds=seconds,
        tokens=_tokens(attempts),
        cost_usd=cost,
        time_share=round(_ratio(seconds, whole.seconds) or 0.0, 4),
        cost_share=round(_ratio(cost, whole.cost_usd) or 0.0, 4),
    )


def _dearest_first(share: CostShare) -> tuple[float, float, str]:
    return -(share.cost_usd or 0.0), -share.seconds, share.name


def _measures(records: Records, whole: Sum) -> Iterator[CostShare]:
    """Yield what was done about failures and doubts: how attempts were begun anew, what was told, what was asked."""
    landed, by_name = {each.id for each in records.landed}, {(e.issue_id, e.number): e for e in records.attempts}
    started: dict[str, list[AttemptRow]] = defaultdict(list)
    for each in records.attempts:
        if answer := records.answers.get((each.issue_id, _number_before(each, by_name))):
            started["person" if answer in _GIVEN_BACK else answer].append(each)
        if (each.issue_id, each.number) in records.lessons:
            started["lessons"].append(each)
        if HINTED in each.notes:
            started["hints"].append(each)
    for name, mine in started.items():
        words = _MEASURES.get(name) or followed_by(name) or name
        yield _share(name, words, mine, whole, records.at, landed=len({each.issue_id for each in mine} & landed))
    for (name, words), asked in _grouped(records.questions, _question_name).items():
        following = [next_one for each in asked if (next_one := by_name.get((each.issue_id, each.after + 1)))]
        passed = sum(each.outcome == PASSED for each in following) if following else None
        of_landed = len({each.issue_id for each in asked} & landed)
        yield _share(name, words, asked, whole, records.at, landed=of_landed)._replace(passed=passed)


def _number_before(attempt: AttemptRow, by_name: Mapping[tuple[str, int], AttemptRow]) -> int:
    """Return the number of the newest attempt that had ended when this one began: candidates begin side by side."""
    number = attempt.number - 1
    while (other := by_name.get((attempt.issue_id, number))) and (other.finished_at or inf) > attempt.started_at:
        number -= 1
    return number


def _question_name(question: QuestionRow) -> tuple[str, str]:
    if question.topic != "review":
        return question.topic, f"asked: {table('topics')['asked_for'].get(question.topic, question.topic)}"
    verdict = question.answer.strategy if question.answer is not None else ""
    return _REVIEWS.get(verdict, ("review", "reviews without a verdict"))


def _grouped(records: Iterable[_T], key: Callable[[_T], _K]) -> dict[_K, list[_T]]:
    groups: dict[_K, list[_T]] = defaultdict(list)
    for each in records:
        groups[key(each)].append(each)
    return groups


def _seconds(rows: Iterable[AttemptRow | QuestionRow], now: float) -> float:
    """Return how long attempts and questions took together; those under way until now."""

    def took(row: AttemptRow | QuestionRow) -> float:
        if isinstance(row, AttemptRow):
            return max((row.finished_at or now) - row.started_at, 0.0)
        return max((row.answered_at or now) - row.asked_at, 0.0)

    return round(sum(map(took, rows)), 3)


def _usd(records: Iterable[AttemptRow | QuestionRow]) -> float | None:
    known = [each.cost_usd for each in records if each.cost_usd is not None]
    return round(sum(known), 6) if known else None


def _tokens(attempts: Iterable[AttemptRow]) -> int | None:
    known = [number for each in attempts for number in (each.tokens_in, each.tokens_out) if number is not None]
    return sum(known) if known else None


def _ratio(part: float | None, whole: float | None) -> float | None:
    return round(part / whole, 6) if part is not None and whole else None
