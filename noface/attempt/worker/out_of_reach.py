"""Finds what an agent missed in its sandbox: its own installation, a toolchain, its configuration.

Words alone decide nothing (law 10). A place counts if the last output of a failed agent complains of it, if the person
can use it, and if a command in the very same sandbox cannot. Some complain of a place that they do not name ("attempt
to write a readonly database"): then it is one that a plain command, or the script that it runs, names.
"""

import os
import re
import shlex
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from noface.model.failure import OUT_OF_REACH, Failure
from noface.model.taxonomy import FailureKind
from noface.process.command import Command
from noface.process.files import kind_at, read_bounded, read_regular, started_with
from noface.process.home_places import below, is_closed, of_many
from noface.process.sandbox_home import known_places
from noface.process.supervise import Launcher

_MISSES = re.compile(
    r"no such file|not found|cannot find|(?:can.?t|could ?n.?t|cannot|could not|unable to|failed to) "
    r"(?:find|open|read|load|access|stat|resolve|locate)|does not exist|bad interpreter|permission denied"
    r"|\b(?:ENOENT|EACCES|MODULE_NOT_FOUND)\b",
    re.IGNORECASE,
)
_READ_ONLY = re.compile(r"read-only file ?system|\bEROFS\b", re.IGNORECASE)
_REFUSED = re.compile(
    r"read-?only (?:file ?system|database|directory|volume)|\bE(?:ROFS|ACCES|PERM)\b|\[Errno (?:1|13|30)\]"
    r"|permission denied|access (?:is )?denied|operation not permitted|unable to open database"
    r"|(?:can.?t|cannot|could not|unable to|failed to) (?:write|create|lock)\b",
    re.IGNORECASE,
)
_LAST_LINES = 5
_PATH = re.compile(r"(?:(?<![\w.~/:-])|(?<=file://))(?P<path>~?/[^\s'\"`‘’“”:,;()<>\[\]{}|*?]+)")
_HOME = re.compile(r"\$\{?HOME\}?(?=/)")
_PROGRAM = re.compile(
    r"(?:^|: |['‘\"])(?P<name>[A-Za-z][\w.+-]*)['’\"]?: (?:command )?(?:not found|no such file)", re.IGNORECASE
)
_CANDIDATES_MAX = 20
_LINE_MAX = 2_000
_SCRIPT_BYTES_MAX = 1 << 18
_NAMED_MAX = 3
_NO_HOMES = frozenset({"HOME", "PWD", "OLDPWD", "PATH"})
_PROGRAM_WORDS = 2
"""A command line begins with its program, and often with the script that the program runs."""
_PROBE_S_MAX = 20.0
_PROBE_BYTES_MAX = 20_000
_PROBE = """\
for path; do
  seen=
  [ -e "$path" ] && seen=e && [ ! -c "$path" ] && [ -r "$path" ] && seen=r && [ -w "$path" ] && seen=w
  echo "=$seen"
done"""
_NOTHING, _READS, _WRITES = range(3)
_LEVELS = {"": _NOTHING, "e": _NOTHING, "r": _READS, "w": _WRITES}


def missed_places(text: str, home: str, path: str) -> dict[str, bool]:
    """Return the absolute paths that an error output complains of, the last first; programs as found on `path`.

    True are those in a file system that can only be read, False those that were not there to be read.
    """
    missed: dict[str, bool] = {}
    for line in (line[:_LINE_MAX] for line in reversed(text.splitlines())):
        read_only = _READ_ONLY.search(line) is not None
        for place in _named(line, home, path) if read_only or _MISSES.search(line) else ():
            missed.setdefault(place, read_only)
    return dict(list(missed.items())[:_CANDIDATES_MAX])


def closed_places(error: Failure, variables: Mapping[str, str], *, made: bool = False) -> tuple[str, ...]:
    """Return the folders that a failed command could not write in its sandbox, as its output says, and a person can.

    Of a place below a folder that a variable names (a toolchain's home, a cache) it is that folder. `made`: it is
    known that something was to be made there, so a place that was only missing counts as well.
    """
    home, path = variables.get("HOME", ""), variables.get("PATH", os.defpath)
    missed = missed_places("\n".join((*error.evidence, error.message, error.excerpt)), home, path)
    seen = [_there(place, read_only=True) for place, read_only in missed.items() if read_only or made]
    named = sorted(value for name, value in variables.items() if name not in _NO_HOMES and Path(value).is_absolute())
    closed = (next((value for value in named if below(there, (value,))), there) for there in seen if there)
    return tuple(dict.fromkeys(place for place in closed if os.access(place, os.W_OK)))[:_NAMED_MAX]


def _named(line: str, home: str, path: str) -> Iterator[str]:
    """Yield the places that a line names, and the interpreters of the scripts among them."""
    named = [match["path"].rstrip(".!") for match in _PATH.finditer(line)]
    programs = [shutil.which(match["name"], path=path) or "" for match in _PROGRAM.finditer(line)]
    for place in (*(home + name[1:] if name.startswith("~") else name for name in reversed(named)), *programs):
        if place:
            yield from (os.path.normpath(place), os.path.realpath(place), *_interpreter(place, path))


def _interpreter(script: str, path: str) -> tuple[str, ...]:
    """Return the programs that the first line of a script names."""
    programs = [shutil.which(word, path=path) for word in started_with(script)]
    return tuple(os.path.realpath(program) for program in programs if program is not None)


def out_of_reach(
    launcher: Launcher,
    command: Command,
    error: Failure,
    keep_out: tuple[str, ...],
    plain: str | None = None,
    checkout: str = "",
) -> Failure | None:
    """Return the failure of an agent, run by `command`, that misses what its sandbox hides or makes read-only.

    What lies in `keep_out` is noface's own, and nobody is to see it. `plain` is the command line of a model that is a
    plain program: what it prints last is its error, and its text may name what it misses, if not in the `checkout`.
    """
    last = _last_lines(command.stdout) if plain is not None else ""
    env, printed = dict(command.env), (*error.evidence, error.message, last, error.excerpt, _tail(command.stderr))
    text = "\n".join(printed)
    home = env.get("HOME", "")
    missed = missed_places(text, home, env.get("PATH", os.defpath))
    seen = {place: _there(place, read_only=missed[place]) for place in missed if not below(place, keep_out)}
    wanted = {place: there for place, there in seen.items() if there}
    levels = _inside(launcher, command, list(wanted.values())) if wanted else []
    for (place, there), level in zip(wanted.items(), levels, strict=False):
        if level == _NOTHING and there == place:
            return _failure(place, "show", _to_show(launcher, command, place, home), error, home)
        if level < _WRITES and missed[place] and os.access(there, os.W_OK):
            return _failure(place, "write", there, error, home)
    if not plain or not _REFUSED.search(f"{last}\n{_last_lines(command.stderr)}"):
        return None
    return _supposed(launcher, command, error, (*keep_out, checkout), plain)


def _last_lines(log: str) -> str:
    return "\n".join(line[:_LINE_MAX] for line in _tail(log).splitlines()[-_LAST_LINES:])


def _supposed(
    launcher: Launcher, command: Command, error: Failure, keep_out: tuple[str, ...], plain: str
) -> Failure | None:
    """Return the failure of a plain command that names places which the person can write to and its sandbox cannot."""
    home = dict(command.env).get("HOME", "")
    seen = {place: _there(place, read_only=True) for place in _named_in(plain, home) if not below(place, keep_out)}
    wanted = dict([each for each in seen.items() if _for_data(each[1])][:_CANDIDATES_MAX])
    levels = _inside(launcher, command, list(wanted.values())) if wanted else []
    closed = [one for one, level in zip(wanted.items(), levels, strict=False) if level < _WRITES][:_NAMED_MAX]
    if not closed:
        return None
    places, keys = ", ".join(dict(closed)), ", ".join(dict.fromkeys(f'"{there}"' for _, there in closed))
    text = f"set [sandbox] write = [{keys}] if it writes there; it ended with: {error.message}"
    return _misses(f"the sandbox lets nobody write {places}, which the worker's command names: {text}", places, error)


def _for_data(place: str) -> bool:
    """True if the person can write to a place that is neither a program nor a device."""
    program = kind_at(place) == stat.S_IFREG and os.access(place, os.X_OK)
    return kind_at(place) in (stat.S_IFREG, stat.S_IFDIR) and os.access(place, os.W_OK) and not program


def _named_in(plain: str, home: str) -> Iterator[str]:
    """Yield the absolute paths that a command line and the scripts that it runs name, but for those scripts."""
    try:
        words = [home + word[1:] if word.startswith("~/") else word for word in shlex.split(plain)]
    except ValueError:
        words = []
    read = {word: read_regular(Path(word), _SCRIPT_BYTES_MAX) or b"" for word in words if word.startswith("/")}
    scripts = {word: text.decode(errors="replace") for word, text in read.items() if b"\0" not in text}
    for text in (plain, *scripts.values()):
        for match in _PATH.finditer(_HOME.sub(lambda _: home, text)):
            place = home + match["path"][1:] if match["path"].startswith("~") else match["path"].rstrip(".!")
            if place not in words[:_PROGRAM_WORDS]:
                yield os.path.normpath(place)


def _there(place: str, *, read_only: bool) -> str:
    """Return a place that the person can use, else the folder in which it was to be made; "" if there is none."""
    there = place if os.access(place, os.F_OK) or not read_only else str(Path(place).parent)
    return there if there != "/" and os.access(there, os.R_OK) else ""


def _inside(launcher: Launcher, command: Command, places: list[str]) -> list[int]:
    """Return what a command in the same box may do with each place; nothing if that cannot be told."""
    log = Path(f"{command.stderr}.reach")
    log.unlink(missing_ok=True)
    argv = ("/bin/sh", "-c", _PROBE, "sh", *places)
    probe = replace(command, argv=argv, stdin=None, stdout=str(log), stderr=str(log), timeout_s=_PROBE_S_MAX)
    ended = launcher.run(replace(probe, idle_timeout_s=None, log_max_bytes=_PROBE_BYTES_MAX))
    lines = _tail(str(log)).splitlines()
    log.unlink(missing_ok=True)
    if ended.exit_code != 0 or len(lines) != len(places):
        return []
    return [_LEVELS.get(line.removeprefix("="), _WRITES) for line in lines]


def _to_show(launcher: Launcher, command: Command, place: str, home: str) -> str:
    """Return the outermost folder above a hidden place that is hidden as a whole and is no place of many things."""
    folders = [str(parent) for parent in Path(place).parents if below(str(parent), (home,)) and str(parent) != home]
    own = _own_folders(place, home) or folders[:1] or [str(Path(place).parent)]
    hidden = [folder for folder, level in zip(own, _inside(launcher, command, own), strict=False) if level == _NOTHING]
    return hidden[-1] if hidden else place


def _own_folders(place: str, home: str) -> list[str]:
    """Return the folders above a place of the home, the innermost first, that are no place of many things.

    A tool has a folder with a dot for itself. Of other folders nobody knows what else lies there, nor beside what only
    the person may read.
    """
    many = [f"{home}/{path}" for path in (*known_places().caches_private, *known_places().agents, *of_many())]
    folders = [str(parent) for parent in Path(place).parents if below(str(parent), (home,)) and str(parent) != home]
    own = [folder for folder in folders if not any(below(path, (folder,)) for path in many)]
    if own and is_closed(place):
        return [place]
    return own if own and os.path.relpath(place, home).startswith(".") else own[:1]


def unseen_places(error: Failure, variables: Mapping[str, str]) -> tuple[str, ...]:
    """Return what to show a failed command of the home: its output misses it, and the person has it."""
    home, path = variables.get("HOME", ""), variables.get("PATH", os.defpath)
    missed = missed_places("\n".join((*error.evidence, error.message, error.excerpt)), home, path)
    there = [place for place, read_only in missed.items() if not read_only and _there(place, read_only=False)]
    at_home = [place for place in there if below(place, (home,)) and place != home]
    return tuple(dict.fromkeys((_own_folders(place, home) or [place])[-1] for place in at_home))[:_NAMED_MAX]


def _failure(place: str, key: str, named: str, error: Failure, home: str) -> Failure:
    does = "hides" if key == "show" else "lets nobody write"
    secret = is_closed(named) or below(named, [f"{home}/{path}" for path in known_places().agents])
    look = "; keys or logins may lie there: look first" if secret else ""
    text = f'the agent needs {place}, which the sandbox {does}: set [sandbox] {key} = ["{named}"]{look}'
    return _misses(text, place, error)


def _misses(message: str, place: str, error: Failure) -> Failure:
    return Failure(
        FailureKind.MISCONFIGURED,
        message,
        rule=OUT_OF_REACH,
        signature=f"{OUT_OF_REACH}:{place}",
        evidence=(error.message, *error.evidence[-3:]),
        excerpt=error.excerpt,
        charged=False,
    )


def _tail(log: str) -> str:
    try:
        return read_bounded(Path(log), 0, _PROBE_BYTES_MAX)
    except OSError:
        return ""
