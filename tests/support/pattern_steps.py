"""Counts the steps that a regular expression takes over a text: the same on every machine, however busy it is.

Python's engine tells none, so the parsed pattern is matched once more here, by the same rules: from each character on,
greedy, giving back what a repetition took. A repetition with an upper limit gets a smaller one: what it costs does not
grow with the text, and short texts show it.
"""

import re
import sys
from collections.abc import Callable
from re import _constants as op  # the tree of a pattern; Python has no public reader of it
from re import _parser as parser
from typing import Any

_DEPTH_MAX = 100_000
"""A repetition of more than one character goes deep; no stack of C grows by that, as it would with a parser of JSON."""
LIMIT = 4
"""Finite repetitions end here, so that texts of some hundred characters are long beside them."""
STEPS_MAX = 400_000
_WORD = re.compile(r"\w")
Next = Callable[[int], int]
"""Goes on from a position with the rest of a pattern; returns where the match ends, -1 if there is none."""


def _end(at: int) -> int:
    return at


class TooManyStepsError(Exception):
    """A short text took so many steps that its growth need not be looked at."""


class _Counted:
    """A pattern over one text. Each piece of it is a function that takes a position and knows what comes after it."""

    def __init__(self, pattern: "re.Pattern[Any]", text: str) -> None:
        source = pattern.pattern
        source = source.decode("latin-1") if isinstance(source, bytes) else source
        tree = parser.parse(source, pattern.flags & ~re.DEBUG)
        self.text, self.steps, self.groups = text, 0, dict[int, tuple[int, int]]()
        self.chars = dict[tuple[str, int, str], bool]()
        self.run = self.sequence(list(tree), pattern.flags, _end)

    def step(self) -> None:
        self.steps += 1
        if self.steps > STEPS_MAX:
            raise TooManyStepsError

    def sequence(self, nodes: list[Any], flags: int, after: Next) -> Next:
        for node in reversed(nodes):
            after = self.piece(node, flags, after)
        return after

    def is_char(self, node: Any, flags: int, char: str) -> bool:
        """True if a piece that stands for one character takes this one."""
        key = repr(node), flags, char
        if key not in self.chars:
            kind, value = node
            cased = {char, char.lower(), char.upper()} if flags & re.IGNORECASE else {char}
            match kind:
                case op.LITERAL:
                    fits = any(ord(each) == value for each in cased if len(each) == 1)
                case op.NOT_LITERAL:
                    fits = all(ord(each) != value for each in cased if len(each) == 1)
                case op.ANY:
                    fits = bool(flags & re.DOTALL) or char != "\n"
                case _:
                    fits = any(in_class(each, value) for each in cased if len(each) == 1)
            self.chars[key] = fits
        return self.chars[key]

    def piece(self, node: Any, flags: int, after: Next) -> Next:
        kind, value = node
        match kind:
            case op.LITERAL | op.NOT_LITERAL | op.ANY | op.IN:
                return lambda at: self.one(node, flags, at, after)
            case op.AT:
                return lambda at: after(at) if self.at(value, flags, at) else -1
            case op.BRANCH:
                ways = [self.sequence(list(way), flags, after) for way in value[1]]
                return lambda at: next((end for way in ways if (end := self.tried(way, at)) >= 0), -1)
            case op.SUBPATTERN:
                number, more, less, inner = value
                return self.group(number, list(inner), (flags | more) & ~less, after)
            case op.ATOMIC_GROUP:
                alone = self.sequence(list(value), flags, _end)
                return lambda at: after(end) if (end := alone(at)) >= 0 else -1
            case op.ASSERT | op.ASSERT_NOT:
                return self.looked(kind is op.ASSERT, value, flags, after)
            case op.GROUPREF:
                return lambda at: self.again(value, at, after)
            case op.GROUPREF_EXISTS:
                yes, no = (self.sequence(list(each or ()), flags, after) for each in value[1:])
                return lambda at: self.tried(yes if value[0] in self.groups else no, at)
            case _:
                return self.repeat(kind, value, flags, after)

    def tried(self, way: Next, at: int) -> int:
        self.step()
        return way(at)

    def one(self, node: Any, flags: int, at: int, after: Next) -> int:
        self.step()
        return after(at + 1) if at < len(self.text) and self.is_char(node, flags, self.text[at]) else -1

    def at(self, where: Any, flags: int, at: int) -> bool:
        self.step()
        text = self.text
        match where:
            case op.AT_BEGINNING | op.AT_BEGINNING_STRING:
                lines = flags & re.MULTILINE and where is op.AT_BEGINNING
                return at == 0 or bool(lines and text[at - 1] == "\n")
            case op.AT_END | op.AT_END_STRING:
                return at == len(text) or bool(flags & re.MULTILINE and text[at] == "\n")
            case _:
                words = [0 <= each < len(text) and _WORD.match(text[each]) is not None for each in (at - 1, at)]
                return (words[0] != words[1]) is (where is op.AT_BOUNDARY)

    def group(self, number: int | None, inner: list[Any], flags: int, after: Next) -> Next:
        starts: list[int] = []

        def end(at: int) -> int:
            if number is not None:
                self.groups[number] = starts[-1], at
            return after(at)

        body = self.sequence(inner, flags, end)

        def begin(at: int) -> int:
            starts.append(at)
            found = body(at)
            starts.pop()
            return found

        return begin

    def looked(self, wanted: bool, value: Any, flags: int, after: Next) -> Next:
        direction, inner = value
        width = inner.getwidth()[0] if direction < 0 else 0
        alone = self.sequence(list(inner), flags, _end)

        def look(at: int) -> int:
            self.step()
            seen = at - width >= 0 and alone(at - width) >= 0
            return after(at) if seen is wanted else -1

        return look

    def again(self, number: int, at: int, after: Next) -> int:
        start, end = self.groups.get(number, (0, 0))
        piece = self.text[start:end]
        self.steps += len(piece)
        return after(at + len(piece)) if self.text.startswith(piece, at) else -1

    def repeat(self, kind: Any, value: Any, flags: int, after: Next) -> Next:
        least, most, inner = value
        most = len(self.text) + 1 if most is op.MAXREPEAT else min(most, LIMIT)
        least, nodes = min(least, most), list(inner)
        if len(nodes) == 1 and nodes[0][0] in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
            return lambda at: self.run_of(nodes[0], flags, (least, most), kind, at, after)
        if kind is op.POSSESSIVE_REPEAT:
            alone = self.sequence([(op.MAX_REPEAT, value)], flags, _end)
            return lambda at: after(end) if (end := alone(at)) >= 0 else -1
        rounds: list[tuple[int, int]] = []

        def more(at: int) -> int:
            self.step()
            done, began = rounds.pop()
            again = done < most and (at > began or done < least)
            stop = done >= least
            end = -1
            for way in (again, False) if kind is op.MAX_REPEAT else (False, again):
                if end >= 0 or not (way or stop):
                    continue
                if way:
                    rounds.append((done + 1, at))
                    depth = len(rounds)
                    end = body(at)
                    del rounds[depth - 1 :]
                else:
                    end = after(at)
            rounds.append((done, began))
            return end

        body = self.sequence(nodes, flags, more)

        def begin(at: int) -> int:
            rounds.append((0, -1))
            depth = len(rounds)
            end = more(at)
            del rounds[depth - 1 :]
            return end

        return begin

    def run_of(self, node: Any, flags: int, limits: tuple[int, int], kind: Any, at: int, after: Next) -> int:
        """Match a repeated character."""
        end, (least, most) = at, limits
        lazy = kind is op.MIN_REPEAT
        while end < len(self.text) and end - at < most and self.is_char(node, flags, self.text[end]):
            self.step()
            if lazy and end - at >= least and (over := after(end)) >= 0:
                return over
            end += 1
        if end - at < least:
            return -1
        if lazy or kind is op.POSSESSIVE_REPEAT:
            return after(end)
        for back in range(end, at + least - 1, -1):
            self.step()
            if (over := after(back)) >= 0:
                return over
        return -1


def in_class(char: str, items: list[Any]) -> bool:
    """True if a class of characters, as a parsed pattern has it, holds a character."""
    code = ord(char)
    kinds = {
        op.CATEGORY_DIGIT: char.isdigit(),
        op.CATEGORY_SPACE: char.isspace(),
        op.CATEGORY_WORD: char.isalnum() or char == "_",
    }
    kinds |= {getattr(op, str(kind).replace("CATEGORY_", "CATEGORY_NOT_")): not is_it for kind, is_it in kinds.items()}
    fits = any(
        (kind is op.LITERAL and code == value)
        or (kind is op.RANGE and value[0] <= code <= value[1])
        or (kind is op.CATEGORY and kinds.get(value, False))
        for kind, value in items
    )
    return fits != (items[0][0] is op.NEGATE)


def _searched(pattern: "re.Pattern[Any]", text: str, *, anchored: bool) -> tuple[int, list[int]]:
    counted, at, every = _Counted(pattern, text), 0, []
    depth = sys.getrecursionlimit()
    sys.setrecursionlimit(_DEPTH_MAX)
    try:
        while at <= len(text):
            counted.step()
            counted.groups.clear()
            end = counted.run(at)
            every += [end] * (end >= 0)
            if anchored:
                break
            at = max(end, at + 1)
    finally:
        sys.setrecursionlimit(depth)
    return counted.steps, every


def steps(pattern: "re.Pattern[Any]", text: str, *, anchored: bool) -> int:
    """Return how many steps it takes to find all that a pattern finds in a text, or what it finds at its beginning."""
    return _searched(pattern, text, anchored=anchored)[0]


def ends(pattern: "re.Pattern[Any]", text: str) -> list[int]:
    return _searched(pattern, text, anchored=False)[1]
