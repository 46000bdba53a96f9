"""The ladder of recovery (N11, L5, L14): ordered rungs, each a model with a number of charged attempts.

A ladder is climbed, never descended: a rung that has been used, or whose tier an attempt has reached, is the lowest of
all later attempts until the issue is unblocked. The last rung repeats until the issue's cap (docs/decisions.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from noface.core.issue import Issue
from noface.core.streaks import Attempts, identical
from noface.core.taxonomy import FailureKind


@dataclass(frozen=True, slots=True)
class Rung:
    """One step: `model` for `times` charged attempts, thinking longer if `think`.

    `answers` are the failure kinds it is meant for; empty means every kind.
    """

    model: str
    tier: int
    times: int
    think: bool = False
    answers: tuple[FailureKind, ...] = ()

    def suits(self, kind: FailureKind | None) -> bool:
        """Tell whether the rung answers failures of `kind`."""
        return not self.answers or kind is None or kind in self.answers


def ladder_for(ladder: tuple[Rung, ...], tiers: Mapping[str, int], issue: Issue, model: str | None) -> tuple[Rung, ...]:
    """Return the rungs for an issue. `model` is what a person named at unblocking, before the issue's own `model`.

    A model so named comes first. Where the ladder knows it, it goes on from there; after any other model only
    stronger rungs follow. `tier` leaves out the rungs below it, as long as one is left. With `no_escalate` no other
    model follows the first.
    """
    rungs = ladder
    if issue.tier is not None:
        rungs = tuple(rung for rung in ladder if rung.tier >= issue.tier) or ladder[-1:]
    wanted = model or issue.model
    if wanted is not None and wanted != rungs[0].model:
        rungs = _beginning_with(wanted, rungs, tiers)
    if issue.no_escalate:
        return tuple(rung for rung in rungs if rung.model == rungs[0].model)
    climbing = list(rungs[:1])
    for rung in rungs[1:]:
        if rung.tier >= climbing[-1].tier:
            climbing.append(rung)
    return tuple(climbing)


def _beginning_with(model: str, rungs: tuple[Rung, ...], tiers: Mapping[str, int]) -> tuple[Rung, ...]:
    names = [rung.model for rung in rungs]
    if model in names:
        return rungs[names.index(model) :]
    first = replace(rungs[0], model=model, tier=tiers.get(model, rungs[0].tier), think=False, answers=())
    return (first, *(rung for rung in rungs if rung.tier > first.tier))


def rung_index(attempts: Attempts, ladder: tuple[Rung, ...]) -> int:
    """Return the rung of the next attempt, before the kind of failure is looked at.

    Each charged attempt uses up one of its rung's times, no progress uses up the rest.
    """
    index, used = 0, 0
    charged = tuple(attempt for attempt in attempts if attempt.charged)
    for position, attempt in enumerate(charged):
        reached = _rung_of(attempt.model, ladder, index, think=attempt.think)
        if reached > index:
            index, used = reached, 0
        used += 1
        stuck = identical(charged[: position + 1]) > 1
        if (used >= ladder[index].times or stuck) and index < len(ladder) - 1:
            index, used = index + 1, 0
    return max([index, *(_floor(attempt.tier, ladder, index) for attempt in attempts)])


def rung_used(attempts: Attempts, ladder: tuple[Rung, ...]) -> int:
    """Return the rung on which the last attempt ran."""
    last, before = attempts[-1], rung_index(attempts[:-1], ladder)
    return max(_rung_of(last.model, ladder, before, think=last.think), _floor(last.tier, ladder, before))


def suitable(ladder: tuple[Rung, ...], index: int, kind: FailureKind | None, least_tier: int = 0) -> int | None:
    """Return the first rung from `index` on that answers `kind`; where none is left, the highest below that does.

    That one repeats until the cap, as the last rung does, as long as its tier does not fall below `least_tier`. None
    where no rung answers at all.
    """
    above = next((place for place in range(index, len(ladder)) if ladder[place].suits(kind)), None)
    if above is not None:
        return above
    below = range(min(index, len(ladder)) - 1, -1, -1)
    return next((p for p in below if ladder[p].suits(kind) and ladder[p].tier >= least_tier), None)


def next_higher(ladder: tuple[Rung, ...], index: int, kind: FailureKind | None) -> int | None:
    """Return the first rung above `index` that answers `kind`, None where there is none."""
    return next((place for place in range(index + 1, len(ladder)) if ladder[place].suits(kind)), None)


def _rung_of(model: str, ladder: tuple[Rung, ...], least: int, *, think: bool) -> int:
    places = [place for place, rung in enumerate(ladder) if place >= least and rung.model == model]
    exact = [place for place in places if ladder[place].think == think]
    return (exact or places or [least])[0]


def _floor(tier: int, ladder: tuple[Rung, ...], least: int) -> int:
    """Return the lowest rung that keeps the tier from falling below an attempt's; the last where none is so high."""
    high_enough = [place for place, rung in enumerate(ladder) if place >= least and rung.tier >= tier]
    return high_enough[0] if high_enough else len(ladder) - 1
