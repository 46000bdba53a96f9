"""How much tests ask for, body by body: what each asserts, calls and is given, in whatever language (law 11). Pure.

A body is a function of a test file, its decorators, or what stands outside of all functions. Where it ends, its
indentation says. A body is known by its name and by what it stands in, so that each of main's has its counterpart, or
one that was renamed or moved and is much like it. What a body loses counts unless other tests gain it: a test may be
split, merged, parametrised, or call a helper that asserts, by its name or a new one. What this cannot see: assertions
that ask for less (that is `tampering`), and what replaces as many others.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from noface.data import pattern

Texts = Mapping[str, str]
"""What test files hold, by path."""
_Key = tuple[str, ...]
_WIDE = re.compile(r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'')
_TICKED = re.compile(r'`(?:\\.|[^`\\]){0,9999}+`|"(?:\\.|[^"\\\n]){0,400}+"|\'(?:\\.|[^\'\\\n]){0,400}+\'|//[^\n]*')
_TICKS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".go")
_VALUE = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\])*`|\b\d[\w.]*')
_CALL = re.compile(r"\b([A-Za-z_]\w*)!?\(")
_NAME = re.compile(r"[A-Za-z_]\w*")
_GOES_ON = re.compile(r"\s*([)\]}>{]|(?:end|else|elif|except|catch|finally|rescue|ensure|then|fi|done|esac)\b)")
_ENDS = re.compile(r"\s*(?:return|raise\s+unittest\.SkipTest|sys\.exit|process\.exit|exit)\b")
_NEVER = re.compile(r"\s*+(?:if|while)\s*+\(?\s*+(?:False|false|0)\s*+\)?\s*+[:{]")
_OPENS = re.compile(r"(?!(?:async|class|def|elif|for|if|while|with)\b).{0,200}[(\[{]")
_REMARK = re.compile(r"\s(?:#|//)\s.*$")
_ROW_ALONE = re.compile(r"[(\[{].*[)\]}],?")
_BLANKS = re.compile(r" (?!\w)|(?<!\w) ")
_ROW = re.compile(r"[(\[{\"'`\d]")
_ROW_LINES_MAX = 12
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_WORDS_OF_CHECKS = frozenset({"with", "pytest", "as", "self", "await"})
_TAB = 4
_ALIKE = 0.6
_LINE_ALIKE = 0.75
_SAME_NAME = 0.3
_CHARS_MAX = 1_000
_PAIRS_MAX = 2_000
_JOINED_MAX = 60
_MOST = 2
"""So many assertions have to be gone where others remain; a body that keeps fewer than half then has lost most."""


def _tests(key: str) -> re.Pattern[str]:
    return pattern("integrity", "tests", key)


@dataclass(slots=True)
class _Writing:
    """A body while its lines are read: `depth` is how far it is indented."""

    name: str
    place: str
    depth: int
    test: bool
    head: list[tuple[int, str]]
    lines: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Body:
    """A function of a test file, or the rest of the file, without a name. `head` are its decorators and first line."""

    path: str
    name: str
    test: bool
    head: tuple[str, ...]
    written: tuple[tuple[int, str], ...]

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines that may run."""
        return tuple(_living(self.written))

    @property
    def label(self) -> str:
        """The test's file and name."""
        return f"{self.path}::{self.name}" if self.name else self.path

    @cached_property
    def asserts(self) -> tuple[str, ...]:
        """Its assertions, each on one line and without space."""
        return tuple(map(_plain, filter(asserting, self.lines)))

    @cached_property
    def calls(self) -> frozenset[str]:
        """The names that it calls, but for assertions and what the languages bring with them."""
        names = {name for line in self.lines for name in _CALL.findall(line)}
        return frozenset(name for name in names if not _tests("no_call").fullmatch(name))

    @cached_property
    def words(self) -> Counter[str]:
        """The words and values of its lines."""
        return Counter(word for line in self.lines for each in (_NAME, _VALUE) for word in each.findall(line))

    @cached_property
    def all(self) -> Counter[str]:
        """Its lines with its head, without space."""
        return Counter(map(_plain, (*self.head, *self.lines)))

    def more_than(self, other: "Body | None") -> tuple[str, ...]:
        """Return the lines that it has and the other one has not; rows over several lines that are new as a whole."""
        more = self.all - (other.all if other is not None else Counter())
        rows = []
        for row in (*_rows(self.head), *_rows(self.lines)):
            if (lines := Counter(map(_plain, row))) <= more:
                more -= lines
                rows.append(_plain(" ".join(row)))
        return (*more.elements(), *rows)

    @cached_property
    def cases(self) -> Counter[str]:
        """The values that it is given in rows: by a decorator, a table, a loop over what stands there."""
        rows = [line for line in self.lines if _tests("row").search(line) and not asserting(line)]
        return sum(map(_values, (*self.head[:-1], *rows)), Counter())


@dataclass(frozen=True, slots=True)
class Loss:
    """What a body of main has lost. `gone`: the test is not there any more. `most`: it has lost all or most of it."""

    path: str
    name: str
    how: str = ""
    gone: bool = False

    @property
    def test(self) -> str:
        """The test's file and name."""
        return f"{self.path}::{self.name}" if self.name else self.path


@dataclass(frozen=True, slots=True)
class Weaker:
    """What a change takes from main's tests: bodies that are gone or have lost most, and assertions over all of them.

    `less` are the bodies with fewer assertions than on main.
    """

    lost: tuple[Loss, ...] = ()
    fewer: int = 0
    less: tuple[str, ...] = ()


AS_STRONG = Weaker()
"""Nothing is lost."""


def asserting(line: str) -> bool:
    """True if a line asserts something that may be wrong."""
    if not _tests("assertion").search(line) or _tests("no_assertion").search(line):
        return False
    if line.count("(") != line.count(")"):
        return True
    values, names = _VALUE.findall(line), set(_NAME.findall(_VALUE.sub("", line)))
    return len({*values}) > 1 or bool(names - set(_tests("assertion_word").findall(line)))


def bodies(path: str, text: str) -> dict[_Key, Body]:
    """Return the bodies of a test file by path, what they stand in, name, and a number if that is not enough."""
    result: dict[_Key, Body] = {}
    alike = Counter[_Key]()
    for writing in _written(text, _inside(path, text)):
        below = writing.lines[0][1] if writing.lines else ""
        name = below.strip("\"'`,") if writing.name.endswith("(") else writing.name
        key: _Key = (path, writing.place, name)
        alike[key] += 1
        if alike[key] > 1:
            key = (*key, str(alike[key]))
        result[key] = Body(path, name, writing.test, tuple(each for _, each in writing.head), tuple(writing.lines))
    return result


def _inside(path: str, text: str) -> set[int]:
    """Return the numbers of the lines that begin within a string: their indentation says nothing."""
    result: set[int] = set()
    first = seen = 0
    for match in (_TICKED if path.endswith(_TICKS) else _WIDE).finditer(text):
        if more := match[0].count("\n"):
            first += text.count("\n", seen, match.start())
            seen = match.start()
            result.update(range(first + 1, first + more + 1))
    return result


def _written(text: str, inside: set[int]) -> list[_Writing]:
    """Divide a file into bodies. A function within a test is part of that; a test within anything stands alone."""
    rest = _Writing("", "", -1, test=False, head=[])
    writings, open_, around, above = [rest], [rest], [(-1, "")], _Writing("", "", -1, test=False, head=[])
    for number, line in enumerate(each[:_CHARS_MAX] for each in text.split("\n")):
        words = line.strip()
        if not words or (_tests("comment").search(line) and number not in inside):
            continue
        depth = len(line[: -len(line.lstrip())].expandtabs(_TAB)) if line[0] in " \t" else 0
        if number in inside:
            open_[-1].lines.append((open_[-1].lines[-1][0] if open_[-1].lines else depth, words))
            continue
        goes_on = bool(_GOES_ON.match(line))
        if above.head and (depth > above.depth or (depth == above.depth and goes_on)):
            above.head.append((depth, words))
            continue
        while depth < open_[-1].depth or (depth == open_[-1].depth and not goes_on):
            open_.pop()
        while depth <= around[-1][0]:
            around.pop()
        here = open_[-1]
        if _tests("attribute").search(line) and not here.test:
            above.depth, above.head = depth, [*above.head, (depth, words)]
            continue
        name, test = _begun(line, [each for _, each in above.head])
        if name and not here.test and (test or here is rest):
            here = _Writing(name, around[-1][1], depth, test, [*above.head, (depth, words)])
            writings.append(here)
            open_.append(here)
        else:
            here.lines += [*above.head, (depth, words)]
        above.head = []
        if not goes_on:
            around.append((depth, words))
    return writings


def _begun(line: str, above: list[str]) -> tuple[str, bool]:
    """Return the name of the function that a line begins, "" for none, and whether it is a test."""
    if match := _tests("case_name").search(line):
        return next(filter(None, match.groups()), ""), True
    if _tests("case").search(line):
        return line.strip(), True
    match = _tests("function").search(line)
    name = next(filter(None, match.groups()), "") if match else ""
    return name, bool(name) and any(_tests("case").search(each) for each in above)


def _living(lines: tuple[tuple[int, str], ...]) -> Iterator[str]:
    """Yield the lines that may run, an assertion over several lines as one: none after a return, none of `if False`."""
    first = lines[0][0] if lines else 0
    dead, at, ended = -1, 0, False
    while at < len(lines):
        depth, line = lines[at]
        at += 1
        if 0 <= dead < depth:
            continue
        if ended and depth <= first and not _GOES_ON.match(line):
            return
        dead = depth if _NEVER.match(line) else -1
        if asserting(line):
            opened, until = _opened(line), min(len(lines), at + _JOINED_MAX)
            while opened > 0 and at < until:
                line += f" {lines[at][1]}"
                opened += _opened(lines[at][1])
                at += 1
        yield line
        ended = ended or (depth == first and _ENDS.match(line) is not None)


def _rows(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the rows of tables, and the calls, whose values stand below each other."""
    at = 0
    while at < len(lines):
        size = _row_size(lines, at) if _OPENS.fullmatch(lines[at]) else 1
        if size > 1:
            yield lines[at : at + size]
        at += size


def _row_size(lines: Sequence[str], at: int) -> int:
    """Return over how many lines a row goes on that begins there; 1 if it is none, or a table of rows."""
    opened = _opened(lines[at], "([{")
    rows: list[str] = []
    for line in lines[at + 1 : at + _ROW_LINES_MAX]:
        more = _opened(line, "([{")
        opened += more
        if opened <= 0:
            is_row = all(each.endswith(",") for each in rows[:-1]) and not all(map(_ROW_ALONE.fullmatch, rows))
            return len(rows) + 2 if is_row else 1
        if more > 0 or asserting(line):
            return 1
        rows.append(_REMARK.sub("", line).rstrip())
    return 1


def _opened(line: str, brackets: str = "([") -> int:
    line = _VALUE.sub("", line)
    return sum(line.count(each) - line.count(_CLOSING[each]) for each in brackets)


def _words(line: str) -> Counter[str]:
    """Return the words of a line, where an assertion's is one with what it asserts."""
    return Counter(_NAME.findall(line.replace(" ", "")))


def _values(line: str) -> Counter[str]:
    """Return the values of a line, with quotes of one kind."""
    return Counter(each.replace("'", '"') for each in _VALUE.findall(line))


def _asked_of(line: str) -> frozenset[str]:
    """Return the names that an assertion is about."""
    names = set(_NAME.findall(_VALUE.sub("", line))) - _WORDS_OF_CHECKS - set(_tests("assertion_word").findall(line))
    return frozenset(name for name in names if not _tests("no_call").fullmatch(name))


def _plain(line: str) -> str:
    return _BLANKS.sub("", " ".join(line.split())).rstrip(";,")


def weaker(main: Texts, now: Texts) -> Weaker:
    """Return what test files have lost since main; those that differ are enough."""
    return of_bodies(all_bodies(main), all_bodies(now))


def all_bodies(texts: Texts) -> dict[_Key, Body]:
    """Return the bodies of all these test files."""
    return {key: body for path, text in texts.items() for key, body in bodies(path, text).items()}


def of_bodies(main: Mapping[_Key, Body], now: Mapping[_Key, Body]) -> Weaker:
    """Return what `now` has lost of `main`."""
    instead = counterparts(main, now)
    changed = {key: body for key, body in main.items() if now.get(key) != body}
    former = {id(body): main[key] for key, body in instead.items()}
    earlier = [(body, former.get(id(body)) or main.get(key)) for key, body in now.items() if main.get(key) != body]
    more = [(body.test, body.more_than(other)) for body, other in earlier]
    helpers = frozenset(body.name for body in now.values() if body.name and body.asserts and not body.test)
    pairs = [(main[key].name, body.name) for key, body in instead.items() if not (main[key].test or body.test)]
    renamed = {old: new for old, new in pairs if old and new and old != new}
    gained = _Gained(tuple(line for _, each in more for line in each), helpers, renamed)
    # What was a test and is no longer called one asserts nothing, as no runner takes it up.
    of_tests = tuple(line for test, each in more for line in each if test or not asserting(line))
    by_tests = _Gained(of_tests, helpers, renamed)
    lost, less, lacking = [], [], 0
    for key, body in changed.items():
        other = now.get(key) or instead.get(key)
        how = _gone(body, by_tests) if other is None else _emptied(body, other, gained, helpers)
        lost += [Loss(body.path, body.name, how, gone=other is None)] if how else []
        if net := max(len(body.asserts) - (len(other.asserts) if other is not None else 0), 0):
            less.append(body.label)
            lacking += min(net, _lacking(body, other, gained))
    unused = sum(len(body.asserts) for body, other in earlier if other is None and _unused(body, now))
    asserted = sum(len(body.asserts) for body, _ in earlier) - unused
    fewer = sum(len(body.asserts) for body in changed.values()) - asserted
    return Weaker(tuple(lost), max(min(fewer, lacking + unused), 0), tuple(less))


def _unused(body: Body, now: Mapping[_Key, Body]) -> bool:
    """True if a function that is no test is named by nothing beside it, as one that was a test."""
    named = (line for other in now.values() if other is not body for line in (*other.head, *other.lines))
    plain = bool(body.name) and not body.test and len(body.head) == 1
    return plain and not any(body.name in _NAME.findall(line) for line in named)


def counterparts(main: Mapping[_Key, Body], now: Mapping[_Key, Body]) -> dict[_Key, Body]:
    """Return the new bodies that are much like those which are gone under their name: renamed or moved."""
    old, new = [k for k in main if k not in now], [k for k in now if k not in main]
    if len(old) * len(new) > _PAIRS_MAX:
        old = [key for key in old if main[key].test]
    pairs = [(_alike(main[k], now[n]), k, n) for k in old for n in new][:_PAIRS_MAX]
    result: dict[_Key, Body] = {}
    taken: set[_Key] = set()
    for alike, key, other in sorted(pairs, key=lambda pair: -pair[0]):
        if alike >= _ALIKE and key not in result and other not in taken:
            result[key] = now[other]
            taken.add(other)
    return result


def _alike(one: Body, other: Body) -> float:
    if one.test and not other.test:
        return 0.0
    lines, others = Counter(map(_plain, one.lines)), Counter(map(_plain, other.lines))
    fewest = min(lines.total(), others.total())
    shared = (lines & others).total() / fewest if fewest else 0.0
    shared = max(shared, _ratio(one.words, other.words))
    return shared + _SAME_NAME * (one.name == other.name)


def _ratio(words: Counter[str], others: Counter[str]) -> float:
    both = words.total() + others.total()
    return 2 * (words & others).total() / both if both else 0.0


class _Gained:
    """The lines that the tests of a change gain; each makes up for one that is lost elsewhere.

    `helpers` are the names of what asserts and is no test, `renamed` what main called such functions.
    """

    def __init__(self, lines: tuple[str, ...], helpers: frozenset[str], renamed: Mapping[str, str]) -> None:
        self.lines = lines
        self.words = [_words(line) for line in lines]
        self.names = [frozenset(_NAME.findall(line)) for line in lines]
        self.values = [_values(line) for line in lines]
        self.given = [_ROW.match(line) is not None or not helpers.isdisjoint(_CALL.findall(line)) for line in lines]
        self.renamed = renamed

    def lacking(self, lost: Iterable[str], own: Iterable[str] = ()) -> int:
        """Count the lost lines that no gained one makes up for.

        That is the same line, if need be with a function's new name, one much like it, or what it asks for in a row or
        in a call of what asserts.
        """
        left = {at: self.values[at] for at, line in enumerate(self.lines) if line not in {*own}}
        missing = 0
        for line in lost:
            values, words, asked = _values(line), _words(line), _asked_of(line)
            same = self._same(line, left)
            alike = (at for at in left if not values and _ratio(words, self.words[at]) >= _LINE_ALIKE)
            given = (at for at in left if not values and asked and self.given[at] and asked <= self.names[at])
            match = same if same is not None else next(alike, next(given, None))
            row = next((at for at in left if values and values <= left[at]), None) if match is None else None
            missing += match is None and row is None
            if match is not None:
                del left[match]
            elif row is not None:
                left[row] = left[row] - values
        return missing

    def _same(self, line: str, left: Iterable[int]) -> int | None:
        """Return which of the lines that are `left` is this one, perhaps with other names of functions."""
        names = _NAME.sub(lambda name: self.renamed.get(name[0], name[0]), line) if self.renamed else line
        return next((at for at in left if self.lines[at] in (line, names)), None)

    def without(self, values: Counter[str]) -> int:
        """Count the values that no gained line holds."""
        return (values - sum(self.values, Counter())).total()


def _lacking(body: Body, now: Body | None, gained: _Gained) -> int:
    """Count the assertions that a body has lost and that no other one gains."""
    kept = now.asserts if now is not None else ()
    return gained.lacking((Counter(body.asserts) - Counter(kept)).elements(), kept)


def _gone(body: Body, gained: _Gained) -> str:
    """Say that a test is gone, "" if other tests gain what it asserts, or calls where it asserts nothing."""
    asserted = body.asserts or tuple(_plain(line) for line in body.lines if _CALL.search(line))
    lacking = not asserted or 2 * gained.lacking(asserted) > len(asserted) - (len(asserted) == 1)
    return "is gone" if body.test and lacking else ""


def _emptied(body: Body, now: Body, gained: _Gained, helpers: frozenset[str]) -> str:
    """Say what a body has lost of its assertions, calls or cases, "" if that is little or stands elsewhere.

    What still stands and asserts nothing must at least call what does: a new test may say the same words.
    """
    before, after = len(body.asserts), len(now.asserts)
    if before > after:
        lacking = min(before - after, _lacking(body, now, gained))
        if not after and (lacking or body.name) and not now.calls & helpers:
            return f"asserts nothing any more ({before} before)"
        if lacking >= _MOST and 2 * (before - lacking) < before:
            return f"keeps {after} of {before} assertions"
    if body.test and body.calls and not now.calls:
        return f"calls nothing any more ({', '.join(sorted(body.calls)[:3])} before)"
    rows, still = body.cases.total(), now.cases.total()
    if (
        after <= before
        and rows >= 2 * _MOST
        and 2 * still < rows
        and 2 * gained.without(body.cases - now.cases) >= rows
    ):
        return f"is given {still} values in place of {rows}"
    return ""
