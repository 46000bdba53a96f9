"""Finds what an agent missed in its sandbox (its installation, a toolchain), or what its own configuration denies.

A place counts if the last output of a failed agent complains of it, and a person can use it, but not a command in the
very same sandbox (law 10).
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from noface.data import table
from noface.model.access import Permissions, Settings, Tool
from noface.model.failure import OUT_OF_REACH, TOOLS_DENIED, Failure
from noface.model.quoting import some
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import ModelSpec
from noface.process.command import Command
from noface.process.files import read_bounded, started_with
from noface.process.home_places import below, is_closed
from noface.process.sandbox_home import agents_places
from noface.process.supervise import Launcher

_MISSES = re.compile(
    r"no such file|not found|cannot find|(?:can.?t|could ?n.?t|cannot|could not|unable to|failed to) "
    r"(?:find|open|read|load|access|stat|resolve|locate)|does not exist|bad interpreter|permission denied"
    r"|\b(?:ENOENT|EACCES|MODULE_NOT_FOUND)\b",
    re.IGNORECASE,
)
_READ_ONLY = re.compile(r"read-only file ?system|\bEROFS\b|: directory nonexistent", re.IGNORECASE)
_LAST_LINES = 5
_PATH = re.compile(r"(?:(?<![\w.~/:-])|(?<=file://))(?P<path>~?/[^\s'\"`‘’“”:,;()<>\[\]{}|*?]+)")
_PROGRAM = re.compile(
    r"(?:^|: |['‘\"])(?P<name>[A-Za-z][\w.+-]*)['’\"]?: (?:command )?(?:not found|no such file)", re.IGNORECASE
)
_WRITES = re.compile(r"^mcp_.*(?:write|edit|patch|replace|create)", re.IGNORECASE)
_CANDIDATES_MAX = 20
_LINE_MAX = 2_000
_NAMED_MAX = _CALLS_MAX = 3
_PROBE_S_MAX = 20.0
_PROBE_BYTES_MAX = 20_000
_PROBE = """\
for path; do
  if [ -c "$path" ] || [ ! -r "$path" ]; then echo hidden; elif [ -w "$path" ]; then echo open; else echo closed; fi
done"""


def missed_places(text: str, home: str, path: str) -> dict[str, bool]:
    """Return the absolute paths that an output complains of, the last first; True if they can only be read."""
    missed: dict[str, bool] = {}
    for line in (line[:_LINE_MAX] for line in reversed(text.splitlines())):
        read_only = _READ_ONLY.search(line) is not None
        for place in _named(line, home, path) if read_only or _MISSES.search(line) else ():
            missed.setdefault(place, read_only)
    return dict(list(missed.items())[:_CANDIDATES_MAX])


def _named(line: str, home: str, path: str) -> Iterator[str]:
    named = [match["path"].rstrip(".!") for match in _PATH.finditer(line)]
    programs = [shutil.which(match["name"], path=path) or "" for match in _PROGRAM.finditer(line)]
    for place in (*(home + name[1:] if name.startswith("~") else name for name in reversed(named)), *programs):
        if place:
            starts = [shutil.which(word, path=path) for word in started_with(place)]
            yield from (os.path.normpath(place), os.path.realpath(place), *map(os.path.realpath, filter(None, starts)))


def _missed_by(error: Failure, variables: Mapping[str, str], *logs: str) -> dict[str, bool]:
    text = "\n".join((*error.evidence, error.message, error.excerpt, *logs))
    return missed_places(text, variables.get("HOME", ""), variables.get("PATH", os.defpath))


def closed_places(error: Failure, variables: Mapping[str, str]) -> tuple[str, ...]:
    """Return the folders that a failed command could not write in its sandbox, as its output says, and a person can."""
    seen = (_there(place, read_only=True) for place, closed in _missed_by(error, variables).items() if closed)
    return tuple(dict.fromkeys(there for there in seen if there and os.access(there, os.W_OK)))[:_NAMED_MAX]


def unseen_places(error: Failure, variables: Mapping[str, str]) -> tuple[str, ...]:
    """Return what to show a failed command of the home: its output misses it, and the person has it."""
    home = variables.get("HOME", "")
    missed = (place for place, closed in _missed_by(error, variables).items() if not closed)
    at_home = (place for place in missed if below(place, (home,)) and place != home and os.access(place, os.R_OK))
    return tuple(dict.fromkeys(_to_show(place, home) for place in at_home))[:_NAMED_MAX]


def out_of_reach(
    launcher: Launcher, command: Command, error: Failure, keep_out: tuple[str, ...], *, plain: bool
) -> Failure | None:
    """Return the failure of an agent, run by `command`, that misses what its sandbox hides or makes read-only.

    What lies in `keep_out` is noface's own, and nobody is to see it. What a `plain` program prints last is its error.
    """
    last = [line[:_LINE_MAX] for line in _tail(command.stdout).splitlines()[-_LAST_LINES:]] if plain else []
    env = dict(command.env)
    missed = _missed_by(error, env, "\n".join(last), _tail(command.stderr))
    seen = {place: _there(place, read_only=missed[place]) for place in missed if not below(place, keep_out)}
    wanted = {place: there for place, there in seen.items() if there}
    states = _inside(launcher, command, list(wanted.values())) if wanted else []
    for (place, there), state in zip(wanted.items(), states, strict=False):
        if state == "hidden" and there == place:
            return _failure(place, "show", _to_show(place, env.get("HOME", "")), error)
        if state != "open" and missed[place] and os.access(there, os.W_OK):
            return _failure(place, "write", there, error)
    return None


def _there(place: str, *, read_only: bool) -> str:
    there = place if os.access(place, os.F_OK) or not read_only else str(Path(place).parent)
    return there if there != "/" and os.access(there, os.R_OK) else ""


def _inside(launcher: Launcher, command: Command, places: list[str]) -> list[str]:
    log = Path(f"{command.stderr}.reach")
    log.unlink(missing_ok=True)
    argv = ("/bin/sh", "-c", _PROBE, "sh", *places)
    probe = replace(command, argv=argv, stdin=None, stdout=str(log), stderr=str(log), timeout_s=_PROBE_S_MAX)
    ended = launcher.run(replace(probe, idle_timeout_s=None, log_max_bytes=_PROBE_BYTES_MAX))
    lines = _tail(str(log)).splitlines()
    log.unlink(missing_ok=True)
    return lines if ended.exit_code == 0 and len(lines) == len(places) else []


def _to_show(place: str, home: str) -> str:
    """Return what to show for a place in the home: a tool's folder with a dot, else its folder; if closed, itself."""
    known = table("sandbox_places")
    many = [f"{home}/{path}" for path in (*known["caches"]["private"], *agents_places(), *known["home"]["many"])]
    folders = [str(parent) for parent in Path(place).parents if below(str(parent), (home,)) and str(parent) != home]
    own = [folder for folder in folders if not any(below(path, (folder,)) for path in many)]
    if not own or is_closed(place):
        return place
    return own[-1] if os.path.relpath(place, home).startswith(".") else own[0]


def denied(model: ModelSpec, refused: Sequence[str]) -> Failure | None:
    """Return that an agent's own configuration kept it from writing, by the calls that it refused; None if it did not.

    Of an agent whose tools that edit are known only these count: one may well do without a command or a page.
    """
    edits = table("agents")[model.agent].get("calls", {}).get("edit")
    names = [call.partition(" ")[0] for call in refused]
    stopped = [c for c, name in zip(refused, names, strict=True) if not edits or name in edits or _WRITES.search(name)]
    if not stopped:
        return None
    section = f"[models.{model.name}]"
    if model.permissions is not Permissions.FULL:
        key = f'{section} permissions = "full"'
    elif not model.may(Tool.EDIT):
        key = f'"edit" among {section} tools'
    elif model.settings is not Settings.NONE:
        key = f'{section} settings = "none", which leaves out those of the project and of you, or a rule there,'
    else:
        key = f"{section} args without what restricts it"
    message = (
        f"{model.agent} itself refused {some(tuple(stopped), _CALLS_MAX)}, and nothing was changed: {key} lets it write"
    )
    return Failure(
        FailureKind.MISCONFIGURED,
        message,
        rule=TOOLS_DENIED,
        signature=TOOLS_DENIED,
        evidence=tuple(stopped),
        charged=False,
    )


def _failure(place: str, key: str, named: str, error: Failure) -> Failure:
    does = "hides" if key == "show" else "lets nobody write"
    look = "; keys or logins may lie there: look first" if is_closed(named) else ""
    text = f'the agent needs {place}, which the sandbox {does}: set [sandbox] {key} = ["{named}"]{look}'
    return Failure(
        FailureKind.MISCONFIGURED,
        text,
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
