"""What of a person's home a project needs: the toolchains that lie there.

These are the folders of managers that keep nothing else (sandbox_places.toml), and the installations that PATH,
variables and programs lead to. A list of what is harmless may lack something, and then a gate or an agent says what it
misses; a list of secrets may not. Files in it are left out that hold what looks like a secret, are called `.env`, or
that only the person may read while most beside them may be read by others.
"""

import os
import re
import stat
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from noface.data import table
from noface.process.files import started_with
from noface.process.home_settings import holds_credentials, rebuilt, rebuilt_paths

_SCRIPT_BYTES_MAX = 1 << 16
_ENTRIES_MAX = 3000
_SCANNED_MAX = 4000
_REMEMBERED_S = 60
_DEPTH_MAX = 3
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_TEMPLATES = ("example", "sample", "template", "dist", "schema", "defaults")
_PATH = re.compile(r"(?<![\w./~-])(?:~|\$HOME|\$\{HOME\})?/[^\s'\"`;|&<>()]{1,4000}")
_PROGRAM_WORDS = 2
_AT_HOME = re.compile(r"^(?:~|\$HOME|\$\{HOME\})")
_NO_TOOLCHAINS = ("HOME", "PWD", "OLDPWD", "PATH", "SHELL", "TMPDIR", "TMP", "TEMP")


def below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)


def is_environment_file(name: str) -> bool:
    """True if a file is called as those are that hold a project's secrets, and is no template of one."""
    return name.startswith(".env") and not name.endswith(_TEMPLATES)


def only_the_persons(status: os.stat_result) -> bool:
    return not status.st_mode & _OTHERS


def programs_in(command: str, home: str, *, begins: bool = False) -> tuple[str, ...]:
    """Return the programs of the home that a command names, and the script with which it `begins`."""
    first = _paths_in(" ".join(command.split()[:_PROGRAM_WORDS]), home) if begins else []
    named = (place for place in _paths_in(command, home) if os.access(place, os.X_OK))
    return tuple(dict.fromkeys((*(place for place in first if _is_open(place)), *named)))


def _paths_in(text: str, home: str) -> list[str]:
    places = (_as_in(home, _AT_HOME.sub(lambda _: home, match[0])) for match in _PATH.finditer(text))
    return [place for place in places if below(place, (home,))]


def needed(
    home: str, variables: Mapping[str, str], programs: Iterable[str] = (), apart: tuple[str, ...] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what of `home` whoever has these variables and starts these programs needs; nothing of what is `apart`.

    These are relative paths: what can be read, and what is hidden in that. It is looked for anew after a minute.
    """
    values = (value for name, value in variables.items() if name not in _NO_TOOLCHAINS and not name.startswith("XDG_"))
    places = {_as_in(home, part) for value in values for part in value.split(":") if part.startswith("/")}
    named = sorted(place for place in places if below(place, (home,)))
    asked = (home, variables.get("PATH", ""), tuple(named), tuple(programs), apart)
    return _needed(*asked, int(time.monotonic() / _REMEMBERED_S))


def _as_in(home: str, place: str) -> str:
    return place if below(place, (home,)) else os.path.realpath(place)


@lru_cache(maxsize=32)
def _needed(
    home: str, path: str, named: tuple[str, ...], programs: tuple[str, ...], apart: tuple[str, ...], minute: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    del minute
    known: dict[str, Any] = table("sandbox_places")["home"]
    search = _Search(home, known, apart)
    for place in known["toolchains"]:
        search.show(f"{home}/{place}")
    for folder in path.split(":"):
        if folder.startswith("/"):
            search.folder(folder)
    for program in programs:
        search.program(os.path.normpath(program))
    texts = (rebuilt(f"{home}/{name}", name).decode("utf-8", "replace") for name in rebuilt_paths())
    for value in (*named, *(place for text in texts for place in _paths_in(text, home))):
        search.named(value)
    whole = [f"{home}/{name}" for name in known["whole"]]
    readable = [*outermost(search.places), *(file for file in whole if _is_open(file) and not holds_credentials(file))]
    hidden = [file for place in search.places for file in _kept_back(place, known["settings"], known["programs"])]
    shown, kept = (tuple(dict.fromkeys(os.path.relpath(path, home) for path in each)) for each in (readable, hidden))
    return shown, kept


def led_out(home: str) -> tuple[str, ...]:
    """Return the places elsewhere to which links of a home lead that is not shown, if only the person may use them.

    Whoever keeps `~/.aws` in a folder beside the home has it hidden there too.
    """
    known: dict[str, Any] = table("sandbox_places")["home"]
    targets = []
    for folder in ("", *known["many"]):
        for entry in _entries(os.path.join(home, folder)):
            if entry.is_symlink() and not below(os.path.relpath(entry.path, home), known["toolchains"]):
                place = os.path.realpath(entry.path)
                if not below(place, (home,)) and not below(home, (place,)) and is_closed(place):
                    targets.append(place)
    return tuple(dict.fromkeys(targets))


def is_closed(place: str) -> bool:
    """True if something is only the person's: a file, a folder, or what lies directly in that."""
    try:
        status = os.lstat(place)
        if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
            return False
        inner = [entry.stat(follow_symlinks=False) for entry in _entries(place) if not entry.is_symlink()]
    except OSError:
        return False
    return any(only_the_persons(each) for each in (status, *inner))


@dataclass(slots=True)
class _Search:
    home: str
    known: Mapping[str, Any]
    apart: tuple[str, ...]
    places: dict[str, None] = field(default_factory=dict)

    def show(self, place: str) -> None:
        for path in dict.fromkeys((place, os.path.realpath(place))):
            if self._inside(path) and os.path.exists(path):
                self.places.setdefault(path)

    def folder(self, folder: str) -> None:
        place = _as_in(self.home, os.path.normpath(folder))
        if self._inside(place):
            self._installation(place)
        self._links(folder)

    def _links(self, folder: str) -> None:
        for entry in _entries(folder):
            if entry.is_symlink():
                self.program(entry.path)

    def program(self, path: str) -> None:
        for each in dict.fromkeys((path, os.path.realpath(path))):
            if self._inside(each) and os.path.isfile(each) and not below(each, self.places):
                self._installation(os.path.dirname(each), each)

    def named(self, value: str) -> None:
        """Take a place that variables or settings name: an installation, or a file for others too."""
        private = (f"{self.home}/{path}" for path in table("sandbox_places")["caches"]["private"])
        if not self._inside(value := os.path.normpath(value)) or below(value, private):
            return
        if os.path.isdir(value):
            if not self._holds_more(value):
                self.show(value)
        elif _is_open(value) and not holds_credentials(value):
            self.show(value)

    def _inside(self, path: str) -> bool:
        return below(path, (self.home,)) and path != self.home and not below(path, self.apart)

    def _holds_more(self, folder: str) -> bool:
        inner = os.path.relpath(folder, self.home)
        return inner in self.known["many"] or (inner.startswith(".") and "/" not in inner)

    def _installation(self, folder: str, program: str = "") -> None:
        path = Path(folder)
        parent = str(path.parent)
        if "node_modules" in path.parts:
            self.show(str(Path(*path.parts[: path.parts.index("node_modules") + 1])))
        elif parent != self.home and os.path.exists(f"{parent}/pyvenv.cfg"):
            self.show(parent)
            self._links(f"{parent}/bin")  # to the Python that it was made of
        elif path.name in self.known["programs"]:
            self.show(folder)
            if parent != self.home and any(os.path.isdir(f"{parent}/{mark}") for mark in self.known["marks"]):
                if not self._holds_more(parent):
                    self.show(parent)
                elif os.path.relpath(parent, self.home) not in self.known["many"]:
                    for name in self.known["layout"]:
                        self.show(f"{parent}/{name}")
        elif program and (parent == self.home or self._holds_more(folder)):
            self.show(program)
        elif not self._holds_more(folder):
            self.show(folder)


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from islice(entries, _ENTRIES_MAX)
    except OSError:
        return


def _is_open(path: str) -> bool:
    try:
        status = Path(path).stat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and not only_the_persons(status)


def outermost(paths: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for path in sorted(paths):
        if not below(path, kept):
            kept.append(path)
    return kept


def _kept_back(place: str, settings: Iterable[str], programs: Iterable[str]) -> list[str]:
    """Return the files near the top of a place that is shown which are not to be seen all the same."""
    patterns = frozenset(settings)
    closed: list[str] = []
    hidden: list[str] = []
    files = 0
    folders = deque([(place, 0)] if os.path.isdir(place) and not os.path.islink(place) else [])
    while folders and files < _SCANNED_MAX:
        folder, depth = folders.popleft()  # the nearest first
        scripts = Path(folder).name in programs
        for entry in _entries(folder):
            if entry.is_dir(follow_symlinks=False):
                if depth < _DEPTH_MAX:
                    folders.append((entry.path, depth + 1))
            elif entry.is_file(follow_symlinks=False):
                files += 1
                status = entry.stat(follow_symlinks=False)
                if only_the_persons(status):
                    closed.append(entry.path)
                script = scripts and status.st_size < _SCRIPT_BYTES_MAX and bool(started_with(entry.path))
                settings_of = entry.name in patterns or script
                if is_environment_file(entry.name) or (
                    settings_of and holds_credentials(entry.path, script=script and entry.name not in patterns)
                ):
                    hidden.append(entry.path)
    return list(dict.fromkeys((*hidden, *(closed if 2 * len(closed) <= files else ()))))
