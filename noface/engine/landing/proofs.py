"""Proves stacks of waiting work in gate slots, and tells the line what came of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile

from noface.attempt.changes import why_held_back
from noface.attempt.environment import LANDING_SLOT
from noface.engine.changed_tests import let_for
from noface.engine.context import RunContext
from noface.engine.landing.line import LineVerdict, MergeLine, Stack
from noface.engine.landing.stacks import StackBuilt, StackedEntry, build, has_leave, is_judged, overruled, prove_stack
from noface.engine.landing.waiting import QueueEntry, WaitingWork
from noface.engine.stations import OpenStory, Stations, Steps
from noface.model.failure import Failure
from noface.model.gate import Proof

_STACKS_MAX = 4
"""Each stack is proven in a checkout with its setup; beyond this, more of them land hardly more."""


@dataclass(frozen=True, slots=True)
class ProvenStack:
    """Steps whose last tree, made on `main`, is proven: they land as one commit."""

    steps: tuple[StackedEntry, ...]
    proof: Proof
    main: str

    @property
    def entries(self) -> tuple[QueueEntry, ...]:
        return tuple(step.entry for step in self.steps)


@dataclass(slots=True, eq=False)
class _Proving:
    """A stack that is proven on `main`, in a slot. `moot`: nobody waits for the result any more."""

    stack: Stack
    steps: tuple[StackedEntry, ...]
    main: str
    slot: str
    moot: bool = False
    story: OpenStory | None = None


class Proofs:
    """The proofs under way, and what is proven and has yet to land. `has_news`: one has ended since that was read."""

    def __init__(self, context: RunContext, stations: Stations, waiting: WaitingWork, line: MergeLine) -> None:
        self._context, self._stations, self._waiting, self.line = context, stations, waiting, line
        self._under_way: list[_Proving] = []
        self._green: dict[Stack, ProvenStack] = {}
        self._proven: list[tuple[ProvenStack, ...]] = []
        self.has_news = False
        waiting.withdrawn = lambda issue_id: self._follow(self.line.withdraw(issue_id))

    def prove_next(self) -> Steps[None]:
        """Begin the proofs for which slots are free: suspects have one each, and of several the line keeps one."""
        taken, able = {each.slot for each in self._under_way}, self._waiting.able()
        names = (LANDING_SLOT, *(f"l{number:03}" for number in range(1, self._slots)))
        slots = [name for name in names if name not in taken]
        if not slots or not self._waiting.by_issue:
            return
        kept = 1 if self._slots > 1 and self.line.awaits_round(able) else 0
        while len(slots) > kept and (stack := self.line.search()) is not None:
            yield from self._search(stack, slots.pop())
        wanted = self._alike(self.line.wanted(len(slots), able))
        built = yield from self._built(wanted, apart=self.line.apart)
        stacks = self.line.begin(tuple(step.entry.issue.id for step in built.steps), len(slots))
        if stacks:
            self._green.clear()
        for stack in stacks:
            of_stack = tuple(step for step in built.steps if step.entry.issue.id in stack.members)
            self._begin(_Proving(stack, of_stack, built.main, slots.pop(0)))

    def _search(self, stack: Stack, slot: str) -> Steps[None]:
        built = yield from self._built(stack.members)
        if len(built.steps) == len(stack.members):
            self._begin(_Proving(stack, tuple(built.steps), built.main, slot))
            return
        self._follow(self.line.ended(stack, green=None))
        for name in stack.members:
            if name in self._waiting.by_issue and all(step.entry.issue.id != name for step in built.steps):
                self.line.withdraw(name)
                self.line.again((name,))

    @property
    def _slots(self) -> int:
        context = self._context
        if context.suspects:
            return 1
        at_once = (context.env.turns.limit or 0) // 2
        return max(1, min(_STACKS_MAX, context.settings.slots, at_once))

    def _alike(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the first that may be proven together: judged alike, without leave, not held up, no suspects."""
        context, entries = self._context, self._named(names)
        if not names or self.line.apart:
            return names

        def is_single(entry: QueueEntry) -> bool:
            return bool(entry.held) or entry.issue.id in context.suspects or has_leave(context, entry)

        judged = is_judged(context, entries[0])
        beside = takewhile(lambda each: is_judged(context, each) is judged and not is_single(each), entries[1:])
        return (names[0], *(() if is_single(entries[0]) else (entry.issue.id for entry in beside)))

    def _built(self, names: Sequence[str], *, apart: bool = False) -> Steps[StackBuilt]:
        entries = [entry for entry in self._named(names) if self._waiting.is_free(entry)]
        for entry in entries:
            entry.mains, entry.ready_at = self._context.reader.mains(), None
        nothing = StackBuilt("")
        if not entries or self._stations.stopping:
            return nothing
        try:
            built = yield from self._waiting.in_thread(entries[0], partial(build, self._context, entries, apart=apart))
        except Exception:
            if any(map(self._waiting.holds, entries)):
                raise
            return nothing
        for entry, why in built.refused:
            self._waiting.refuse(entry, why)
        if self._stations.stopping:
            return nothing
        held = tuple(takewhile(lambda step: apart or self._waiting.holds(step.entry), built.steps))
        return replace(built, steps=[step for step in held if self._waiting.holds(step.entry)])

    def _named(self, names: Iterable[str]) -> list[QueueEntry]:
        return [self._waiting.by_issue[name] for name in names]

    def _begin(self, proving: _Proving) -> None:
        self._under_way.append(proving)
        proving.story = self._stations.begin(self._prove(proving))

    def _prove(self, proving: _Proving) -> Steps[None]:
        context, steps = self._context, proving.steps
        first, place = steps[0].entry, (context, steps, proving.main, proving.slot)
        let = let_for(context.questions.advice(first.issue.id), first.number) if len(steps) == 1 else None
        prove = partial(prove_stack, *place, is_judged(context, first), let, self.line.decides(proving.stack))
        try:
            result = yield from self._waiting.in_thread(steps[-1].entry, prove)
        except Exception:
            if not proving.moot:
                raise
            return
        finally:
            self._under_way.remove(proving)
            self.has_news = True
        if proving.moot:
            return
        if isinstance(result, Proof):
            self._note_left_out(steps, result)
            self._green[proving.stack] = ProvenStack(steps, result, proving.main)
            self._follow(self.line.ended(proving.stack, green=True))
        elif result is None or (not result.of_work and len(steps) > 1):
            self._follow(self.line.ended(proving.stack, green=None))
        else:
            failure = result.failure
            if result.of_work:
                failure = overruled(context.env.plumbing, steps[-1].entry, failure, proving.main)
            self._follow(self.line.ended(proving.stack, green=False), failure)

    def _note_left_out(self, steps: tuple[StackedEntry, ...], proof: Proof) -> None:
        for step in steps:
            entry, context = step.entry, self._context
            if step.candidate != entry.candidate:
                about = {"number": entry.number, "main": proof.main}
                if why := why_held_back(context.env, entry.candidate):
                    context.log_event("past_left_out", entry.issue.id, why=why, **about)
                else:
                    context.log_event("history_left_out", entry.issue.id, **about)

    def _follow(self, verdict: LineVerdict, failure: Failure | None = None) -> None:
        for each in self._under_way:
            if each.stack in verdict.moot and not each.moot:
                each.moot = True
                if each.story is not None and each.story.job is not None:
                    each.story.job.cancel.cancel()
        if verdict.rejected is not None and failure is not None:
            self.line.decided((verdict.rejected,), red=True)
            self._waiting.refuse(self._waiting.by_issue[verdict.rejected], failure)
        if verdict.lands:
            self._proven.append(tuple(self._green.pop(stack) for stack in verdict.lands))

    def next(self) -> tuple[ProvenStack, ...] | None:
        """Return what lands next, each stack above the one before it; a fresh proof only if no round is under way."""
        if self._proven:
            return self._proven.pop(0)
        able = self._waiting.able() if self.line.awaits_round(self._waiting.by_issue) else frozenset()
        fresh = self._named(name for name in self.line.line if name in able)
        if not any(entry.proof for entry in fresh):
            return None
        main = self._context.env.plumbing.main()
        for entry in fresh:
            if (proof := entry.proof) is not None and proof.main == main:
                self.line.withdraw(entry.issue.id)
                return (ProvenStack((StackedEntry(entry, proof.candidate, proof.tree, proof.candidate),), proof, main),)
        return None
