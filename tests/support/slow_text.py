"""Texts over which a regular expression may take a time that grows faster than they do, made of the expression itself.

Python's engine tries a pattern from each character on, and gives back what a repetition took. So the texts that cost
most are those that a repetition likes and that end in something else: after what the pattern wants before, or beginning
it again and again. Both are read off the parsed pattern, so a new one brings its own.

What is measured is the time of this process: what is quadratic takes 64 times as much over a text eight times as long,
and in between is room for all that others do on the machine.
"""

import ast
import dataclasses
import importlib
import pkgutil
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from re import _compiler as compiler
from re import _constants as op  # the tree of a pattern; Python has no public reader of it
from re import _parser as parser
from time import process_time
from types import ModuleType
from typing import Any

import noface
from noface.data import FOLDER, Patterns, expanded, table
from noface.diagnosis.rules import rule_book
from noface.secrets.shapes import _shapes

UNITS = (
    *("a", "0", " ", "/", "\\", '"', "'", "(", "[", "{", "<", ",", ".", "-", ":", "=", "#", "\n", "\r\n", " \n"),
    *("a ", "a/", "a.", "a=", "a,", "at ", "::", "a:1:", "aB3+", '{"a":', "\x1b[", "{a(", "\0"),
)
"""What a line is made of that no pattern in particular is meant for: letters, brackets, base64, minified code."""
_CHARS = "a0 /\"'<([{-_.:=#@\n\tA~+,;!x\\*$%&|?^`)]}>"
_LOOKS_LIKE_ONE = re.compile(r"\\[bswdSWD]|\(\?[:=!<i]|\.\*|\[\^|[)\].][*+?]")
_LONG = 100
_SEPARATORS = (" ", "\n", '"', "(")
"""A word counts as one only between these: a pattern may begin anew at each."""
_SHORT, _WHOLE = 8_000, 64_000
GROWS_MAX = 28
_WORTH_S, _SECONDS_MAX = 0.1, 1.0
"""What takes less over the longer text need not be compared, and nothing is awaited for longer."""


def _shortest(nodes: Any, groups: dict[int, str]) -> str:
    """Return a short text that a part of a pattern may match, what stands around it left aside."""
    text = ""
    for kind, value in nodes:
        match kind:
            case op.LITERAL:
                text += chr(value)
            case op.NOT_LITERAL:
                text += "b" if value == ord("a") else "a"
            case op.ANY:
                text += "a"
            case op.IN:
                fits = compiler.compile(parser.SubPattern(parser.State(), [(kind, value)]), re.UNICODE).match
                text += next((c for c in (*_CHARS, *map(chr, range(0x250))) if fits(c)), "a")
            case op.BRANCH:
                text += _shortest(value[1][0], groups)
            case op.SUBPATTERN:
                inner = groups[value[0]] = _shortest(value[3], groups)
                text += inner
            case op.MAX_REPEAT | op.MIN_REPEAT | op.POSSESSIVE_REPEAT:
                text += _shortest(value[2], groups) * value[0]
            case op.ATOMIC_GROUP:
                text += _shortest(value, groups)
            case op.GROUPREF:
                text += groups.get(value, "")
    return text


def _branches(nodes: Any) -> Iterator[Any]:
    """Yield the alternatives of what is repeated."""
    only = nodes[0] if len(nodes) == 1 else (None, None)
    match only:
        case (op.SUBPATTERN, value):
            yield from _branches(value[3])
        case (op.BRANCH, value):
            yield from value[1]
        case _:
            yield nodes


def _attacks(nodes: Any, before: str) -> Iterator[tuple[str, str]]:
    """Yield texts as a beginning and what is repeated after it, for each long repetition of a pattern."""
    for kind, value in nodes:
        inner: tuple[Any, ...] = ()
        match kind:
            case op.MAX_REPEAT | op.MIN_REPEAT | op.POSSESSIVE_REPEAT:
                inner = (value[2],)
                if value[1] is op.MAXREPEAT or value[1] >= _LONG:
                    for each in _branches(value[2]):
                        unit = _shortest(each, {}) or "a"
                        yield from ((before, unit), ("", before + unit), ("", unit), ("", before[-1:] + unit))
                    if before:
                        yield "", before
            case op.SUBPATTERN:
                inner = (value[3],)
            case op.ATOMIC_GROUP:
                inner = (value,)
            case op.BRANCH:
                inner = value[1]
            case op.ASSERT | op.ASSERT_NOT:
                inner = (value[1],)
        for each in inner:
            yield from _attacks(each, before)
        before += _shortest([(kind, value)], {})


def attacks(pattern: "re.Pattern[Any]") -> frozenset[tuple[str, str]]:
    """Return the texts for a pattern, as a beginning and what is repeated after it."""
    text = pattern.pattern
    tree = parser.parse(text.decode("latin-1") if isinstance(text, bytes) else text, pattern.flags & ~re.DEBUG)
    parts = frozenset(_attacks(list(tree), ""))
    words = {word for before, unit in parts for word in (before, unit, before + unit) if 0 < len(word) < _LONG}
    return parts | {("", unit) for unit in UNITS} | {("", word + end) for word in words for end in _SEPARATORS}


def is_slow(pattern: "re.Pattern[Any]", before: str, unit: str, *, anchored: bool) -> bool:
    """True if the time that a pattern takes over a text grows faster than the text does."""
    long = seconds(pattern, before, unit, _WHOLE, anchored=anchored)
    return long > _WORTH_S and long > GROWS_MAX * seconds(pattern, before, unit, _SHORT, anchored=anchored)


def seconds(pattern: "re.Pattern[Any]", before: str, unit: str, size: int, *, anchored: bool) -> float:
    """Return the time of this process that a pattern takes; infinite if it is too long to wait for."""
    run, text = uses(pattern, anchored=anchored), before + unit * (size // len(unit)) + "\x01"
    handler = signal.signal(signal.SIGVTALRM, _too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS_MAX)
    began = process_time()
    try:
        run(text)
        return process_time() - began
    except TimeoutError:
        return float("inf") if size == _WHOLE else _SECONDS_MAX
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, handler)


def _too_long(*_: object) -> None:
    raise TimeoutError


# Which patterns there are, and how they are used


@cache
def modules() -> tuple[ModuleType, ...]:
    """Return the program's modules; reporters run in gates, and are none."""
    names = [each.name for each in pkgutil.walk_packages(noface.__path__, "noface.")]
    left = ("noface.__main__", "noface.gates.reporters", "noface.demo.library")
    return tuple(importlib.import_module(name) for name in names if not name.startswith(left))


def _held(value: object, depth: int = 4) -> Iterator["re.Pattern[Any]"]:
    """Yield the patterns in a value of a module."""
    inner: Any = ()
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, (tuple, list, set, frozenset)):
        inner = value
    elif isinstance(value, dict):
        inner = value.values()
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = (getattr(value, each.name, None) for each in dataclasses.fields(value))
    for each in inner if depth else ():
        yield from _held(each, depth - 1)


@cache
def _anchored(module: ModuleType) -> frozenset[str]:
    """Return the names of a module, and entries of its tables, whose patterns are only matched from the beginning."""
    used: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Subscript)):
            used.setdefault(ast.unparse(node.value).replace('"', "'"), set()).add(node.attr)
    return frozenset(name for name, how in used.items() if how <= {"match", "fullmatch", "pattern"})


def _texts(value: object, where: str) -> Iterator[tuple[str, str]]:
    """Yield the texts of a table with the place of each."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _texts(each, f"{where}.{key}")
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, where)


def _in_tables() -> Iterator[tuple[str, "re.Pattern[str]"]]:
    """Yield what looks like a regular expression in the tables, whatever reads it."""
    for path in sorted(FOLDER.glob("*.toml")):
        if path.stem in ("patterns", "secrets"):
            continue
        pieces = table(path.stem).get("pieces", {})
        for where, text in _texts(table(path.stem), path.stem):
            if _LOOKS_LIKE_ONE.search(text) and not where.endswith((".example", ".means", ".pieces")):
                with suppress(re.error, KeyError):
                    yield f"table {where}", re.compile(expanded(text, pieces), re.IGNORECASE)


def _in_functions() -> Iterator[tuple[str, "re.Pattern[Any]", bool]]:
    """Yield the expressions that stand in calls of `re`, with what is called."""
    for module in modules():
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text("utf-8"))):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=called), args=[ast.Constant(text), *_]):
                    if called != "escape" and isinstance(text, (str, bytes)):
                        where = f"{module.__name__.removeprefix('noface.')}:{node.lineno}"
                        yield where, re.compile(text), called in ("match", "fullmatch", "compile")


def all_patterns() -> Iterator[tuple[str, "re.Pattern[Any]", bool]]:
    """Yield each regular expression with its name, and whether it is only matched from the beginning of a text."""
    for module in modules():
        for name, value in vars(module).items():
            where = f"{module.__name__.removeprefix('noface.')}.{name}"
            if isinstance(value, Patterns):
                for key in table("patterns")[value.section]:
                    yield f"{where}[{key}]", value[key], f"{name}['{key}']" in _anchored(module)
            else:
                yield from ((where, each, name in _anchored(module)) for each in _held(value))
    book = rule_book()
    for rule in (*book.rules, *book.test_names, *book.loose_test_names):
        yield f"rule {rule.name}", rule.regex, False
    yield from ((f"shape {name}", pattern, False) for name, _, pattern in _shapes())
    yield from ((name, pattern, False) for name, pattern in _in_tables())
    yield from _in_functions()


def uses(pattern: "re.Pattern[Any]", *, anchored: bool) -> Callable[[str], object]:
    def run(text: str) -> object:
        data: Any = text.encode("utf-8", "replace") if isinstance(pattern.pattern, bytes) else text
        return pattern.match(data) if anchored else sum(1 for _ in pattern.finditer(data))

    return run
