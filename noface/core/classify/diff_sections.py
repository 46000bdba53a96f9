"""Compares the sections that steer pytest, coverage and tox, key by key: what makes them check less is found.

Sections come as mappings under the names of ini files: pytest, coverage:run, coverage:report, tox, testenv, testenv:X.
"""

import re
import shlex
from collections.abc import Mapping
from typing import Any

Sections = Mapping[str, Mapping[str, Any]]

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
_TOX = re.compile(r"commands(_pre|_post)?|envlist|env_list|ignore_outcome|ignore_errors|skipsdist")


def changed_sections(old: Sections, new: Sections, commands: tuple[str, ...]) -> list[str]:
    """Return what now checks less than on main. tox counts only where a gate calls it."""
    found = []
    tox = any(re.search(r"(?<![\w./-])tox(?![\w./-])", command) for command in commands)
    for name in dict.fromkeys((*old, *new)):
        was, now = old.get(name, {}), new.get(name, {})
        if was == now:
            continue
        if name == "pytest":
            found += _pytest(was, now)
        elif name.startswith("coverage:"):
            found += [f"{name.replace(':', '.')}.{key} was changed" for key in _coverage(was, now)]
        elif tox and (name == "tox" or name.startswith("testenv")):
            keys = [key for key in was if _TOX.fullmatch(key) and was[key] != now.get(key)]
            keys += [key for key in now if key.startswith("ignore_") and key not in was]
            found += [f"{key} of [{name}], which a gate runs, was changed" for key in keys]
    return found


def _pytest(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    found = [
        f"pytest's {key} was changed" for key in _PYTEST_SET if key in old and _words(old[key]) != _words(new.get(key))
    ]
    if set(_words(new.get("norecursedirs"))) - set(_words(old.get("norecursedirs"))):
        found.append("pytest's norecursedirs was changed")
    if "error" in _words(old.get("filterwarnings")) and "error" not in _words(new.get("filterwarnings")):
        found.append("pytest's filterwarnings no longer makes warnings errors")
    was, now = _options(old.get("addopts")), _options(new.get("addopts"))
    lost = [f"without {word}" for word in was if word not in now and not _MAY_GO.match(word)]
    more = [word for word in now if word not in was and _NARROWING.match(word)]
    if lost or more:
        found.append(f"pytest's addopts was changed ({', '.join([*lost, *more])})")
    return found


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
