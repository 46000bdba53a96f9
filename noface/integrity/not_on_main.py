"""What a command names that a person's checkout has and main has not: a test that was never committed. Pure.

No worker can add it, since what `accept` names is protected, and it cannot pass without it. What neither of the two has
is the worker's to write, and is no matter here. Names are looked for where files differ: one that stands anywhere on
main may be meant there.
"""

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from noface.integrity.named_files import simple_commands
from noface.integrity.prose import is_prose
from noface.integrity.rubbish import above
from noface.model.patterns import matches_any

_NAME = re.compile(r"[^\W\d][\w:-]{3,}")
_PLACE = re.compile(r"(?:/\.\.\.|(?::\d{1,9}){1,4}|\[.{0,300}\])$")
_GLOB = re.compile(r"[*?]")
_SEPARATORS = re.compile(r"[\s|,~#^$()]+")
_DEFINES = (
    r"(?m)^[ \t]*(?:(?:[^\w\n]*\b[a-z]+\b[ \t]+){0,4}(?:def|fn|fun|func|function|class|struct|type|interface|trait"
    r"|object|mod|module|void|Future|Task|test|it|describe|context|scenario|specify|should)\b.*(?<![\w-])NAME(?![\w-])"
    r"|(?:[\"']NAME[\"']|NAME)[ \t]*(?:\(\))?[ \t]*[:={]|\[(?:[\w.:-]*[.:])?NAME\])"
)


@dataclass(frozen=True)
class Checkout:
    """How a person's checkout differs from main, ignored files and what tools make left out.

    `new` are its files that main has not; `texts` what main's file holds and what its own does, of files of code.
    `dirty` are those that no commit has, `branch` is what is checked out, `main` the name of main.
    """

    on_main: frozenset[str] = frozenset()
    new: frozenset[str] = frozenset()
    texts: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    dirty: frozenset[str] = frozenset()
    branch: str = ""
    main: str = "main"

    @cached_property
    def places(self) -> tuple[frozenset[str], frozenset[str]]:
        """Files and folders of main, and of what the checkout has besides."""
        return self.on_main | _folders(self.on_main), self.new | _folders(self.new)

    @cached_property
    def modules(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """The same by their names without suffix."""
        own, new = ({posixpath.splitext(path)[0]: path for path in places} for places in self.places)
        return own, new


@dataclass(frozen=True, slots=True)
class Lacking:
    """A path that main has not, or a `name` in it; `anywhere`: main may have it elsewhere, which is to be looked up."""

    path: str
    name: str = ""
    anywhere: bool = False

    @property
    def text(self) -> str:
        """What it is."""
        return f"{self.name} of {self.path}" if self.name else self.path


def lacking(command: str, checkout: Checkout) -> tuple[Lacking, ...]:
    """Return what a command names that only the checkout has."""
    if not checkout.new and not checkout.texts:
        return ()
    words = [word for part in simple_commands(command) for word in _arguments(part)]
    folders = [base for word in words for base in (word, posixpath.dirname(word))]
    bases = dict.fromkeys(["", *(base for base in folders if any(base in places for places in checkout.places))])
    result: dict[Lacking, None] = {}
    for word in words:
        file, *inner = word.split("::")
        path = _path(file, bases, checkout)
        if path is None:
            result.update(dict.fromkeys(_dotted(word, bases, checkout)))
        elif path not in checkout.places[0]:
            result[Lacking(path)] = None
        else:
            names = [_PLACE.sub("", name) for name in inner]
            result.update((Lacking(path, name), None) for name in names if _defined(name, path, checkout))
    return tuple(result)


def _arguments(words: list[str]) -> Iterator[str]:
    """Yield what the words of a command may name: files, tests, expressions of tests; of the program only a file."""
    for number, word in enumerate(words):
        if word.startswith("-"):
            word = word.partition("=")[2]  # noqa: PLW2901 - the value of an option stands for it
        if word and (number or "/" in word):
            yield word
            yield from (part for part in word.split() if part != word)


def _folders(paths: Iterable[str]) -> frozenset[str]:
    return frozenset(folder for path in paths for folder in above(path))


def _path(word: str, bases: Iterable[str], checkout: Checkout) -> str | None:
    """Return the path that a word names, main's if there is one; None if it names none."""
    if not word or word.startswith(("/", "~")):
        return None
    name = _PLACE.sub("", word).rstrip("/")
    paths = tuple(posixpath.normpath(posixpath.join(base, name)) for base in bases)
    if _GLOB.search(name):
        matching = (path for places in checkout.places for path in sorted(places) if matches_any(path, paths))
    else:
        matching = (path for places in checkout.places for path in paths if path in places)
    return next(matching, None)


def _dotted(word: str, bases: Iterable[str], checkout: Checkout) -> Iterator[Lacking]:
    """Yield what a word names that is no path: a module and its tests, or names alone."""
    parts = word.split(".")
    dotted = len(parts) > 1 and all(map(str.isidentifier, parts))
    for length in range(len(parts), 0, -1) if dotted else ():
        module = _module("/".join(parts[:length]), bases, checkout)
        if module is None:
            continue
        if module not in checkout.places[0]:
            yield Lacking(module)
        elif length < len(parts):
            yield from (Lacking(module, name) for name in parts[length:] if _defined(name, module, checkout))
        return
    names = parts if dotted else _SEPARATORS.split(word.partition("/")[0])
    phrases = [word] if " " in word else []
    for name in dict.fromkeys([*phrases, *(name for name in names if _NAME.fullmatch(name))]):
        stems = (path for path in checkout.new if posixpath.basename(path).partition(".")[0] == name)
        homes = (path for path in checkout.texts if _defined(name, path, checkout))
        home = next((path for path in (*stems, *homes) if not is_prose(path)), None)
        if home is not None:
            yield Lacking(home, name, anywhere=True)


def _module(name: str, bases: Iterable[str], checkout: Checkout) -> str | None:
    """Return the file or folder of a module, main's if there is one."""
    wanted = [posixpath.normpath(posixpath.join(base, name)) for base in (*bases, "src")]
    return next((modules[path] for modules in checkout.modules for path in wanted if path in modules), None)


def _defined(name: str, path: str, checkout: Checkout) -> bool:
    """True if the checkout's file defines a name that main's does not hold."""
    old, new = checkout.texts.get(path, ("", ""))
    if not name or name not in new or re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", old):
        return False
    return re.search(_DEFINES.replace("NAME", re.escape(name)), new) is not None


def ways_to_commit(things: Iterable[Lacking], checkout: Checkout) -> tuple[str, ...]:
    """Return the commands by which a person puts on main what only their checkout has."""
    paths = " ".join(shlex.quote(path) for path in dict.fromkeys(each.path for each in things))
    known = checkout.places[0] | checkout.places[1]  # a file that git ignores is in none of them
    dirty = any(each.path not in known or any(_at(path, each.path) for path in checkout.dirty) for each in things)
    commit = f"git commit -m 'Add what the gates need' -- {paths}"
    added = (f"git add --force -- {paths} && {commit}",) if dirty else ()
    if checkout.branch == checkout.main:
        return added or ("git push",)
    source = shlex.quote(checkout.branch)
    there = f"git switch {shlex.quote(checkout.main)} && git restore --source={source} --staged --worktree -- {paths}"
    return (*added, f"{there} && {commit}")


def _at(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}/")


def lack_text(things: Iterable[Lacking], checkout: Checkout, how: str = "names") -> str:
    """Word what is lacking for a person."""
    names = ", ".join(dict.fromkeys(each.text for each in things))
    return f"accept {how} {names}: it is in your checkout, not on {checkout.main}"
