"""Finds changes to what the gates call: scripts of package.json, sections of pytest and coverage, thresholds.

A gate's command in noface.toml is protected; but `npm test` is only a name. What only adds to a check is no finding.
"""

import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from configparser import ConfigParser
from configparser import Error as IniError
from dataclasses import dataclass
from typing import Any

from noface.data import pattern
from noface.diagnosis.syntax import parse_toml
from noface.model.json_record import json_value
from noface.model.patch import ChangedLine

_SHORT = {"t": "test", "tst": "test", "it": "test"}
_SECTIONED = ("pyproject.toml", "setup.cfg", "tox.ini")
_PACKAGE_TESTS = ("jest", "mocha", "ava", "nyc", "c8", "tap", "vitest")


@dataclass(frozen=True, slots=True)
class Manifest:
    """A file that gates may go by: its text on main and as the change leaves it; `gone` where it removes it."""

    path: str
    old: str
    new: str
    gone: bool = False


def may_steer(path: str) -> bool:
    return path.rpartition("/")[2] in ("package.json", *_SECTIONED)


def changed_gates(manifests: Iterable[Manifest], commands: tuple[str, ...]) -> tuple[str, ...]:
    """Return what the gates call and no longer finds as it was on main, each as a short phrase."""
    changes: list[str] = []
    folders: dict[str, list[Manifest]] = {}
    for manifest in manifests:
        folder, _, name = manifest.path.rpartition("/")
        if name == "package.json":
            changes += _package(manifest, commands)
        else:
            folders.setdefault(folder, []).append(manifest)
    for files in folders.values():  # what moves from one file of a folder to another is no change
        old, new = dict[str, _Settings](), dict[str, _Settings]()
        for file in files:
            old |= _settings(file.path, file.old)
            new |= _settings(file.path, file.new)
        paths = ", ".join(file.path for file in files)
        changes += [f"{paths}: {change} was changed" for name in {**old, **new} for change in _changed(name, old, new)]
    return tuple(changes)


def _package(manifest: Manifest, commands: tuple[str, ...]) -> list[str]:
    old, new = json_value(manifest.old.lstrip("\ufeff")), json_value("{}" if manifest.gone else manifest.new)
    if not isinstance(old, dict) or not isinstance(new, dict):
        return []  # it does not parse, which the syntax check reports
    tables = (_table(each, "scripts").items() for each in (old, new))
    before, after = ({str(k): v for k, v in each if isinstance(v, str)} for each in tables)
    changes = []
    for name in _called_scripts(before, commands):
        if name not in after:
            changes.append(f"{manifest.path}: the script {name}, which a gate calls, was removed")
        elif not _extends(before[name], after[name]):
            changes.append(f"{manifest.path}: the script {name}, which a gate calls, was changed to `{after[name]}`")
    tests = (section for section in _PACKAGE_TESTS if section in old and old[section] != new.get(section))
    return [*changes, *(f"{manifest.path}: the section {section} was changed" for section in tests)]


def _called_scripts(scripts: Mapping[str, str], commands: Iterable[str]) -> list[str]:
    called: list[str] = []
    waiting = list(commands)
    while waiting:
        for match in pattern("integrity", "options", "script").finditer(waiting.pop()):
            base = _SHORT.get(match["script"], match["script"])
            for name in (base, f"pre{base}", f"post{base}"):
                if name in scripts and name not in called:
                    called.append(name)
                    waiting.append(scripts[name])
    return called


def _extends(old: str, new: str) -> bool:
    """True if the new command still does all that the old one did, and must succeed at it."""
    was, now = " ".join(old.split()), " ".join(new.split())
    if now == was:
        return True
    rest = now.removeprefix(f"{was} && ") if now.startswith(f"{was} && ") else now.removesuffix(f" && {was}")
    return rest != now and not re.search(r"\|\||;|\bexit\b|(?<!&)&(?!&)|\|", rest) and not re.search(r"\|\||;", was)


_STAYS = ("testpaths", "python_files", "python_classes", "python_functions", "xfail_strict", "collect_ignore", "source",
          "source_pkgs", "include", "branch")  # fmt: skip
_MAY_SHRINK = ("norecursedirs", "omit", "exclude_lines", "exclude_also", "exclude", "partial_branches")
_Settings = dict[str, list[str]]
"""The settings of a section, each as its words."""


def _settings(path: str, text: str) -> dict[str, _Settings]:
    sections: dict[str, dict[str, Any]]
    try:
        if path.endswith(".toml"):
            tools = parse_toml(text).get("tool", {})
            pytest, coverage = _table(tools, "pytest"), _table(tools, "coverage")
            sections = {f"coverage:{each}": _table(coverage, each) for each in coverage}
            sections["pytest"] = _table(pytest, "ini_options") or pytest
        else:
            parser = ConfigParser(interpolation=None, strict=False, allow_no_value=True)
            parser.read_string(text)
            sections = {name.removeprefix("tool:"): dict(parser.items(name)) for name in parser.sections()}
    except (ValueError, RecursionError, IniError):
        return {}
    ours = {name: part for name, part in sections.items() if name == "pytest" or name.startswith("coverage:")}
    return {name: {key: _words(value) for key, value in part.items()} for name, part in ours.items()}


def _table(parent: object, name: str) -> dict[str, Any]:
    table = parent.get(name) if isinstance(parent, dict) else None
    return table if isinstance(table, dict) else {}


def _changed(name: str, old: Mapping[str, _Settings], new: Mapping[str, _Settings]) -> list[str]:
    was, now = old.get(name, {}), new.get(name, {})
    keys = [key for key in _STAYS if key in was and was[key] != now.get(key)]
    keys += [key for key in _MAY_SHRINK if {*now.get(key, ())} - {*was.get(key, ())}]
    if "error" in was.get("filterwarnings", ()) and "error" not in now.get("filterwarnings", ()):
        keys.append("filterwarnings")
    before, after = _options(was.get("addopts", [])), _options(now.get("addopts", []))
    may_go, narrowing = (pattern("integrity", "options", key) for key in ("may_go", "narrowing"))
    lost = [f"without {word}" for word in before if word not in after and not may_go.match(word)]
    lost += [word for word in after if word not in before and narrowing.match(word)]
    if lost:
        keys.append(f"addopts ({', '.join(lost)})")
    return [f"{name.replace(':', '.')}.{key}" for key in keys]


def _options(words: list[str]) -> list[str]:
    """Return the words, those that narrow a run together with what follows them."""
    options: list[str] = []
    narrows = False
    for word in words:
        if narrows and not word.startswith("-"):
            options[-1] += f" {word}"
        else:
            options.append(word)
        narrows = pattern("integrity", "options", "narrowing").match(word) is not None and "=" not in word
    return options


def _words(value: object) -> list[str]:
    """Return a setting's words: of a list its items, of a text what the shell would make of it."""
    if isinstance(value, list):
        return [str(item) for item in value]
    text = str(value).lower() if isinstance(value, bool) else str(value or "")
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.split()


_COMMENT = re.compile(r"^\s*(#|//|;|<!--|\*|/\*)")


def lowered_thresholds(lines: Iterable[ChangedLine]) -> tuple[str, ...]:
    """Return the thresholds that were lowered or taken away, each as a short phrase."""
    files = pattern("integrity", "thresholds", "files")
    thresholds = defaultdict[tuple[str, int], tuple[list[float], list[float]]](lambda: ([], []))
    for line in lines:
        if files.search(line.path) and not _COMMENT.match(line.text):
            for key, sign, value in _values(line):
                thresholds[key, sign][not line.removed].append(sign * value)
    changes = []
    for (key, sign), (before, after) in thresholds.items():
        was, now = (", ".join(f"{sign * value:g}" for value in sorted(values)) for values in (before, after))
        if len(after) < len(before):
            changes.append(f"the threshold {key} was taken away ({was})")
        elif any(new < old for new, old in zip(sorted(after), sorted(before), strict=False)):
            changes.append(f"the threshold {key} was {'lowered' if sign > 0 else 'raised'}: {was} to {now}")
    return tuple(changes)


def _values(line: ChangedLine) -> Iterator[tuple[str, int, float]]:
    """Yield the thresholds of a line; `--cov-fail-under` overrules `fail_under`, and has its name."""
    jest = pattern("integrity", "thresholds", "jest_files").search(line.path)
    for name, sign in (("least", 1), ("most", -1), *([("jest", 1)] if jest else ())):
        for match in pattern("integrity", "thresholds", name, 0 if name == "jest" else re.IGNORECASE).finditer(
            line.text
        ):
            key = match["key"].lower().lstrip("-").replace("-", "_").removeprefix("cov_")
            yield key, sign, float(match["value"])
