"""Manifests judge and describe at once: what they would be with main's judging sections and the change's dependencies.

The result is for one run of the gates only and never lands, so that its form is of no account.
"""

import configparser
import io
import json
import tomllib
from collections.abc import Mapping
from typing import Any

_BUILD_TOOLS = frozenset(
    ("poetry", "pdm", "uv", "hatch", "flit", "setuptools", "setuptools_scm", "setuptools-scm", "maturin",
     "scikit-build", "cibuildwheel", "pixi", "rye", "versioneer", "towncrier", "bumpversion", "commitizen",
     "semantic_release")
)  # fmt: skip
_PACKAGE_KEYS = frozenset(
    ("dependencies", "devDependencies", "peerDependencies", "peerDependenciesMeta", "optionalDependencies",
     "bundledDependencies", "bundleDependencies", "overrides", "resolutions", "engines", "packageManager", "version",
     "description", "keywords", "author", "contributors", "license", "homepage", "repository", "bugs", "files", "bin",
     "publishConfig", "private", "funding", "os", "cpu", "pnpm", "workspaces", "types", "typings")
)  # fmt: skip
_CARGO_KEYS = frozenset(
    ("dependencies", "dev-dependencies", "build-dependencies", "features", "target", "patch", "replace", "workspace")
)
_INI_SECTIONS = ("options", "metadata", "egg_info", "bdist", "sdist", "files")


def with_main_judging(path: str, main: str, change: str) -> str | None:
    """Return the manifest at `path` as the change has it, but judging as `main` does; None where it cannot be read.

    A manifest that main does not have judges nothing.
    """
    try:
        match path.rpartition("/")[2]:
            case "pyproject.toml":
                return _pyproject(tomllib.loads(main), tomllib.loads(change))
            case "Cargo.toml":
                return _cargo(tomllib.loads(main), tomllib.loads(change))
            case "package.json":
                return _package(main, change)
            case "tox.ini":
                return main
            case _:
                return _ini(main, change)
    except (ValueError, TypeError, RecursionError, configparser.Error):
        return None


def _pyproject(main: Mapping[str, Any], change: Mapping[str, Any]) -> str:
    import tomli_w

    old, new = _table(main.get("tool")), _table(change.get("tool"))
    tools = {name: table for name, table in new.items() if name in _BUILD_TOOLS}
    tools |= {name: table for name, table in old.items() if name not in _BUILD_TOOLS}
    return tomli_w.dumps({**change, "tool": tools})


def _cargo(main: Mapping[str, Any], change: Mapping[str, Any]) -> str:
    import tomli_w

    kept = {name: value for name, value in change.items() if name in _CARGO_KEYS}
    return tomli_w.dumps({name: value for name, value in main.items() if name not in _CARGO_KEYS} | kept)


def _package(main: str, change: str) -> str:
    old, new = _table(json.loads(main or "{}")), _table(json.loads(change))
    kept = {name: value for name, value in new.items() if name in _PACKAGE_KEYS}
    return json.dumps({name: value for name, value in old.items() if name not in _PACKAGE_KEYS} | kept, indent=2)


def _ini(main: str, change: str) -> str:
    old, new = _parsed(main), _parsed(change)
    made = configparser.RawConfigParser()
    for parser, from_change in ((old, False), (new, True)):
        for name in parser.sections():
            if name.partition(".")[0].startswith(_INI_SECTIONS) == from_change and not made.has_section(name):
                made.read_dict({name: dict(parser[name])})
    text = io.StringIO()
    made.write(text)
    return text.getvalue()


def _parsed(text: str) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    return parser


def _table(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        if value is None:
            return {}
        raise TypeError("not a table")
    return value
