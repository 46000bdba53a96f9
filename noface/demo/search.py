"""The search for a patch: single edits in order of suspicion, then, in the second tier, pairs of edits.

Generate and validate, as GenProg began it (Le Goues, Nguyen, Forrest, Weimer: "GenProg: a generic method for
automatic software repair", IEEE TSE 2012), but in a fixed order instead of a random one, so that the same order
always gives the same patch. Pairs are grown from a beam: the singles that changed how the tests fail, fittest first.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from noface.demo.edits import Edit, apply
from noface.demo.mutate import compiles
from noface.demo.oracle import Oracle
from noface.demo.outcome import Fitness, Goal, Outcome
from noface.demo.scratch import Scratch

PROGRESS_EVERY = 6


@dataclass(frozen=True, slots=True)
class Budget:
    """How far a search goes, in candidates; `seconds` only guards against very slow tests."""

    singles: int
    pairs: int
    beam: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Found:
    """The end of a search. `partial` marks edits that only bring more tests to pass; no edits, nothing of use."""

    edits: tuple[Edit, ...]
    partial: bool
    tried: int
    best: Fitness


@dataclass(slots=True)
class Search:
    """One search over `singles`, which come most promising first; `texts` are the files before any edit."""

    oracle: Oracle
    scratch: Scratch
    goal: Goal
    texts: dict[str, bytes]
    budget: Budget
    say: Callable[[str], None]
    refused: frozenset[tuple[tuple[str, bytes], ...]] = frozenset()
    tried: int = 0
    planned: int = 0
    best: Fitness = Fitness(0, 0)
    best_edits: tuple[Edit, ...] = ()
    telling: list[tuple[Fitness, bool, int, Edit]] = field(default_factory=list)
    deadline: float = 0.0

    def run(self, singles: list[Edit], skip: int) -> Found:
        """Try singles from the `skip`-th on, then pairs; return the first patch, or the best partial one."""
        self.deadline = time.monotonic() + self.budget.seconds
        self.best = self.goal.fitness(self.goal.before)
        window = singles[skip : skip + self.budget.singles]
        self.planned = len(window) + self.budget.pairs
        for rank, edit in enumerate(window):
            if self._over():
                break
            if self._solves((edit,), rank):
                return Found((edit,), False, self.tried, self.best)
        for pair in self._pairs(singles):
            if self._over():
                break
            if self._solves(pair, None):
                return Found(pair, False, self.tried, self.best)
        return Found(self.best_edits, True, self.tried, self.best)

    def _over(self) -> bool:
        return time.monotonic() > self.deadline

    def _solves(self, edits: tuple[Edit, ...], rank: int | None) -> bool:
        changed = apply(self.texts, edits)
        if tuple(sorted(changed.items())) in self.refused or not all(compiles(*item) for item in changed.items()):
            return False
        self.scratch.write(changed)
        outcome = self.oracle.run()
        self.scratch.write({path: self.texts[path] for path in changed})
        self.tried += 1
        if self.goal.reached(outcome):
            return True
        fitness, broke = self.goal.fitness(outcome), self.goal.broke(outcome)
        if rank is not None and not broke and self.goal.changed(outcome):
            self.telling.append((fitness, not self.goal.crashes(outcome), -rank, edits[0]))
        if fitness.passing > self.best.passing and not broke:
            self.best, self.best_edits = fitness, edits
        if self.tried % PROGRESS_EVERY == 0:
            wanted = len(self.goal.wanted)
            self.say(f"{self.tried}/{self.planned} candidates, best {self.best.passing}/{wanted} tests pass")
        return False

    def _pairs(self, singles: list[Edit]) -> Iterator[tuple[Edit, Edit]]:
        """Join the beam with other singles along diagonals: promising with promising first."""
        if not self.budget.pairs:
            return
        fittest = [one[-1] for one in sorted(self.telling, key=lambda one: one[:-1], reverse=True)]
        firsts = fittest[: self.budget.beam]
        seconds = list(dict.fromkeys((*fittest, *singles)))
        given: set[frozenset[Edit]] = set()
        for diagonal in range(len(firsts) + len(seconds)):
            for row, first in enumerate(firsts[: diagonal + 1]):
                column = diagonal - row
                if column >= len(seconds) or seconds[column].clashes(first) or seconds[column] == first:
                    continue
                pair = frozenset({first, seconds[column]})
                if pair not in given:
                    given.add(pair)
                    yield first, seconds[column]
                if len(given) >= self.budget.pairs:
                    return
