"""Finds changes to what the gates call: scripts of package.json, sections of pytest and coverage, thresholds.

A gate's own command stands in noface.toml, which is protected; but `npm test` is only a name for what package.json
says. Each file is read as it is on main and as the change leaves it. What only adds to a check is no finding.
"""

import json
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping
from configparser import ConfigParser
from configparser import Error as IniError
from dataclasses import dataclass
from typing import Any

from noface.data import pattern
from noface.diagnosis.syntax import parse_toml
from noface.model.patch import ChangedLine

_CALLS_PACKAGE = re.compile(
    r"\b(?:npm|pnpm|yarn|bun)\s+(?:(?:--?[\w-]++(?:=\S++)?|-C\s++\S++|workspaces?\s++foreach\s++\S++)\s++)*+(?:run(?:-script)?\s+)?"
    r"(?P<script>[\w:.@/-]+)"
)
_SHORT = {"t": "test", "tst": "test", "it": "test"}
_SECTIONED = ("pyproject.toml", "setup.cfg", "tox.ini")
_PACKAGE_TESTS = ("jest", "mocha", "ava", "nyc", "c8", "tap", "vitest")
Sections = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Manifest:
    """A file that gates may go by: its text on main and as the change leaves it; `gone` where it removes it."""

    path: str
    old: str
    new: str
    gone: bool = False


def may_steer(path: str) -> bool:
    """True if a file is one that gates go by, so that its texts are worth reading."""
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
        pairs = [(_sections(file.path, file.old), _sections(file.path, file.new)) for file in files]
        old, new = ({name: part for each in sides for name, part in each.items()} for sides in zip(*pairs, strict=True))
        changes += [f"{', '.join(file.path for file in files)}: {change}" for change in _changed_sections(old, new)]
    return tuple(changes)


def _json(text: str) -> dict[str, Any] | None:
    try:
        read = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


def _package(manifest: Manifest, commands: tuple[str, ...]) -> list[str]:
    old, new = _json(manifest.old), {} if manifest.gone else _json(manifest.new)
    if old is None or new is None:
        return []  # it does not parse, which the syntax check reports
    before, after = _scripts(old), _scripts(new)
    changes = []
    for name in _called_scripts(before, commands):
        if name not in after:
            changes.append(f"{manifest.path}: the script {name}, which a gate calls, was removed")
        elif not _extends(before[name], after[name]):
            changes.append(f"{manifest.path}: the script {name}, which a gate calls, was changed to `{after[name]}`")
    tests = (section for section in _PACKAGE_TESTS if section in old and old[section] != new.get(section))
    return [*changes, *(f"{manifest.path}: the section {section} was changed" for section in tests)]


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
    """True if the new command still does all that the old one did, and must succeed at it."""
    was, now = " ".join(old.split()), " ".join(new.split())
    if now == was:
        return True
    rest = now.removeprefix(f"{was} && ") if now.startswith(f"{was} && ") else now.removesuffix(f" && {was}")
    return rest != now and not re.search(r"\|\||;|\bexit\b|(?<!&)&(?!&)|\|", rest) and not re.search(r"\|\||;", was)


def _sections(path: str, text: str) -> dict[str, dict[str, Any]]:
    """Return the sections of pytest and coverage under the names that ini files use; none if it does not parse."""
    if not path.endswith(".toml"):
        parser = ConfigParser(interpolation=None, strict=False, allow_no_value=True)
        try:
            parser.read_string(text)
        except IniError:
            return {}
        return {section.removeprefix("tool:"): dict(parser.items(section)) for section in parser.sections()}
    try:
        tools = parse_toml(text).get("tool", {})
    except (ValueError, RecursionError):
        return {}
    pytest, coverage = _table(tools, "pytest"), _table(tools, "coverage")
    return {"pytest": _table(pytest, "ini_options") or pytest} | {
        f"coverage:{each}": _table(coverage, each) for each in coverage
    }


def _table(parent: object, name: str) -> dict[str, Any]:
    table = parent.get(name) if isinstance(parent, dict) else None
    return table if isinstance(table, dict) else {}


def _changed_sections(old: Sections, new: Sections) -> list[str]:
    """Return what now checks less than on main."""
    changes = []
    for name in dict.fromkeys((*old, *new)):
        was, now = old.get(name, {}), new.get(name, {})
        if name == "pytest":
            changes += _pytest(was, now)
        elif name.startswith("coverage:"):
            changes += [f"{name.replace(':', '.')}.{key} was changed" for key in _coverage(was, now)]
    return changes


# Options of pytest that leave tests out, end early, or switch something off.
_NARROWS = (
    r"-k|-m|--deselect\b|--ignore(-glob)?\b|--co\b|--collect-only|--lf|--last-failed|--sw|--stepwise|--no-cov\b"
    r"|-p\b|-pno:|--noconftest|--maxfail|-x\b|--exitfirst|--continue-on-collection-errors|-o\b|--override-ini"
    r"|--suppress-no-test-exit-code|--disable-warnings|--reruns"
)
_NARROWING = re.compile(_NARROWS)
# What may go: options that narrow or only show; a threshold is compared for itself.
_MAY_GO = re.compile(
    rf"{_NARROWS}|-[qvrs]\w*|--(tb|color|durations|verbose|quiet|show|no-header|cov-(report|fail-under))\b"
)
_PYTEST_SET = ("testpaths", "python_files", "python_classes", "python_functions", "xfail_strict", "collect_ignore")
_COVERAGE_LESS = ("omit", "exclude_lines", "exclude_also", "exclude", "partial_branches")
_COVERAGE_MORE = ("source", "source_pkgs", "include", "branch")


def _pytest(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    changes = [
        f"pytest's {key} was changed" for key in _PYTEST_SET if key in old and _words(old[key]) != _words(new.get(key))
    ]
    if set(_words(new.get("norecursedirs"))) - set(_words(old.get("norecursedirs"))):
        changes.append("pytest's norecursedirs was changed")
    if "error" in _words(old.get("filterwarnings")) and "error" not in _words(new.get("filterwarnings")):
        changes.append("pytest's filterwarnings no longer makes warnings errors")
    was, now = _options(old.get("addopts")), _options(new.get("addopts"))
    lost = [f"without {word}" for word in was if word not in now and not _MAY_GO.match(word)]
    more = [word for word in now if word not in was and _NARROWING.match(word)]
    if lost or more:
        changes.append(f"pytest's addopts was changed ({', '.join([*lost, *more])})")
    return changes


def _options(value: object) -> list[str]:
    """Return the words, those that narrow a run together with what follows them."""
    options: list[str] = []
    narrows = False
    for word in _words(value):
        if narrows and not word.startswith("-"):
            options[-1] += f" {word}"
        else:
            options.append(word)
        narrows = _NARROWING.match(word) is not None and "=" not in word
    return options


def _coverage(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    keys = [key for key in _COVERAGE_LESS if set(_words(new.get(key))) - set(_words(old.get(key)))]
    return keys + [key for key in _COVERAGE_MORE if key in old and _words(old[key]) != _words(new.get(key))]


def _words(value: object) -> list[str]:
    """Return a setting's words: of a list its items, of a text what the shell would make of it."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return [str(item) for item in value]
    if isinstance(value, bool):
        return [str(value).lower()]
    try:
        return shlex.split(str(value), comments=True)
    except ValueError:
        return str(value).split()


_NUMBER = r"[\"'\s:=>(]*(?P<value>-?\d+(?:\.\d+)?)"
# Higher is stricter.
_LEAST = re.compile(
    r"(?P<key>fail[_-]under(?:[_-](?:line|branch))?|cov-fail-under|minimum_coverage(?:_by_file)?|min[_-]?coverage"
    r"|coverage[_-]?threshold|minimum(?=\s*=\s*0?\.\d)|min-?score|fail-on-score|min-?msi|mutation-?score-?threshold"
    r"|COVEREDRATIO.{0,200}?<minimum)" + _NUMBER,
    re.IGNORECASE,
)
_JEST = re.compile(r"[\"']?\b(?P<key>branches|functions|lines|statements)\b[\"']?\s*:\s*(?P<value>-?\d+(?:\.\d+)?)")
# Lower is stricter.
_MOST = re.compile(r"(?P<key>--max-warnings|max[_-]?complexity)" + _NUMBER, re.IGNORECASE)
_COMMENT = re.compile(r"^\s*(#|//|;|<!--|\*|/\*)")


def may_hold_threshold(path: str) -> bool:
    """True if a file is of a kind that tools read thresholds from."""
    return pattern("integrity", "thresholds", "files").search(path) is not None


def lowered_thresholds(lines: Iterable[ChangedLine]) -> tuple[str, ...]:
    """Return the thresholds that were lowered or taken away, each as a short phrase."""
    old: dict[tuple[str, int], list[float]] = defaultdict(list)
    new: dict[tuple[str, int], list[float]] = defaultdict(list)
    for line in lines:
        if may_hold_threshold(line.path) and not _COMMENT.match(line.text):
            for key, sign, value in _values(line):
                (old if line.removed else new)[key, sign].append(sign * value)
    changes = []
    for (key, sign), before in old.items():
        after = sorted(new.get((key, sign), ()))
        if len(after) < len(before):
            changes.append(f"the threshold {key} was taken away ({_listed(before, sign)})")
        elif any(now < was for now, was in zip(after, sorted(before), strict=False)):
            moved = f"{_listed(before, sign)} to {_listed(after, sign)}"
            changes.append(f"the threshold {key} was {'lowered' if sign > 0 else 'raised'}: {moved}")
    return tuple(changes)


def _values(line: ChangedLine) -> list[tuple[str, int, float]]:
    values = [(_key(match["key"]), 1, float(match["value"])) for match in _LEAST.finditer(line.text)]
    values += [(_key(match["key"]), -1, float(match["value"])) for match in _MOST.finditer(line.text)]
    if pattern("integrity", "thresholds", "jest_files").search(line.path):
        values += [(match["key"], 1, float(match["value"])) for match in _JEST.finditer(line.text)]
    return values


def _key(key: str) -> str:
    """Return one name for a threshold's spellings: `--cov-fail-under` overrules `fail_under`."""
    return key.lower().lstrip("-").replace("-", "_").removeprefix("cov_")


def _listed(values: list[float], sign: int) -> str:
    return ", ".join(f"{sign * value:g}" for value in sorted(values))
