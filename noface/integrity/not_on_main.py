"""What a command names that a person's checkout has and main has not: a test that was never committed. Pure."""

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from noface.integrity.named_files import simple_commands
from noface.integrity.rubbish import above
from noface.model.patterns import matches_any

_PLACE = re.compile(r"(?:/\.\.\.|(?::\d{1,9}){1,4}|\[.{0,300}\])$")
_GLOB = re.compile(r"[*?]")


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
        main, new = (
            {*paths, *(place for path in paths for place in above(path))} for paths in (self.on_main, self.new)
        )
        return frozenset(main), frozenset(new)


@dataclass(frozen=True, slots=True)
class Lacking:
    """A path that main has not, or a `name` in it."""

    path: str
    name: str = ""

    @property
    def text(self) -> str:
        return f"{self.name} of {self.path}" if self.name else self.path


def lacking(command: str, checkout: Checkout) -> tuple[Lacking, ...]:
    """Return what a command names that only the checkout has."""
    on_main, new = checkout.places
    if not new and not checkout.texts:
        return ()
    words = [word for part in simple_commands(command) for word in _arguments(part)]
    folders = [base for word in words for base in (word, posixpath.dirname(word)) if base in on_main or base in new]
    bases, result = tuple(dict.fromkeys(["", *folders])), dict[Lacking, None]()
    for word in words:
        file, *inner = word.split("::")
        path = _path(file, bases, checkout) or _module(word, bases, checkout)
        if path and path not in on_main:
            result[Lacking(path)] = None
        elif path:
            before, now = checkout.texts.get(path, ("", ""))
            names = [_PLACE.sub("", name) for name in inner]
            result.update((Lacking(path, name), None) for name in names if name in now and name not in before)
    return tuple(result)


def _arguments(words: list[str]) -> Iterator[str]:
    for number, word in enumerate(words):
        value = word.partition("=")[2] if word.startswith("-") else word
        if value and (number or "/" in value):
            yield from dict.fromkeys((value, *value.split()))


def _path(word: str, bases: tuple[str, ...], checkout: Checkout) -> str | None:
    if not word or word.startswith(("/", "~")):
        return None
    name = _PLACE.sub("", word).rstrip("/")
    paths = tuple(posixpath.normpath(posixpath.join(base, name)) for base in bases)
    if _GLOB.search(name):
        return next((path for places in checkout.places for path in sorted(places) if matches_any(path, paths)), None)
    return next((path for places in checkout.places for path in paths if path in places), None)


def _module(word: str, bases: tuple[str, ...], checkout: Checkout) -> str | None:
    """Return the file of the module that a dotted word names, as `unittest` takes it; None if it is none."""
    parts = word.split(".") if all(map(str.isidentifier, word.split("."))) else []
    names = ("/".join(parts[:length]) for length in range(len(parts), 1, -1))
    return next((path for name in names if (path := _path(f"{name}.py", bases, checkout))), None)


def ways_to_commit(things: Iterable[Lacking], checkout: Checkout) -> tuple[str, ...]:
    """Return the commands by which a person puts on main what only their checkout has."""
    paths = " ".join(shlex.quote(path) for path in dict.fromkeys(each.path for each in things))
    known = checkout.places[0] | checkout.places[1]  # a file that git ignores is in none of them
    dirty = any(
        each.path not in known or any(f"{path}/".startswith(f"{each.path}/") for path in checkout.dirty)
        for each in things
    )
    commit = f"git commit -m 'Add what the gates need' -- {paths}"
    added = (f"git add --force -- {paths} && {commit}",) if dirty else ()
    if checkout.branch == checkout.main:
        return added or ("git push",)
    source = shlex.quote(checkout.branch)
    there = f"git switch {shlex.quote(checkout.main)} && git restore --source={source} --staged --worktree -- {paths}"
    return (*added, f"{there} && {commit}")


def lack_text(things: Iterable[Lacking], checkout: Checkout, how: str = "names") -> str:
    names = ", ".join(dict.fromkeys(each.text for each in things))
    return f"accept {how} {names}: it is in your checkout, not on {checkout.main}"
