"""A night as one value: all that its page shows stands here, so that text, HTML and JSON agree."""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

from noface.errors import NofaceError
from noface.git import landings
from noface.git.plumbing import Plumbing
from noface.git.repository import discover
from noface.model.attempt import noted
from noface.model.description import Minimum, OneOf, Timestamp
from noface.model.listed import Window
from noface.model.taxonomy import INTERRUPTED, PASSED, FailureKind
from noface.store.reader import Reader
from noface.store.records import AttemptRow, IssueRow, QuestionRow, RunRow
from noface.ui.blocked import BlockedDocument, blocked_document
from noface.ui.landed import LandedIssue, landed_issue, look_first, ranked
from noface.ui.status import latest_run

_Cost = Annotated[float | None, "Dollars; null if nobody said."]
_Seconds = Annotated[float, "Seconds that attempts, and questions, took together."]
_T = TypeVar("_T")
_K = TypeVar("_K", bound=Hashable)
_CARRIED_OUT = "carried out on "
UNDER_WAY = "under way"


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


class Span(NamedTuple):
    """An attempt in the time line of its worker."""

    worker: Annotated[str, "Its worker's number, and the host if that is another machine."]
    id: Annotated[str, "The issue."]
    attempt: Annotated[int, Minimum(1), "Its number."]
    model: Annotated[str, "The entry of [models] that made it."]
    started_at: Annotated[float, Timestamp, "When it began."]
    seconds: Annotated[float, "How long it took, or has taken by now."]
    outcome: Annotated[
        str, OneOf((PASSED, INTERRUPTED, UNDER_WAY, *FailureKind)), "What came of it, or that it is under way."
    ]
    cost_usd: _Cost


class CostShare(NamedTuple):
    """Where time and money went: to a model."""

    name: Annotated[str, "The entry of [models]."]
    attempts: Annotated[int, "How many attempts, or questions."]
    passed: Annotated[int | None, "How many of them passed; null if there are questions alone."]
    landed: Annotated[int, "How many issues landed with their work."]
    seconds: _Seconds
    tokens: Annotated[int | None, "Tokens read and written; null if nobody said."]
    cost_usd: _Cost
    time_share: Annotated[float, "The share of all time, from 0 to 1."]
    cost_share: Annotated[float, "The share of all cost, from 0 to 1; 0 if none is known."]


@dataclass(frozen=True)
class Night:
    """A night, or what was done since a time: what to look at, what needs a person, what landed, what it took.

    What is not shown are the rows that the rest is made of. `left` issues wait for the next run.
    """

    since: Annotated[float, Timestamp, "From when on it tells."]
    at: Annotated[float, Timestamp, "When it was told."]
    run: Annotated[RunRow | None, "The newest run; null before the first."]
    needs: Annotated[BlockedDocument, "What needs a person."]
    review: Annotated[tuple[IssueRow, ...], "The issues whose pull request is open."]
    landed: Annotated[tuple[Annotated[LandedIssue, "An issue that landed."], ...], "What landed, the riskiest first."]
    quotas: Annotated[tuple[Window, ...], "The windows of logins' quotas at their providers, as was told last."]
    attempts: Sequence[AttemptRow]
    questions: Sequence[QuestionRow]
    left: int

    @cached_property
    def sum(self) -> Annotated[Sum, "What was done in the time, and what it took."]:
        """The figures."""
        attempts = self.attempts
        cost = _usd([*attempts, *self.questions])
        began = attempts[0].started_at if attempts else self.since
        ended = max((each.finished_at or self.at for each in attempts), default=began)
        return Sum(
            issues=len({each.issue_id for each in attempts}),
            attempts=len(attempts),
            landed=len(self.landed),
            to_look_at=len(self.look_at),
            need_you=len(self.needs.blocked),
            in_review=len(self.review),
            going_on=self.left,
            seconds=_seconds([*attempts, *self.questions], self.at),
            began_at=began,
            ended_at=ended,
            elapsed=round(ended - began, 3),
            cost_usd=cost,
            unpriced=sum(each.cost_usd is None and bool(_tokens([each])) for each in attempts),
            estimated=sum(each.cost_estimated for each in attempts),
            tokens=_tokens(attempts),
            usd_per_landed=_ratio(cost, len(self.landed)),
        )

    @property
    def look_at(self) -> Annotated[tuple[str, ...], "What landed that a person should look at: the ids, in order."]:
        return tuple(each.id for each in look_first(self.landed))

    @property
    def spans(self) -> Annotated[tuple[Annotated[Span, "An attempt."], ...], "The attempts, by worker."]:
        """The attempts in the order of their workers."""
        ordered = sorted(self.attempts, key=lambda each: (_host(each), each.slot))
        return tuple(
            Span(
                f"{row.slot + 1}{f' on {host}' if (host := _host(row)) else ''}", row.issue_id, row.number, row.model,
                row.started_at, _seconds([row], self.at), row.outcome or UNDER_WAY, row.cost_usd,
            )
            for row in ordered
        )  # fmt: skip

    @property
    def models(self) -> Annotated[tuple[CostShare, ...], "What each model took, the dearest first."]:
        """What attempts and questions took by model."""
        by_model = _grouped(self.attempts, lambda each: each.model)
        asked = _grouped((each for each in self.questions if each.model), lambda each: each.model)
        landed = _grouped(self.landed, lambda each: each.model)
        shares = [
            _share(name, by_model.get(name, ()), asked.get(name, ()), self, len(landed.get(name, ())))
            for name in dict.fromkeys((*by_model, *asked))
        ]
        return tuple(sorted(shares, key=lambda share: (-(share.cost_usd or 0.0), -share.seconds, share.name)))


def _host(attempt: AttemptRow) -> str:
    return noted(attempt.notes, _CARRIED_OUT).removeprefix(_CARRIED_OUT)


def _share(
    name: str, attempts: Sequence[AttemptRow], asked: Sequence[QuestionRow], night: Night, landed: int
) -> CostShare:
    seconds, cost = _seconds([*attempts, *asked], night.at), _usd([*attempts, *asked])
    return CostShare(
        name=name,
        attempts=len(attempts) or len(asked),
        passed=sum(each.outcome == PASSED for each in attempts) if attempts else None,
        landed=landed,
        seconds=seconds,
        tokens=_tokens(attempts),
        cost_usd=cost,
        time_share=round(_ratio(seconds, night.sum.seconds) or 0.0, 4),
        cost_share=round(_ratio(cost, night.sum.cost_usd) or 0.0, 4),
    )


def _grouped(records: Iterable[_T], key: Callable[[_T], _K]) -> dict[_K, list[_T]]:
    groups: dict[_K, list[_T]] = defaultdict(list)
    for each in records:
        groups[key(each)].append(each)
    return groups


def _seconds(rows: Iterable[AttemptRow | QuestionRow], now: float) -> float:
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


def line_counts(root: Path, commits: Collection[str]) -> Mapping[str, tuple[int, int]]:
    try:
        with closing(Plumbing(discover(root))) as plumbing:
            return landings.line_counts(plumbing, commits)
    except NofaceError:
        return {}


def read_night(reader: Reader, since: float, now: float, root: Path | None = None) -> Night:
    """Return what was done since a time; `now` is epoch seconds, `root` is the repository, where it is there."""
    run = latest_run(reader)
    attempts = reader.attempts_since(since)
    if run is None or not run.running:
        # What was cut off took until the last thing that happened.
        last = max((each.finished_at or each.started_at for each in attempts), default=0.0)
        attempts = [
            each if each.outcome is not None else each._replace(outcome=INTERRUPTED, finished_at=last)
            for each in attempts
        ]
    landed = [landed_issue(reader, each) for each in reader.landed() if each.at >= since]
    counts = line_counts(root, [each.commit for each in landed if each.commit]) if root is not None else {}
    landed = [
        each._replace(added=known[0], deleted=known[1]) if (known := counts.get(each.commit or "")) else each
        for each in landed
    ]
    pulls, waiting = reader.pull_urls(), reader.waiting_for_a_person()
    return Night(
        since=since,
        at=now,
        run=run,
        needs=blocked_document(waiting, reader.held()),
        review=tuple(row._replace(pull_url=pulls.get(row.id)) for row in reader.in_review()),
        landed=tuple(ranked(landed)),
        quotas=reader.quotas(now),
        attempts=attempts,
        questions=reader.questions_since(since),
        left=reader.left(),
    )
