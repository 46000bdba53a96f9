"""The search for a patch: single edits in order of suspicion, then, in the second tier, pairs of edits.

Generate and validate, as GenProg began it (Le Goues, Nguyen, Forrest, Weimer: "GenProg: a generic method for
automatic software repair", IEEE TSE 2012), but in a fixed order instead of a random one, so that the same order
always gives the same patch. Pairs are grown from a beam: the singles that changed how the tests fail, fittest first.
"""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from noface.demo.edits import Edit, apply
from noface.demo.mutate import compiles
from noface.demo.oracle import Oracle
from noface.demo.outcome import Fitness, Goal
from noface.demo.scratch import Scratch

PROGRESS_EVERY = 6
AHEAD_MAX = 3
NOTHING = Fitness(0, 0)


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
    known: int


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
    best: Fitness = NOTHING
    best_edits: tuple[Edit, ...] = ()
    telling: list[tuple[Fitness, bool, int, Edit]] = field(default_factory=list)
    deadline: float = 0.0

    def run(self, singles: list[Edit], earlier_rounds: int) -> Found:
        """Try singles, then pairs; return the first patch, or the best partial one.

        A round that follows others goes on where they stopped: with the next singles, and when these are used up
        with the next pairs.
        """
        self.deadline = time.monotonic() + self.budget.seconds
        self.best = self.goal.fitness(self.goal.before)
        known = len(singles)
        rounds = -(-known // self.budget.singles)
        again = max(0, earlier_rounds - rounds + 1) if rounds else 0
        start = earlier_rounds * self.budget.singles if not again else 0
        window = singles[start : start + self.budget.singles] if not again or self.budget.pairs else []
        self.planned = len(window) + (self.budget.pairs if window else 0)
        for rank, edit in enumerate(window):
            if self._over():
                break
            if self._solves((edit,), rank):
                return Found((edit,), False, self.tried, self.best, known)
        past = again * self.budget.pairs
        for pair in itertools.islice(self._pairs(singles, past + self.budget.pairs), past, None):
            if self._over():
                break
            if self._solves(pair, None):
                return Found(pair, False, self.tried, self.best, known)
        return Found(self.best_edits, True, self.tried, self.best, known)

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

    def _pairs(self, singles: list[Edit], most: int) -> Iterator[tuple[Edit, Edit]]:
        """Yield up to `most` pairs that don't clash, none twice."""
        given: set[frozenset[Edit]] = set()
        for first, second in self._couples(singles):
            if len(given) == most:
                return
            pair = frozenset({first, second})
            if pair not in given and not first.clashes(second) and len(pair) > 1:
                given.add(pair)
                yield first, second

    def _couples(self, singles: list[Edit]) -> Iterator[tuple[Edit, Edit]]:
        """Couple singles that brought a test further with every other; then the telling ones among themselves.

        The second part goes along diagonals, so that promising comes with promising first.
        """
        fittest = sorted(self.telling, key=lambda one: one[:-1], reverse=True)
        start = self.goal.fitness(self.goal.before)
        ahead = [edit for fitness, _, _, edit in fittest if fitness > start]
        for second in singles:
            yield from ((first, second) for first in ahead[:AHEAD_MAX])
        firsts = [edit for *_, edit in fittest][: self.budget.beam]
        seconds = list(dict.fromkeys((*(edit for *_, edit in fittest), *singles)))
        for diagonal in range(len(firsts) + len(seconds)):
            for row, first in enumerate(firsts[: diagonal + 1]):
                if diagonal - row < len(seconds):
                    yield first, seconds[diagonal - row]
