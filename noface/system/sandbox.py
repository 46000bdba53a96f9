"""A box around one command: which files it sees and may write, and whether it reaches the network.

Bubblewrap (0.8.0 and later) makes it, from user namespaces: the machine read-only; /tmp and /run private; in the
person's home neither keys nor logins; nothing writable but what is named. All capabilities are dropped, no program
gains rights by being run, and whatever the command leaves behind ends with it (a PID namespace of its own).

The home is put together from the person's: each entry read-only, those that hold secrets left out, caches noface's own,
and below all that a folder that starts empty, so that programs can write what they like there and nobody keeps it.

What a box does not stop: it can read whatever is no known secret place, and with the network on it reaches what listens
on this machine. It is no virtual machine: a hole in the kernel is a way out.
"""

import os
import stat
import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from noface.system.keeper import BOX_STATUS

_FLAGS = (
    "--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
    "--die-with-parent", "--new-session", "--cap-drop", "ALL",
)  # fmt: skip
_PROBE_SECONDS_MAX = 10.0


class HomeRule(StrEnum):
    """What a box makes of a place in the person's home; without a rule it is there, read-only."""

    PRIVATE = "private"
    """noface's own in its place, kept from run to run"""
    SHARED = "shared"
    """the person's, writable"""
    COPIED = "copied"
    """a copy, writable, forgotten afterwards"""
    SESSION = "session"
    """a folder of the attempt's, kept with it"""
    READ = "read"
    """read-only, also where it lies in a private or secret place"""
    HIDDEN = "hidden"
    """not there"""


@dataclass(frozen=True, slots=True)
class AgentHome:
    """What an agent needs of a folder in the person's home; of the rest of it nothing is there.

    `variable`, where the agent's environment sets it, names the folder itself. `shared` are logins, which the agent
    renews.
    """

    path: str
    variable: str = ""
    read: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()
    session: tuple[str, ...] = ()

    def rules(self, home: str, environment: Mapping[str, str]) -> dict[str, HomeRule]:
        """Return the rules for the home at `home`; none where the environment names a folder outside of it."""
        named = environment.get(self.variable, "") if self.variable else ""
        path = self.path
        if named.startswith("/"):
            if not below(named, (home,)) or named.rstrip("/") == home:
                return {}
            path = os.path.relpath(named, home)
        each = {
            HomeRule.READ: self.read,
            HomeRule.SHARED: self.shared,
            HomeRule.COPIED: self.copied,
            HomeRule.SESSION: self.session,
        }
        rules = {f"{path}/{name}" if name else path: rule for rule, names in each.items() for name in names}
        return {path: HomeRule.HIDDEN, **rules}

    def outside(self, home: str, environment: Mapping[str, str]) -> str:
        """Return the folder that the environment names outside of the home; "" where it names none."""
        named = environment.get(self.variable, "") if self.variable else ""
        return named if named.startswith("/") and not below(named, (home,)) else ""


@dataclass(frozen=True, slots=True)
class Home:
    """The home of a box: the person's at `path`, its rules by relative path.

    `fresh` is the folder that lies below everything, `caches` what holds the private places, `session` what holds the
    attempt's own. `made` is a home that `[project] setup` has left, which saw the
    person's entries, too: those come first.
    """

    path: str
    fresh: str
    caches: str
    rules: Mapping[str, HomeRule] = field(default_factory=dict)
    made: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """What one command may reach. All paths are absolute; those that do not exist are passed over.

    `tmp` is the folder that is /tmp inside. `hidden` folders are empty and `hidden` files not readable inside, but for
    what is in `visible` (read-only) and `writable`.
    """

    program: str
    home: Home | None
    tmp: str
    writable: tuple[str, ...] = ()
    visible: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    network: bool = True

    def command_line(self, argv: tuple[str, ...], cwd: str) -> tuple[str, ...]:
        """Return the command line that runs `argv` in the box. Looks at the file system for what is there to be shown.

        BOX_STATUS stands in it for a descriptor.
        """
        options = [self.program, *_FLAGS, *(() if self.network else ("--unshare-net",))]
        options += ["--json-status-fd", BOX_STATUS]
        options += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        options += [part for mount in self._mounts() for part in mount]
        return (*options, "--chdir", cwd, "--", *argv)

    def _mounts(self) -> Iterator[tuple[str, ...]]:
        places = known_places()
        for folder in places.private_folders:
            if _is_folder(folder):
                yield ("--bind", self.tmp, folder) if folder in _ON_DISK else ("--tmpfs", folder)
        yield from (_read(path) for path in places.needed if os.path.exists(path))
        yield from (_hide(path) for path in places.secret if path.startswith("/") and os.path.lexists(path))
        home = self.home
        outside = [path for path in self.visible if home is None or not below(path, (home.path,))]
        yield from (_read(path) for path in _outermost(outside) if os.path.exists(path))
        if home is not None:
            yield from _home_mounts(home)
            absent = {f"{home.path}/{path}" for path, rule in home.rules.items() if rule in _NOT_THE_PERSONS}
            yield from (_read(path) for path in self.visible if below(path, absent) and os.path.exists(path))
        yield from (_hide(path) for path in _outermost(self.hidden) if os.path.lexists(path))
        yield from (_read(path) for path in self.visible if below(path, self.hidden) and os.path.exists(path))
        yield from (("--bind", path, path) for path in self.writable if os.path.exists(path))


_NOT_THE_PERSONS = (HomeRule.HIDDEN, HomeRule.PRIVATE)
_ON_DISK = ("/tmp", "/var/tmp")  # noqa: S108 - what programs write there may not fit into memory


def _read(path: str, source: str = "") -> tuple[str, ...]:
    return ("--ro-bind", source or path, path)


def _hide(path: str) -> tuple[str, ...]:
    return ("--tmpfs", path) if _is_folder(path) else ("--ro-bind", "/dev/null", path)


def _is_folder(path: str) -> bool:
    """Tell whether a real folder is there, not a link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def below(path: str, folders: Iterable[str]) -> bool:
    """Tell whether a path is one of the folders or lies in one."""
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)


def _outermost(paths: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not below(path, kept):
            kept.append(path)
    return kept


def _home_mounts(home: Home) -> Iterator[tuple[str, ...]]:
    yield "--bind", home.fresh, home.path
    yield from _composed(home, "")


def _composed(home: Home, folder: str) -> Iterator[tuple[str, ...]]:
    """Yield the mounts of a folder of the home that has rules below it, entry by entry."""
    prefix = f"{folder}/" if folder else ""
    named = {path[len(prefix) :].partition("/")[0] for path in home.rules if path.startswith(prefix)}
    for name in sorted(named | _entries(home, folder)):
        yield from _placed(home, prefix + name)


def _placed(home: Home, path: str) -> Iterator[tuple[str, ...]]:
    rule = home.rules.get(path)
    source, target = _source(home, path), f"{home.path}/{path}"
    divided = any(other.startswith(f"{path}/") for other in home.rules)
    match rule:
        case HomeRule.PRIVATE:
            yield "--bind", _made(f"{home.caches}/{path.replace('/', '_')}"), target
        case HomeRule.SHARED:
            if source:
                yield "--bind", source, target
        case HomeRule.SESSION:
            yield "--bind", _made(f"{home.session}/{path}"), target
        case HomeRule.COPIED:
            if source:
                _copy(source, f"{home.fresh}/{path}")
        case HomeRule.READ:
            if source:
                yield _read(target, source)
        case HomeRule.HIDDEN:
            pass
        case None if divided and not source:
            if any(other.startswith(f"{path}/") and home.rules[other] is not HomeRule.HIDDEN for other in home.rules):
                _made(f"{home.fresh}/{path}")
        case None if divided and os.path.isdir(source):
            _made(f"{home.fresh}/{path}")
        case None:
            yield from _as_it_is(source, target)
    if divided and rule in (None, HomeRule.PRIVATE, HomeRule.HIDDEN) and (not source or os.path.isdir(source)):
        yield from _divided(home, path, rule)


def _divided(home: Home, path: str, rule: HomeRule | None) -> Iterator[tuple[str, ...]]:
    """Yield what is in a folder with rules below it: everything, or what they name where the rest is not there."""
    if rule is None:
        yield from _composed(home, path)
        return
    for other in sorted(home.rules):
        if other.startswith(f"{path}/") and home.rules[other] not in (HomeRule.HIDDEN, HomeRule.PRIVATE):
            yield from _placed(home, other)


def _as_it_is(source: str, target: str) -> Iterator[tuple[str, ...]]:
    if not source:
        return
    if os.path.islink(source):
        yield "--symlink", os.readlink(source), target
    elif os.path.isdir(source) or os.path.isfile(source):
        yield _read(target, source)  # sockets and FIFOs lead out of the box


def _entries(home: Home, folder: str) -> set[str]:
    found: set[str] = set()
    for top in (home.path, home.made):
        try:
            found.update(os.listdir(os.path.join(top, folder)) if top else ())
        except OSError:
            continue
    return found


def _source(home: Home, path: str) -> str:
    """Return where a place's content lies: in the person's home, else in what setup has left; "" where nowhere."""
    tops = (home.path, home.made) if home.made else (home.path,)
    return next((f"{top}/{path}" for top in tops if os.path.lexists(f"{top}/{path}")), "")


def _made(folder: str) -> str:
    Path(folder).mkdir(parents=True, exist_ok=True)
    return folder


def _copy(source: str, target: str) -> None:
    try:
        content = Path(source).read_bytes()
    except OSError:
        return
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    Path(target).write_bytes(content)


@dataclass(frozen=True, slots=True)
class Places:
    """What is known of every machine: sandbox_places.toml, paths of homes without a leading slash."""

    private_folders: tuple[str, ...]
    needed: tuple[str, ...]
    caches: tuple[str, ...]
    copied: tuple[str, ...]
    cached_read: tuple[str, ...]
    secret: tuple[str, ...]

    def home_rules(self) -> dict[str, HomeRule]:
        """Return the rules that hold in every home."""
        rules = {path: HomeRule.HIDDEN for path in self.secret if not path.startswith("/")}
        rules |= dict.fromkeys(self.caches, HomeRule.PRIVATE) | dict.fromkeys(self.copied, HomeRule.COPIED)
        return rules | dict.fromkeys(self.cached_read, HomeRule.READ)


@lru_cache(maxsize=1)
def known_places() -> Places:
    """Return what sandbox_places.toml says."""
    data = tomllib.loads(files("noface.system").joinpath("sandbox_places.toml").read_text("utf-8"))
    return Places(
        private_folders=tuple(data["private"]["folders"]),
        needed=tuple(data["private"]["needed"]),
        caches=tuple(data["caches"]["private"]),
        copied=tuple(data["caches"]["copied"]),
        cached_read=tuple(data["caches"]["read"]),
        secret=tuple(data["secret"]["paths"]),
    )


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """What became of looking for bubblewrap: its path and version, or in `problem` why no box can be made."""

    program: str = ""
    version: str = ""
    problem: str = ""
    remedy: str = ""

    @property
    def works(self) -> bool:
        """True where a box could be made."""
        return not self.problem


def find_bubblewrap(program: str | None) -> Bubblewrap:
    """Try whether `program` (None: there is none) makes a box here; containers and some systems forbid it."""
    if program is None:
        return Bubblewrap(problem="bubblewrap is not installed", remedy=_INSTALL)
    argv = (
        program,
        *_FLAGS,
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--tmpfs",
        "/run",
        "--",
        "true",
    )
    try:
        version = _asked(program, "--version").stdout.strip().removeprefix("bubblewrap ")
        done = _asked(*argv)
    except (OSError, subprocess.SubprocessError) as error:
        return Bubblewrap(program, problem=f"{program} cannot be run: {error}", remedy=_INSTALL)
    if done.returncode != 0:
        said = " ".join(done.stderr.split())[:300] or f"exit code {done.returncode}"
        return Bubblewrap(program, version, f"bubblewrap cannot make a box here: {said}", _ALLOW)
    return Bubblewrap(program, version)


_INSTALL = "Install it (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap)."
_ALLOW = "Let ordinary users make user namespaces (docs/sandbox.md says how on your system)."


def _asked(*argv: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        argv,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=_PROBE_SECONDS_MAX,
        stdin=subprocess.DEVNULL,
        env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
    )
