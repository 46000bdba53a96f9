"""The merge queue's line: which stacks of candidates to prove next, and what follows of each result. Pure.

The first of the line are stacked on main, and prefixes of the stack are proven at the same time, one in each slot. The
longest green one lands. Only the gap before the first red one steps aside and is searched. A gate tells one bit at
most, so prefixes end where the chance of the first red is divided evenly. Who is rejected was red alone on main.
"""

import math
from collections import deque
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from itertools import takewhile

_OUTCOMES_MAX = 60
_SHORTER = 0.7
"""Of 0.6, 0.8, 1 and 1.3 the best at 5 and 20 percent red, 1 to 4 slots (tests/support/queue_model.py)."""
_PRIOR_RED, _PRIOR_ALL = 1.0, 12.5
"""Before anything is known, 8 of 100 candidates are taken to fail beside others."""


@dataclass(frozen=True, slots=True)
class Stack:
    """Candidates to be proven together on main, in this order; `group` is the suspects searched, 0 for the line."""

    members: tuple[str, ...]
    group: int = 0


@dataclass(frozen=True, slots=True)
class LineVerdict:
    """What follows of a result: proven stacks to land, each longer than the one before, and who failed by itself.

    `moot` are stacks under way of which the result is not needed any more.
    """

    lands: tuple[Stack, ...] = ()
    rejected: str | None = None
    moot: tuple[Stack, ...] = ()


def ends_of_prefixes(count: int, slots: int, red: float) -> tuple[int, ...]:
    """Return the lengths of the prefixes of a stack of `count` to prove in so many slots, the whole one always last."""
    if count <= slots:
        return tuple(range(1, count + 1))
    some_red = 1 - (1 - red) ** count
    ends = (math.log(1 - some_red * part / slots) / math.log(1 - red) for part in range(1, slots))
    return (*sorted({max(1, round(end)) for end in ends} - {count}), count)


@dataclass(slots=True)
class _Round:
    """Prefixes of one stack that are proven at once, the shortest first. `of_one`: a red result rejects."""

    prefixes: tuple[Stack, ...]
    green: dict[Stack, bool] = field(default_factory=dict)
    of_one: bool = False

    @property
    def awaited(self) -> tuple[Stack, ...]:
        return tuple(each for each in self.prefixes if each not in self.green)


class MergeLine:
    """The candidates that wait to land, as ids, and the suspects that stand aside.

    `each`: every prefix is proven, so that each lands as its own commit. `apart`: each is proven and lands by itself.
    """

    def __init__(self, *, each: bool = False, apart: bool = False) -> None:
        self.each, self.apart = each, apart
        self.line: list[str] = []
        self._outcomes: deque[bool] = deque(maxlen=_OUTCOMES_MAX)
        self._round: _Round | None = None
        self._groups: dict[int, tuple[str, ...]] = {}
        self._searched: dict[int, Stack] = {}
        self._last_group = 0
        self._one_only = False
        self._forming = False

    @property
    def red(self) -> float:
        """How likely a candidate is red beside others: the mean of a Beta posterior over the last outcomes."""
        return (_PRIOR_RED + sum(self._outcomes)) / (_PRIOR_ALL + len(self._outcomes))

    def add(self, candidate: str, *, first: bool = False) -> None:
        self.line.insert(0 if first else len(self.line), candidate)

    def again(self, members: Iterable[str]) -> None:
        self.line[:0] = members

    def decided(self, members: Iterable[str], *, red: bool) -> None:
        self._outcomes.extend(red for _ in members)

    def awaits_round(self, able: Container[str]) -> bool:
        return self._round is None and any(each in able for each in self.line)

    def wanted(self, slots: int, able: Container[str]) -> tuple[str, ...]:
        """Return the first of the line that are able to land, to be stacked for a round that `begin` begins."""
        if slots < 1 or not self.awaits_round(able):
            return ()
        self._forming = True
        line = [each for each in self.line if each in able]
        if self._one_only:
            return tuple(line[:1])
        if self.each or self.apart:
            return tuple(line[:slots])  # one a slot
        # A stack that is green half of the time tells most, but a red one costs a search.
        return tuple(line[: max(slots, round(_SHORTER * math.log(slots + 1) / self.red))])

    def begin(self, stacked: tuple[str, ...], slots: int) -> tuple[Stack, ...]:
        """Begin a round with those of the wanted that can be stacked on each other; return what to prove, in slots."""
        self._forming = False
        if not stacked:
            return ()
        self._one_only = False
        self.line = [each for each in self.line if each not in stacked]
        if self.apart:
            prefixes = tuple(Stack((each,)) for each in stacked)
        else:
            prefixes = tuple(Stack(stacked[:end]) for end in ends_of_prefixes(len(stacked), slots, self.red))
        self._round = _Round(prefixes, of_one=self.apart or len(stacked) == 1)
        return prefixes

    def decides(self, stack: Stack) -> bool:
        in_round = self._round is not None and self._round.of_one
        return len(stack.members) == 1 if stack.group else in_round

    def search(self) -> Stack | None:
        """Return the next suspects to prove on main, in a slot of their own; None if none wait for one."""
        group = next((each for each in self._groups if each not in self._searched), None)
        if group is None:
            return None
        members = self._groups[group]
        stack = self._searched[group] = Stack(members[: max(1, len(members) // 2)], group)
        return stack

    def ended(self, stack: Stack, *, green: bool | None) -> LineVerdict:
        """Return what follows of a result; None: it says nothing of the candidates, which are proven again."""
        if stack.group:
            awaited = self._searched.get(stack.group) == stack
            return self._searched_ended(stack, green=green) if awaited else LineVerdict()
        if self._round is None or stack not in self._round.awaited:
            return LineVerdict()
        if green is None:
            # That may be for one of them alone, so the next goes alone.
            lost, self._round, self._one_only = self._round, None, True
            self.again(dict.fromkeys(member for each in lost.prefixes for member in each.members))
            return LineVerdict(moot=tuple(each for each in lost.awaited if each != stack))
        self._round.green[stack] = green
        return self._apart(self._round, stack) if self.apart else self._settled(self._round)

    def withdraw(self, candidate: str) -> LineVerdict:
        """Take a candidate out of the line, its round or its group; what it was stacked on goes on."""
        if candidate in self.line:
            self.line.remove(candidate)
        for group, members in tuple(self._groups.items()):
            if candidate in members:
                self._set_group(group, tuple(each for each in members if each != candidate))
                stack = self._searched.get(group, Stack(()))
                return LineVerdict(moot=(self._searched.pop(group),) if candidate in stack.members else ())
        this = self._round
        if this is None or all(candidate not in each.members for each in this.prefixes):
            return LineVerdict()
        left = tuple(each for each in this.prefixes if candidate not in each.members)
        if not self.apart:
            below = left[-1].members if left else ()
            self.again(each for each in this.prefixes[-1].members[len(below) :] if each != candidate)
        moot = tuple(each for each in this.awaited if each not in left)
        known = {each: this.green[each] for each in left if each in this.green}
        is_over = self.apart and len(known) == len(left)  # each has been told of already
        self._round = _Round(left, known, of_one=this.of_one) if left and not is_over else None
        verdict = self._settled(self._round) if self._round is not None and not self.apart else LineVerdict()
        return LineVerdict(verdict.lands, moot=(*moot, *verdict.moot))

    def _settled(self, this: _Round) -> LineVerdict:
        prefixes, longest = this.prefixes, this.prefixes[-1]
        if this.awaited and (self.each or not this.green.get(longest, False)):
            return LineVerdict()
        self._round = None
        if this.of_one and not this.green[longest]:
            return LineVerdict(rejected=longest.members[0])
        greens = tuple(each for each in prefixes if this.green.get(each))
        if self.each:  # one that is green above a red one would bring both in one commit
            greens = tuple(takewhile(lambda each: this.green[each], prefixes))
        landing = greens[-1].members if greens else ()
        if behind := next((each for each in prefixes if len(each.members) > len(landing)), None):
            self.again(longest.members[len(behind.members) :])
            self._last_group += 1
            self._set_group(self._last_group, behind.members[len(landing) :])
        return LineVerdict(greens, moot=this.awaited)

    def _apart(self, this: _Round, stack: Stack) -> LineVerdict:
        if not this.awaited:
            self._round = None
        if this.green[stack]:
            return LineVerdict((stack,))
        return LineVerdict(rejected=stack.members[0])

    def _searched_ended(self, stack: Stack, *, green: bool | None) -> LineVerdict:
        members = self._groups[stack.group]
        del self._searched[stack.group]
        rest = tuple(each for each in members if each not in stack.members)
        if green:
            self._set_group(stack.group, rest)
            if self._round is None and not self._forming:
                return LineVerdict((stack,))
            self.again(stack.members)  # to land it now would make the round worthless
        elif len(stack.members) == 1:
            self.again(rest if green is False else members)  # of what could not be proven the line tries another way
            self._set_group(stack.group, ())
            return LineVerdict(rejected=members[0]) if green is False else LineVerdict()
        else:
            self._set_group(stack.group, stack.members)
            self.again(rest)
        return LineVerdict()

    def _set_group(self, group: int, members: tuple[str, ...]) -> None:
        self._groups[group] = members
        if not members:
            del self._groups[group]
