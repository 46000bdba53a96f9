"""Finds changes to what the gates call: scripts of package.json, targets of a Makefile, tox, test sections.

A gate's own command stands in noface.toml, which is protected; but `npm test` is only a name for what package.json
says. Each file is read as it is on main and as the change leaves it. What only adds to a check is no finding.
"""

import json
import re
from collections.abc import Iterable, Mapping
from configparser import ConfigParser
from configparser import Error as IniError
from dataclasses import dataclass
from typing import Any

from noface.core.classify.diff_make import Makefile, read_makefile
from noface.core.classify.diff_sections import changed_sections
from noface.core.classify.syntax_data import parse_toml

_CALLS_PACKAGE = re.compile(
    r"\b(?:npm|pnpm|yarn|bun)\s+(?:(?:--?[\w-]+(?:=\S+)?|-C\s+\S+|workspaces?\s+foreach\s+\S*)\s+)*(?:run(?:-script)?\s+)?"
    r"(?P<script>[\w:.@/-]+)"
)
_CALLS_MAKE = re.compile(r"\bg?make\b(?P<words>[^;&|\n]*)")
_SHORT = {"t": "test", "tst": "test", "it": "test"}
_MANIFESTS = frozenset(
    ("package.json", "pyproject.toml", "setup.cfg", "tox.ini", "noxfile.py", "Makefile", "makefile", "GNUmakefile")
)
_PACKAGE_TESTS = ("jest", "mocha", "ava", "nyc", "c8", "tap", "vitest")


@dataclass(frozen=True, slots=True)
class Manifest:
    """A file that gates may go by: its text on main and as the change leaves it; `gone` where it removes it."""

    path: str
    old: str
    new: str
    gone: bool = False


def may_steer(path: str, commands: Iterable[str]) -> bool:
    """Tell whether a file is one that `commands` go by, so that its texts are worth reading."""
    name = path.rpartition("/")[2]
    if name not in _MANIFESTS:
        return False
    if name in ("Makefile", "makefile", "GNUmakefile"):
        return any(_CALLS_MAKE.search(command) for command in commands)
    return name != "noxfile.py" or any(_names(command, "nox") for command in commands)


def changed_gates(manifests: Iterable[Manifest], commands: tuple[str, ...]) -> tuple[str, ...]:
    """Return what the gates call and no longer finds as it was on main, each as a short phrase."""
    found: list[str] = []
    sections: dict[str, _Sections] = {}
    for manifest in manifests:
        folder, _, name = manifest.path.rpartition("/")
        match name:
            case "package.json":
                found += _package(manifest, commands)
            case "pyproject.toml" | "setup.cfg" | "tox.ini":
                sections.setdefault(folder, _Sections()).add(manifest)
            case "noxfile.py":
                found += [f"{manifest.path}, which a gate runs, was changed"] if manifest.old else []
            case _:
                found += _make(manifest, commands)
    for each in sections.values():
        found += [f"{each.paths}: {said}" for said in changed_sections(each.old, each.new, commands)]
    return tuple(found)


class _Sections:
    """The sections of one folder's files together: what moves from one file to the other is no change."""

    def __init__(self) -> None:
        self.old: dict[str, dict[str, Any]] = {}
        self.new: dict[str, dict[str, Any]] = {}
        self._paths: list[str] = []

    @property
    def paths(self) -> str:
        return ", ".join(self._paths)

    def add(self, manifest: Manifest) -> None:
        read = _toml if manifest.path.endswith(".toml") else _ini
        old, new = read(manifest.old), read(manifest.new)
        if old is None or new is None:
            return  # it does not parse, and is told for that
        self._paths.append(manifest.path)
        for kept, sections in ((self.old, old), (self.new, new)):
            for name, section in sections.items():
                kept[name] = kept.get(name, {}) | section


def _names(command: str, program: str) -> bool:
    return re.search(rf"(?<![\w./-]){program}(?![\w./-])", command) is not None


def _json(text: str) -> dict[str, Any] | None:
    try:
        read = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


def _package(manifest: Manifest, commands: tuple[str, ...]) -> list[str]:
    old, new = _json(manifest.old), {} if manifest.gone else _json(manifest.new)
    if old is None or new is None:
        return []  # it does not parse, and is told for that
    before, after = _scripts(old), _scripts(new)
    found = []
    for name in _called_scripts(before, commands):
        if name not in after:
            found.append(f"{manifest.path}: the script {name}, which a gate calls, was removed")
        elif not _extends(before[name], after[name]):
            found.append(f"{manifest.path}: the script {name}, which a gate calls, was changed to `{after[name]}`")
    found += [
        f"{manifest.path}: the section {section} was changed"
        for section in _PACKAGE_TESTS
        if section in old and old[section] != new.get(section)
    ]
    return found


def _scripts(package: Mapping[str, Any]) -> dict[str, str]:
    scripts = package.get("scripts")
    return {str(k): v for k, v in scripts.items() if isinstance(v, str)} if isinstance(scripts, dict) else {}


def _called_scripts(scripts: Mapping[str, str], commands: Iterable[str]) -> list[str]:
    """Return the scripts that the commands run, directly, as pre and post scripts, or from one to the next."""
    called: list[str] = []
    waiting = list(commands)
    while waiting:
        for match in _CALLS_PACKAGE.finditer(waiting.pop()):
            base = _SHORT.get(match["script"], match["script"])
            for name in (base, f"pre{base}", f"post{base}"):
                if name in scripts and name not in called:
                    called.append(name)
                    waiting.append(scripts[name])
    return called


def _extends(old: str, new: str) -> bool:
    """Tell whether the new command still does all that the old one did, and must succeed at it."""
    was, now = " ".join(old.split()), " ".join(new.split())
    if now == was:
        return True
    rest = now.removeprefix(f"{was} && ") if now.startswith(f"{was} && ") else now.removesuffix(f" && {was}")
    return rest != now and not re.search(r"\|\||;|\bexit\b|(?<!&)&(?!&)|\|", rest) and not re.search(r"\|\||;", was)


def _toml(text: str) -> dict[str, dict[str, Any]] | None:
    """Return the tables of the tools that test, under the names that ini files use; None where it does not parse."""
    try:
        tools = parse_toml(text).get("tool", {})
    except (ValueError, RecursionError):
        return None
    pytest, coverage, tox = (_table(tools, name) for name in ("pytest", "coverage", "tox"))
    found = {"pytest": _table(pytest, "ini_options") or pytest}
    found |= {f"coverage:{name}": _table(coverage, name) for name in coverage}
    found["tox"] = {key: value for key, value in tox.items() if not isinstance(value, dict)}
    found["testenv"] = _table(tox, "env_run_base")
    found |= {f"testenv:{name}": _table(_table(tox, "env"), name) for name in _table(tox, "env")}
    legacy = tox.get("legacy_tox_ini")
    found |= (_ini(legacy) or {}) if isinstance(legacy, str) else {}
    return {name: part for name, part in found.items() if part}


def _table(parent: object, name: str) -> dict[str, Any]:
    found = parent.get(name) if isinstance(parent, dict) else None
    return found if isinstance(found, dict) else {}


def _ini(text: str) -> dict[str, dict[str, Any]] | None:
    parser = ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except IniError:
        return None
    return {section.removeprefix("tool:"): dict(parser.items(section)) for section in parser.sections()}


def _make(manifest: Manifest, commands: tuple[str, ...]) -> list[str]:
    before, after = read_makefile(manifest.old), read_makefile(manifest.new)
    goals = [goal for command in commands for goal in _goals(command, before)]
    return [f"{manifest.path}: {said}" for said in before.weakened_in(after, goals)]


def _goals(command: str, makefile: Makefile) -> list[str]:
    goals: list[str] = []
    for match in _CALLS_MAKE.finditer(command):
        words = [word.strip("'\"") for word in match["words"].split()]
        named = [word for word in words if word in makefile.rules]
        goals += named or (
            [makefile.first] if makefile.first and not any("=" not in w and w[:1] != "-" for w in words) else []
        )
    return goals
