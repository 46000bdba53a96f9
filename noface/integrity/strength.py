"""How many assertions tests make, body by body, in whatever language (law 11). Pure.

A body is a function of a test file, or the rest, known by its name and by what it stands in. What it loses counts
unless others gain it: a test may be renamed, moved, split, merged, parametrised, or call a helper that asserts.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property

from noface.data import pattern

Texts = Mapping[str, str]
"""What test files hold, by path."""
_Key = tuple[str, ...]
_VALUE = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\])*`|\b\d[\w.]*')
_CALL = re.compile(r"\b([A-Za-z_]\w*)!?\(")
_NAME = re.compile(r"[A-Za-z_]\w*")
_VARIABLE = re.compile(r"(?<![\w.$])[A-Za-z_]\w*+(?![(!])")
_GOES_ON = re.compile(r"\s*([)\]}>{]|(?:end|else|elif|except|catch|finally|rescue|ensure|then|fi|done|esac)\b)")
_ENDS = re.compile(r"\s*(?:return|raise\s+unittest\.SkipTest|sys\.exit|process\.exit|exit)\b")
_BLANKS = re.compile(r" (?!\w)|(?<!\w) ")
_TAB = 4
_CHARS_MAX = 1_000
_JOINED_MAX = 60
_MOST = 2
"""So many assertions have to be gone where others remain; a body that keeps fewer than half then has lost most."""


def _tests(key: str) -> re.Pattern[str]:
    return pattern("integrity", "tests", key)


@dataclass(frozen=True)
class Body:
    """A function of a test file, or the rest of the file, without a name; its lines as far as they may run."""

    path: str
    name: str
    test: bool
    lines: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"{self.path}::{self.name}" if self.name else self.path

    @cached_property
    def all(self) -> Counter[str]:
        return Counter(map(_plain, self.lines))

    def asserts(self, helpers: AbstractSet[str]) -> tuple[str, ...]:
        lines = (line for line in self.lines if asserting(line) or not helpers.isdisjoint(_CALL.findall(line)))
        return tuple(map(_plain, lines))


@dataclass(frozen=True, slots=True)
class Loss:
    """What a body of main, the `test` of its file and name, has lost. `gone`: it is not there any more."""

    path: str
    test: str
    how: str
    gone: bool


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


@dataclass(slots=True)
class _Writing:
    """A body while its lines are read: `depth` is how far it is indented, `place` the line that it stands in."""

    name: str
    place: str
    depth: int
    test: bool
    lines: list[tuple[int, str]] = field(default_factory=list)


def bodies(path: str, text: str) -> dict[_Key, Body]:
    """Return the bodies of a test file by path, what they stand in, name, and a number if that is not enough."""
    result: dict[_Key, Body] = {}
    alike = Counter[_Key]()
    for writing in _written(text):
        key: _Key = (path, writing.place, writing.name)
        alike[key] += 1
        if alike[key] > 1:
            key = (*key, str(alike[key]))
        result[key] = Body(path, writing.name, writing.test, tuple(_living(writing)))
    return result


def _written(text: str) -> list[_Writing]:
    rest = _Writing("", "", -1, test=False)
    writings, open_, around, above = [rest], [rest], [(-1, "")], list[tuple[int, str]]()
    for line in (each[:_CHARS_MAX] for each in text.split("\n")):
        words = line.strip()
        if not words or _tests("comment").search(line):
            continue
        depth = len(line[: -len(line.lstrip())].expandtabs(_TAB)) if line[0] in " \t" else 0
        goes_on = bool(_GOES_ON.match(line))
        while depth < open_[-1].depth or (depth == open_[-1].depth and not goes_on):
            open_.pop()
        while depth <= around[-1][0]:
            around.pop()
        here = open_[-1]
        if _tests("attribute").search(line) and not here.test:
            above.append((depth, words))
            continue
        name, test = _begun(line, above)
        if name and not here.test and (test or here is rest):
            here = _Writing(name, around[-1][1], depth, test, above)
            writings.append(here)
            open_.append(here)
        else:
            here.lines += [*above, (depth, words)]
        above = []
        if not goes_on:
            around.append((depth, words))
    return writings


def _begun(line: str, above: list[tuple[int, str]]) -> tuple[str, bool]:
    if match := _tests("case_name").search(line):
        return next(filter(None, match.groups()), ""), True
    if _tests("case").search(line):
        return line.strip(), True
    match = _tests("function").search(line)
    name = next(filter(None, match.groups()), "") if match else ""
    return name, bool(name) and any(_tests("case").search(each) for _, each in above)


def _living(writing: _Writing) -> Iterator[str]:
    """Yield the lines that may run, an assertion over several lines as one: none after a return of the function."""
    lines, at, ended = writing.lines, 0, False
    first = next((depth for depth, _ in lines if depth > writing.depth), 0)
    while at < len(lines):
        depth, line = lines[at]
        at += 1
        if ended and depth <= first and not _GOES_ON.match(line):
            return
        if asserting(line):
            opened, until = _opened(line), min(len(lines), at + _JOINED_MAX)
            while opened > 0 and at < until:
                line += f" {lines[at][1]}"
                opened += _opened(lines[at][1])
                at += 1
        yield line
        ended = ended or (depth == first and _ENDS.match(line) is not None)


def _opened(line: str) -> int:
    line = _VALUE.sub("", line)
    return line.count("(") + line.count("[") - line.count(")") - line.count("]")


def _values(line: str) -> Counter[str]:
    return Counter(each.replace("'", '"') for each in _VALUE.findall(line))


def _form(line: str) -> str:
    """Return an assertion with its variables, which are neither called nor below another name, numbered."""
    kept, names = {"in", *_tests("assertion_word").findall(line)}, dict[str, str]()
    return _VARIABLE.sub(lambda name: name[0] if name[0] in kept else names.setdefault(name[0], f"${len(names)}"), line)


def _plain(line: str) -> str:
    return _BLANKS.sub("", " ".join(line.split())).rstrip(";,")


def all_bodies(texts: Texts) -> dict[_Key, Body]:
    return {key: body for path, text in texts.items() for key, body in bodies(path, text).items()}


def weaker(main: Texts, now: Texts) -> Weaker:
    """Return what test files have lost since main; those that differ are enough."""
    before, after = all_bodies(main), all_bodies(now)
    changed = [(body, after.get(key)) for key, body in before.items() if after.get(key) != body]
    differing = [(body, before.get(key)) for key, body in after.items() if before.get(key) != body]
    new = [
        (body.test, line) for body, was in differing for line in (body.all - (was.all if was else Counter())).elements()
    ]
    gained = _Gained(line for _, line in new)
    # What was a test and is no longer called one asserts nothing, as no runner takes it up.
    by_tests = _Gained(line for test, line in new if test or not asserting(line))
    by_assertions = _Gained(line for _, line in new if asserting(line))
    old_helpers, helpers = _helpers(before), _helpers(after)
    fewer = -sum(len(body.asserts(helpers)) for body, _ in differing)
    lost, less, lacking = list[Loss](), list[str](), 0
    for body, other in changed:
        asserted, kept = body.asserts(old_helpers), other.asserts(helpers) if other is not None else ()
        net = len(asserted) - len(kept)
        gone = (Counter(asserted) - Counter(kept)).elements()
        missing = min(net, gained.missing(gone, kept, gone=other is None)) if net > 0 else 0
        if other is not None:
            how = _emptied(body, len(asserted), len(kept), missing)
        elif body.test or body.name in old_helpers:
            how = _gone(body, asserted, by_tests if body.test else by_assertions)
        else:
            how = ""
        lost += [Loss(body.path, body.label, how, gone=other is None)] if how else []
        less += [body.label] if missing else []
        fewer, lacking = fewer + len(asserted), lacking + missing
    return Weaker(tuple(lost), max(min(fewer, lacking), 0), tuple(less))


def _helpers(bodies: Mapping[_Key, Body]) -> set[str]:
    return {body.name for body in bodies.values() if body.name and not body.test and any(map(asserting, body.lines))}


class _Gained:
    """The lines and values that the tests of a change gain; each makes up for one that is lost elsewhere."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = Counter(lines)
        self._values = sum(map(_values, self._lines.elements()), Counter[str]())
        self._forms = {line: _form(line) for line in self._lines if asserting(line)}

    def missing(self, lost: Iterable[str], own: Iterable[str] = (), *, gone: bool = False) -> int:
        """Count the lost lines that nothing gained makes up for: the same line, or all its values.

        Of a body that is `gone` an assertion without values may name its variables otherwise.
        """
        lines, pool, count = self._lines - Counter(dict.fromkeys(own, self._lines.total())), Counter(self._values), 0
        for line in lost:
            values = _values(line)
            if line in lines:
                lines -= Counter([line])
                pool -= values
            elif values and values <= pool:
                pool -= values
            elif (
                gone
                and not values
                and (alike := next((each for each in lines if self._forms.get(each) == _form(line)), ""))
            ):
                lines -= Counter([alike])
            else:
                count += 1
        return count


def _gone(body: Body, asserted: tuple[str, ...], gained: _Gained) -> str:
    """Say that a body is gone, "" if others gain what it asserts, or calls where it asserts nothing."""
    asserted = asserted or tuple(_plain(line) for line in body.lines if _CALL.search(line))
    lacking = not asserted or 2 * gained.missing(asserted, gone=True) > len(asserted) - (len(asserted) == 1)
    return "is gone" if lacking else ""


def _emptied(body: Body, before: int, after: int, missing: int) -> str:
    """Say what a body has lost of its assertions, "" if that is little or stands elsewhere."""
    if before and not after and (missing or body.name):
        return f"asserts nothing any more ({before} before)"
    most = missing >= _MOST and 2 * (before - missing) < before
    return f"keeps {after} of {before} assertions" if most else ""
