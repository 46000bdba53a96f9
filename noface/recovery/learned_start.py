"""Where an issue's ladder begins, and how often each rung is tried, by the record of the models (`[retry] start`).

Climbing a ladder is a search: each try has a cost and a chance to pass. A try is worth its money as long as its chance,
per dollar, is not below that of the rest of the ladder. So the ladder is walked from its top down, and of each rung as
many tries are kept as land most per dollar. Rungs are never added or exchanged, the last one stays, and what an issue
has used is not taken back.

The record are the newest attempts here, of all issues and runs. Only what passed or was charged counts (law 8). An
attempt counts half after HALF_LIFE_S, and less at an issue that is unlike this one (`alike`). A chance is read with one
success and one failure that nobody saw, and optimistically; less than EVIDENCE_MIN tries change nothing. A try whose
cost nobody knows costs RUNG_FACTOR times one of the rung below. None counts less than COST_SHARE_MIN of one of the rung
above, since it takes time as well. benchmarks/ladder.py measures these figures (docs/facts.md, The learned start).

A first rung that is left out is tried all the same by one issue in EXPLORES, so that a better model, or easier issues,
are noticed. That is counted in the record, and no die is thrown: a restart decides the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import sqrt

from noface.model.history import History, IssueKind, Tried
from noface.model.quoting import in_dollars
from noface.model.taxonomy import PASSED
from noface.recovery.retry_policy import LadderStart, Policy, Rung

BEGINS = "begins with "
"""How the reason of a first attempt begins whose model the record chose."""
RECORD_MAX = 150
HALF_LIFE_S = 14 * 86_400.0
EVIDENCE_MIN = 2.5
EXPLORES = 8
RUNG_FACTOR, COST_SHARE_MIN = 3.0, 0.08
_OPTIMISM = 0.25
"""In standard deviations."""
_OTHER_KIND, _UNKNOWN_KIND, _NEAR = 0.15, 0.6, 0.6
_SIZE_FACTOR = 3.0
_TRIES_MAX = 3
"""So many tries of one rung are looked at; one that repeats to the end is no better for it."""


def alike(one: IssueKind, other: IssueKind | None) -> float:
    """Return how much an attempt at the `other` issue tells of `one`: 1 for one of the same labels and like size."""
    if other is None:
        return _UNKNOWN_KIND
    mine, theirs = set(one.labels), set(other.labels)
    shared = len(mine & theirs) / len(mine | theirs) if mine | theirs else 1.0
    less, more = sorted((one.words + 1, other.words + 1))
    return _OTHER_KIND + (1 - _OTHER_KIND) * shared * (1.0 if more <= _SIZE_FACTOR * less else 0.5)


@dataclass(frozen=True, slots=True)
class _Try:
    """What a model made of an issue; `near`: of one like the present one."""

    passed: bool
    weight: float
    near: bool
    usd: float | None


@dataclass(frozen=True, slots=True)
class _RungRecord:
    """What is known of a rung: the first tries of its model at issues, and those `again` after one that failed."""

    first: list[_Try]
    again: list[_Try]

    @property
    def cost(self) -> float | None:
        """What a try costs in dollars, None if that is not known."""
        priced = [(each.weight, each.usd) for each in (*self.first, *self.again) if each.usd is not None]
        return sum(weight * usd for weight, usd in priced) / sum(weight for weight, _ in priced) if priced else None

    def evidence(self, place: int) -> float:
        """Return how much is known of the try at a place in a row of them, from 0 on."""
        return sum(each.weight for each in (self.again if place else self.first))

    def chance(self, place: int, optimism: float) -> float:
        """Return the chance of that try; before much is known of an `again`, that of a first one."""
        passes = sum(each.weight for each in (self.again if place else self.first) if each.passed)
        mean = (2 * (self.chance(0, 0.0) if place else 0.5) + passes) / (2 + self.evidence(place))
        return min(mean + optimism * sqrt(mean * (1 - mean) / (3 + self.evidence(place))), 1.0)


def learned_ladder(ladder: tuple[Rung, ...], history: History, policy: Policy, now: float) -> tuple[Rung, ...]:
    """Return an issue's ladder as the record shortens it, with the reasons; as it is if a person chose its model."""
    issue = history.issue
    chosen = issue.no_escalate or issue.model or history.model
    if policy.start is LadderStart.FIRST or chosen or len(ladder) == 1 or ladder[0].answers:
        return ladder
    kind, record = IssueKind.of(issue), [tried for tried in history.record if tried.started_at < now][-RECORD_MAX:]
    known = _known(ladder, record, kind, now)
    kept = _tries_that_pay(ladder, known)
    explores = not kept[0] and not history.current and _is_due(ladder[0], record, kind)
    kept[0] += explores
    shortened = [_shortened(*each, history) for each in zip(ladder, kept, known, strict=True)]
    first = next(place for place, rung in enumerate(shortened) if rung.times and not rung.answers)
    rest = [rung for rung in shortened[first:] if rung.times]
    if first or explores:
        rest[0] = replace(rest[0], why=_why_it_begins(ladder, known, first), begins=True)
    return tuple(rest)


def tries_left_out(whole: Sequence[Rung], ladder: Sequence[Rung]) -> int:
    """Return how many tries of a `whole` ladder's first rung, and of rungs that are gone, another one has not.

    The rungs above get no more tries for them: on an issue that nobody is up to they would cost more than was saved.
    """
    kept = {(rung.model, rung.think): rung.times for rung in ladder}
    left = [(rung, rung.times - kept.get((rung.model, rung.think), 0)) for rung in whole]
    return sum(tries for rung, tries in left if rung is whole[0] or tries == rung.times)


def _known(ladder: Sequence[Rung], record: Sequence[Tried], kind: IssueKind, now: float) -> list[_RungRecord]:
    known = {(rung.model, rung.think): _RungRecord([], []) for rung in ladder}
    failed = set[tuple[str, int, str, bool]]()
    for each in record:
        own = known.get((each.model, each.think))
        passed = each.outcome == PASSED
        if own is None or each.finished_at is None or each.finished_at > now or not (passed or each.charged):
            continue
        here, kinship = (each.issue_id, each.epoch, each.model, each.think), alike(kind, each.kind)
        weight = kinship * 0.5 ** ((now - each.finished_at) / HALF_LIFE_S)
        (own.again if here in failed else own.first).append(_Try(passed, weight, kinship > _NEAR, each.cost_usd))
        failed.add(here)
    return [known[rung.model, rung.think] for rung in ladder]


def _costs(known: Sequence[_RungRecord]) -> list[float]:
    """Return what a try of each rung costs: in dollars, or in tries of the first rung if nobody knows any price."""
    priced = {place: each.cost for place, each in enumerate(known) if each.cost is not None}
    nearest = [min(priced, key=lambda other: (abs(other - place), other), default=0) for place in range(len(known))]
    costs = [priced.get(near, 1.0) * RUNG_FACTOR ** (place - near) for place, near in enumerate(nearest)]
    for above, place in pairwise(range(len(known) - 1, -1, -1)):
        costs[place] = max(costs[place], COST_SHARE_MIN * costs[above])
    return costs


def _tries_that_pay(ladder: Sequence[Rung], known: Sequence[_RungRecord]) -> list[int]:
    """Return how many tries of each rung are worth their money; none yields to the same model that thinks longer."""
    above, kept = list[tuple[float, float]](), list[int]()
    stays = [rung.model == higher.model or bool(rung.answers) for rung, higher in pairwise((*ladder, ladder[-1]))]
    for rung, own, price, fixed in reversed(list(zip(ladder, known, _costs(known), stays, strict=True))):
        most = times = min(rung.times, _TRIES_MAX)
        for place in () if fixed else reversed(range(most)):
            tries = [(own.chance(each, _OPTIMISM), price) for each in range(place, times)]
            if own.evidence(place) >= EVIDENCE_MIN and _per_dollar([*tries, *above]) < _per_dollar(above):
                times = place
        above = [*((own.chance(each, 0.0), price) for each in range(times)), *above]
        kept.append(rung.times if times == most else times)
    return kept[::-1]


def _per_dollar(tries: Sequence[tuple[float, float]]) -> float:
    """Return the most issues per dollar that tries of a chance and a price land, as far as it pays to go on."""
    most, passes, cost, left = 0.0, 0.0, 0.0, 1.0
    for chance, price in tries:
        passes, cost, left = passes + left * chance, cost + left * price, left * (1 - chance)
        most = max(most, passes / cost if cost else 0.0)
    return most


def _shortened(rung: Rung, times: int, known: _RungRecord, history: History) -> Rung:
    """Return a rung with so many times, or as many as it has been used here."""
    own = [each for each in history.current if (each.model, each.think) == (rung.model, rung.think)]
    times = max(times, sum(each.charged for each in own), 1) if own else times
    if times >= rung.times:
        return rung
    second = known.evidence(1) >= EVIDENCE_MIN
    why = _failures(known.again, "second attempts") if second else _failures(known.first, "first attempts")
    return replace(rung, times=times, why=f"{rung.model} {why}")


def _is_due(rung: Rung, record: Sequence[Tried], kind: IssueKind) -> bool:
    """True if a rung that is left out is to be tried: enough like issues have begun since one last tried it."""
    last, begun = 0.0, dict[tuple[str, int], Tried]()
    for tried in record:
        begun.setdefault((tried.issue_id, tried.epoch), tried)
        if (tried.model, tried.think) == (rung.model, rung.think) and alike(kind, tried.kind) >= _NEAR:
            last = tried.started_at
    return sum(alike(kind, tried.kind) for tried in begun.values() if tried.started_at > last) >= EXPLORES - 1


def _failures(seen: Sequence[_Try], what: str) -> str:
    near = [each for each in seen if each.near]
    failed, of_near = (sum(not each.passed for each in some) for some in (seen, near))
    apart = f", {of_near} of {len(near)} at issues like this one" if 0 < len(near) < len(seen) else ""
    return f"has failed {failed} of its last {len(seen)} {what} here{apart}"


def why_it_began(notes: Sequence[str]) -> tuple[str, ...]:
    """Return what the notes of an attempt say of the rung with which it began, () if the record chose none."""
    return tuple(note for note in notes if note.startswith(BEGINS))


def _why_it_begins(ladder: Sequence[Rung], known: Sequence[_RungRecord], first: int) -> str:
    """Say why a ladder begins with the rung `first`; with the lowest one, since that is tried now and then."""
    price = [f", at {in_dollars(each.cost)} each" if each.cost else "" for each in known]
    records = [
        f"{ladder[place].model} {_failures(known[place].first, 'first attempts')}{price[place]}"
        for place in range(first or 1)
        if known[place].first
    ]
    model, own = ladder[first].model, known[first].first
    if not first:
        return f"{BEGINS}{model}, as one issue in {EXPLORES} does to see whether that has changed: {records[0]}"
    passed = f"has passed {sum(each.passed for each in own)} of {len(own)}{price[first]}" if own else "is new here"
    return f"{BEGINS}{model}: {'; '.join(records)}; {model} {passed}"
