"""A merge queue in model time: candidates, gates and people at random, and who breaks whom is known.

It drives `MergeLine` as the engine does, and counts what came of it. `python -m support.queue_model` prints what lands
in the time of one gate after another, beside what any queue could land at most.
"""

import heapq
import itertools
import math
import random
from dataclasses import dataclass, field

from noface.engine.landing.line import LineVerdict, MergeLine, Stack


@dataclass(frozen=True)
class World:
    """What happens: `red` is how likely a candidate breaks main, `pairs` two of them each other; times in gates."""

    slots: int = 4
    workers: int = 16
    candidates: int = 60
    red: float = 0.05
    pairs: float = 0.0
    flaky: float = 0.0
    withdrawn: float = 0.0
    conflicts: float = 0.0
    person: float = 0.0
    agent: float = 1.0
    spread: float = 0.0
    each: bool = False
    apart: bool = False


@dataclass
class Night:
    """One night of a queue in such a world: what landed, who was rejected, and the faults that were seen."""

    world: World
    seed: int
    landed: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    innocent: list[str] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    gates: int = 0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.dice, self.line = random.Random(self.seed), MergeLine(each=self.world.each, apart=self.world.apart)
        self.bad: set[str] = set()
        self.enemies: set[frozenset[str]] = set()
        self.clashes: set[frozenset[str]] = set()
        self.running: dict[int, tuple[Stack, int, tuple[str, ...]]] = {}
        self.proven: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
        self.events: list[tuple[float, int, str, object]] = []
        self.count, self.runs, self.main, self.searched_last = 0, itertools.count(), 0, False

    def play(self) -> "Night":
        for _ in range(self.world.workers):
            self._arrive_later()
        while self.events:
            self.seconds, _, what, about = heapq.heappop(self.events)
            getattr(self, f"_{what}")(about)
            self._fill()
        if left := {*map(str, range(self.count))} - {*self.landed, *self.rejected, *self.gone}:
            self.faults.append(f"never decided: {sorted(left)}")
        return self

    def _at(self, seconds: float, what: str, about: object) -> None:
        heapq.heappush(self.events, (seconds, next(self.runs), what, about))

    def _arrive_later(self) -> None:
        if self.count == self.world.candidates:
            return
        name, self.count = str(self.count), self.count + 1
        if self.dice.random() < self.world.red:
            self.bad.add(name)
        for known, chance in ((self.enemies, self.world.pairs), (self.clashes, self.world.conflicts)):
            if self.dice.random() < chance and self.count > 1:
                known.add(frozenset((name, str(self.dice.randrange(max(0, self.count - 20), self.count - 1)))))
        self._at(self.seconds + self.world.agent * (0.5 + self.dice.random()), "arrive", name)
        if self.dice.random() < self.world.withdrawn:
            self._at(self.seconds + self.world.agent + 3 * self.dice.random(), "withdraw", name)

    def _arrive(self, name: str) -> None:
        if name not in self.gone:
            self.line.add(name)
        if self.dice.random() < self.world.person:
            self.main += 1
        self._arrive_later()

    def _withdraw(self, name: str) -> None:
        if name not in {*self.landed, *self.rejected}:
            self.gone.add(name)
            verdict = self.line.withdraw(name)
            if verdict.rejected is not None:
                self.faults.append("rejected without a result")
            self._follow(verdict)

    def _red(self, members: tuple[str, ...]) -> bool:
        there = {*self.landed, *members}
        return bool(self.bad & {*members}) or any(pair <= there and pair & {*members} for pair in self.enemies)

    def _clashes(self, name: str, others: tuple[str, ...]) -> bool:
        return any(name in pair and pair <= {name, *others} for pair in self.clashes)

    def _fill(self) -> None:
        free = self.world.slots - len(self.running)
        able = {*self.line.line}
        in_turn = self.world.slots == 1 and not self.searched_last
        kept = 1 if self.line.awaits_round(able) and not in_turn else 0
        while free > kept and (stack := self.line.search()) is not None:
            self.searched_last, free = True, free - 1
            if clash := self._unfit(stack):
                self._follow(self.line.ended(stack, green=None))
                for name in clash:
                    self._follow(self.line.withdraw(name))
                    self.line.again((name,))
                self._fill()
                return
            self._begin(stack)
        if wanted := self.line.wanted(free, able):
            stacked: list[str] = []
            for name in wanted:
                if self._clashes(name, tuple(self.landed)):
                    self.line.withdraw(name)
                    self.rejected.append(name)
                elif not self._clashes(name, tuple(stacked)) or self.world.apart:
                    stacked.append(name)
            stacks = self.line.begin(tuple(stacked), free)
            self.searched_last = self.searched_last and not stacks
            for stack in stacks:
                self._begin(stack)

    def _unfit(self, stack: Stack) -> tuple[str, ...]:
        return tuple(
            name
            for place, name in enumerate(stack.members)
            if self._clashes(name, (*self.landed, *stack.members[:place]))
        )

    def _begin(self, stack: Stack) -> None:
        if {*stack.members} & {*self.landed, *self.rejected, *self.gone} or len({*stack.members}) < len(stack.members):
            self.faults.append(f"stacks what it must not: {stack}")
        if len(self.running) >= self.world.slots:
            self.faults.append("more gates than slots")
        tree = (tuple(sorted(self.landed)), stack.members)
        known = tree in self.proven and not self.world.apart
        run, self.gates = next(self.runs), self.gates + (not known)
        self.running[run] = (stack, self.main, tuple(self.landed))
        red = self._red(stack.members) or (not known and self.dice.random() < self.world.flaky)
        gate = 0 if known else 1 + self.world.spread * self.dice.random()
        self._at(self.seconds + gate, "end", (run, not red, tree))

    def _end(self, ended: tuple[int, bool, tuple[tuple[str, ...], tuple[str, ...]]]) -> None:
        run, green, tree = ended
        if run not in self.running:
            return
        stack, self.base, self.below = self.running.pop(run)
        if green and not self.world.apart:
            self.proven.add(tree)
        self.on_main = (self.main, tuple(self.landed)) == (self.base, self.below)
        self._follow(self.line.ended(stack, green=green))

    def _follow(self, verdict: LineVerdict) -> None:
        self.running = {run: each for run, each in self.running.items() if each[0] not in verdict.moot}
        if verdict.rejected is not None:
            self.line.decided((verdict.rejected,), red=True)
            self.rejected.append(verdict.rejected)
            if not self._red((verdict.rejected,)):
                self.innocent.append(verdict.rejected)
        if not verdict.lands:
            return
        members = verdict.lands[-1].members
        if self.world.each and any(len(more.members) != place for place, more in enumerate(verdict.lands, 1)):
            self.faults.append(f"several in one commit: {verdict.lands}")
        if not (self.on_main or self.world.apart):
            self.line.again(members)  # main has moved meanwhile
            return
        if not self.world.apart and self._red(members):
            self.faults.append(f"red on main: {members}")
        self.landed += members
        self.line.decided(members, red=False)


def limit(red: float, slots: int) -> float:
    """Return how much any queue may land at most, as a multiple of one gate after another: a gate tells one bit."""
    bits = -(red * math.log2(red) + (1 - red) * math.log2(1 - red)) if red else 0.0
    return (1 - red) * slots / bits if bits else math.inf


def throughput(world: World, seeds: int = 3) -> float:
    """Return what lands in the time of a gate, over some nights."""
    nights = [Night(world, seed).play() for seed in range(seeds)]
    return sum(len(night.landed) for night in nights) / sum(night.seconds for night in nights)


def main() -> None:
    print("landed per gate; in brackets what any queue could")
    for red in (0.02, 0.05, 0.1, 0.2):
        row = [
            f"{throughput(World(slots, 64, 1500, red, agent=1.0)):5.1f} ({limit(red, slots):4.1f})"
            for slots in (1, 2, 4, 8)
        ]
        print(f"{red:4.0%} red, 1 2 4 8 slots: {'  '.join(row)}   one after another: {1 - red:.2f}")


if __name__ == "__main__":
    main()
