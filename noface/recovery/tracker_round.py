"""What is asked of and told to a tracker on another machine next: one round of calls. Pure.

A question is put in two steps. First noface looks up what people had written before (`Round.marks`), so that nothing
older is taken for an answer; once that is recorded, the question is said. A kill between two steps repeats the last.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from noface.model.publication import Notice, Publication
from noface.recovery.polling import Asked, Pace, away_until, is_due
from noface.recovery.said import ASKING, Standing, due_at

SAID_AT_ONCE_MAX = 5
"""So many issues are told in one round, so that little is said again after a kill."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An issue that its tracker may have to be told of: how it stands, what that comes to, and what it was told."""

    standing: Standing
    notice: Notice
    published: Publication

    @property
    def marked(self) -> bool:
        return not self.standing.question or self.published.question == self.standing.question

    @property
    def due_at(self) -> float | None:
        return due_at(self.notice, self.published.digest, self.published.at)


@dataclass(frozen=True, slots=True)
class Round:
    """Calls for one thread, in this order. `after` is the last comment at each issue that is known already."""

    refresh: bool = False
    marks: tuple[Standing, ...] = ()
    says: tuple[tuple[Notice, int | None], ...] = ()
    hears: tuple[str, ...] = ()
    after: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.refresh or self.marks or self.says or self.hears)


def next_round(
    candidates: Collection[Candidate],
    asked: Asked | None,
    pace: Pace,
    now: float,
    *,
    heard: bool,
    last: bool = False,
    settled: Mapping[str, int] = MappingProxyType({}),
) -> Round:
    """Return what is due now. The `last` round says all that differs, and asks nothing that only a run could act on."""
    if away_until([asked], now) is not None:
        return Round()
    due = [
        each
        for each in candidates
        if (at := each.due_at) is not None and (last or at <= now or each.published.at > now)
    ]
    marks = [each for each in due if not each.marked][:SAID_AT_ONCE_MAX]
    says = [each for each in due if each.marked][:SAID_AT_ONCE_MAX]
    refresh = bool(marks) or (not last and is_due(asked, pace, now))
    known_there = [each for each in candidates if each.published.digest and each.marked]
    known_there = [each for each in known_there if each.due_at is None or each.standing.state not in ASKING]
    look = refresh or not (heard or last)
    hears = {each.standing.issue_id: each.published.after for each in known_there} | dict(settled) if look else {}
    return Round(
        refresh=refresh,
        marks=tuple(each.standing for each in marks),
        says=tuple((each.notice, each.published.comment) for each in says),
        hears=tuple(hears),
        after={each.standing.issue_id: each.published.after for each in marks} | hears,
    )
