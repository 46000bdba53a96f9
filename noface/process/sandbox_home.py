"""The home of a box: of the person's what rules name, and no more.

Toolchains can be read, caches are noface's own, settings are written anew, below lies a folder that starts empty.
An agent may have written in the caches, in what setup left, and in the workspace: of these nothing is taken for the
person's, and no link in them is followed. The caches of a box are nobody else's while it lives.
"""

import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Self

from noface.data import table
from noface.process.files import is_folder, kind_at, ordinary_folder, read_regular, real_folder
from noface.process.home_places import below, needed
from noface.process.home_settings import rebuilt, rebuilt_paths

COPY_BYTES_MAX = 64 << 20

Mount = tuple[str, ...]
"""Options of bubblewrap for one place."""


@cache
def agents_places() -> tuple[str, ...]:
    return tuple(sorted({path for entry in table("agents").values() for path in places_of(entry)}))


def places_of(entry: Mapping[str, Any]) -> Iterator[str]:
    homes = [home["path"] for home in entry.get("homes", ())]
    yield from homes
    login = entry.get("login", {})
    folder = f"{login['folder']}/" if "folder" in login else ""
    yield from (path for name in login.get("files", ()) if not below(path := folder + name, homes))


class HomeRule(StrEnum):
    """What a box makes of a place in the person's home; without a rule it is not there."""

    PRIVATE = "private"
    """noface's own in its place, kept from run to run"""
    SHARED = "shared"
    """the person's, writable"""
    COPIED = "copied"
    """a copy, writable, forgotten afterwards"""
    SESSION = "session"
    """a folder of the attempt's, kept with it"""
    READ = "read"
    """read-only, also if it lies in a private or hidden place"""
    REBUILT = "rebuilt"
    """settings, of which the harmless keys are there"""
    HIDDEN = "hidden"
    """not there, also if it lies in a place that can be read, and not even as setup has left it"""


_PERSONS = (HomeRule.READ, HomeRule.SHARED)


@dataclass(frozen=True, slots=True)
class AgentHome:
    """What an agent needs of a folder in the person's home, which `variable` may name; of the rest nothing is there.

    `shared` are logins, which the agent renews; `personal` is read as well if the person's own settings are to act.
    """

    path: str
    variable: str = ""
    read: tuple[str, ...] = ()
    personal: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()
    session: tuple[str, ...] = ()

    @classmethod
    def of(cls, entry: Mapping[str, str | list[str]]) -> Self:
        lists = {key: tuple(value) for key, value in entry.items() if not isinstance(value, str)}
        return cls(str(entry["path"]), str(entry.get("variable", "")), **lists)

    def place(self, home: str, environment: Mapping[str, str]) -> str:
        named = environment.get(self.variable, "") if self.variable else ""
        return os.path.realpath(named) if named.startswith("/") else f"{home}/{self.path}"

    def rules(self, prefix: str, *, personal: bool) -> dict[str, HomeRule]:
        """Return the rules for the folder, which lies at `prefix` in its home ("": it is the home)."""
        each = {
            HomeRule.READ: (*self.read, *(self.personal if personal else ())),
            HomeRule.SHARED: self.shared,
            HomeRule.COPIED: self.copied,
            HomeRule.SESSION: self.session,
        }
        named = {
            "/".join(part for part in (prefix, name) if part): rule for rule, names in each.items() for name in names
        }
        return ({prefix: HomeRule.HIDDEN} if prefix else {}) | named


@dataclass(frozen=True, slots=True)
class Home:
    """The home of a box: the person's at `path`, its rules by relative path; `fresh` is empty, below everything.

    `caches` holds the private places, `session` the attempt's own; `made` is what `[project] setup` has left.
    """

    path: str
    fresh: str
    caches: str = ""
    rules: Mapping[str, HomeRule] = field(default_factory=dict)
    made: str = ""
    session: str = ""

    def cache(self, path: str) -> str:
        return f"{self.caches}/{path.replace('/', '_')}"

    def keep_caches(self) -> None:
        """Make caches of what a command has put where one is empty yet. Nothing of the box may be alive."""
        for path, rule in self.rules.items():
            left, cache = f"{self.fresh}/{path}", self.cache(path)
            through_a_link = os.path.realpath(left) != os.path.join(os.path.realpath(self.fresh), path)
            if rule is HomeRule.PRIVATE and _listed(left) and not through_a_link and not _listed(cache):
                with suppress(OSError):
                    os.rename(left, _made(cache))

    def visible(self) -> list[str]:
        return [f"{self.path}/{path}" for path, rule in self.rules.items() if rule in _PERSONS]


def home_rules(
    home: str, variables: Mapping[str, str], programs: Iterable[str] = (), apart: tuple[str, ...] = ()
) -> dict[str, HomeRule]:
    """Return the rules that hold in the home at `home` for whom has these variables; see home_places.needed."""
    caches, (readable, hidden) = table("sandbox_places")["caches"], needed(home, variables, programs, apart)
    rules = dict.fromkeys((*agents_places(), *hidden), HomeRule.HIDDEN)
    rules |= {path: HomeRule.REBUILT for path in rebuilt_paths() if os.path.isfile(f"{home}/{path}")}
    rules |= dict.fromkeys(readable, HomeRule.READ)
    rules |= dict.fromkeys(caches["private"], HomeRule.PRIVATE)
    rules |= dict.fromkeys(caches["copied"], HomeRule.COPIED)
    return rules | dict.fromkeys(caches["read"], HomeRule.READ)


def home_mounts(home: Home, beyond: Iterable[str] = ()) -> Iterator[Mount]:
    """Yield the mounts that make the home, and make noface's own folders for them. `beyond` is mounted later."""
    yield "--bind", home.fresh, home.path
    taken = [os.path.relpath(path, home.path) for path in beyond if below(path, (home.path,)) and path != home.path]
    if home.made:
        yield from _left(home, "", (*home.rules, *taken))
    readable = [path for path, rule in home.rules.items() if rule is HomeRule.READ]
    for path in sorted(home.rules):
        yield from (_shown_inside if below(os.path.dirname(path), readable) else _placed)(home, path)


def cache_of(home: Home, path: str) -> tuple[str, str] | None:
    for place, rule in home.rules.items():
        top = f"{home.path}/{place}"
        if rule is HomeRule.PRIVATE and path != top and below(path, (top,)) and _listed(home.cache(place)):
            return home.cache(place), os.path.relpath(path, top)
    return None


def make_mount_point(top: str, path: str, *, folder: bool) -> None:
    """Make a place to mount something at `path` below `top`, whatever an agent made there; nothing else is touched."""
    place = Path(top, path)
    if folder:
        real_folder(place, Path(top))
    elif kind_at(real_folder(place.parent, Path(top)) / place.name) != stat.S_IFREG:
        shutil.rmtree(place) if is_folder(place) else place.unlink(missing_ok=True)
        place.touch(0o600)


def hide(path: str) -> Mount:
    return ("--tmpfs", path) if is_folder(path) else ("--ro-bind", "/dev/null", path)


def _placed(home: Home, path: str) -> Iterator[Mount]:
    source = target = f"{home.path}/{path}"
    match home.rules[path]:
        case HomeRule.PRIVATE if _listed(home.cache(path)):
            yield "--bind", home.cache(path), target
        case HomeRule.PRIVATE:
            _made(f"{home.fresh}/{path}")  # keep_caches makes a cache of what is put there
        case HomeRule.SHARED if os.path.exists(source):
            yield "--bind", source, target
        case HomeRule.SESSION:
            yield "--bind", _made(f"{home.session}/{path}"), target
        case HomeRule.COPIED:
            content = read_regular(Path(os.path.realpath(source)), COPY_BYTES_MAX + 1)
            if content is not None and len(content) <= COPY_BYTES_MAX:
                _write(f"{home.fresh}/{path}", content)
        case HomeRule.REBUILT:
            _write(f"{home.fresh}/{path}", rebuilt(source, path))
        case HomeRule.READ if os.path.exists(source):
            yield "--ro-bind", source, target
        case _:
            pass  # hidden, or the person has nothing there


def _shown_inside(home: Home, path: str) -> Iterator[Mount]:
    """Yield what lies over a part of a place that can be read, where nothing can be made, nor behind a link."""
    place = f"{home.path}/{path}"
    rule = home.rules[path] if os.path.exists(place) else None
    if rule is HomeRule.HIDDEN:
        yield hide(place)
    elif rule is HomeRule.PRIVATE:
        yield "--bind", _made(home.cache(path)), place
    elif rule in _PERSONS and os.path.realpath(place) == f"{os.path.realpath(home.path)}/{path}":
        yield "--bind" if rule is HomeRule.SHARED else "--ro-bind", place, place


def _left(home: Home, folder: str, taken: tuple[str, ...]) -> Iterator[Mount]:
    """Yield what setup has left where no rule speaks. Sockets and FIFOs lead out of the box."""
    for name in sorted(_listed(f"{home.made}/{folder}")):
        path = f"{folder}/{name}".lstrip("/")
        source, target = f"{home.made}/{path}", f"{home.path}/{path}"
        if path in taken:
            continue
        if any(other.startswith(f"{path}/") for other in taken):
            if is_folder(source):
                yield from _left(home, path, taken)
        elif os.path.islink(source):
            yield "--symlink", os.readlink(source), target
        elif os.path.isdir(source) or os.path.isfile(source):
            yield "--ro-bind", source, target


def _listed(folder: str) -> set[str]:
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()


def _made(folder: str) -> str:
    """Make a folder of noface's own if it is missing or something else; no agent writes the folders above it."""
    ordinary_folder(folder)
    return folder


def _write(target: str, content: bytes) -> None:
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    Path(target).write_bytes(content)
