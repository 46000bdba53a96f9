"""What of a change judges it (law 11): tests, what steers test runners and linters, and what gates call.

A list of names is never complete, so it is only half of what keeps a green from being bought: the gates run once more
with main's versions of these files (`loop/judges.py`), and every test that passed on main must be there by its id.

A manifest judges and describes at once, so it is made anew of main's judging sections and the change's dependencies.
The canary is main's tree with every source file of the product broken: a gate that stays green there tests nothing.
"""

import configparser
import io
import json
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from noface.core.attempt import FileChange
from noface.core.inner_tests import HOLDERS
from noface.core.issue import Issue
from noface.core.patterns import matches_any
from noface.core.tampering import is_test_file

_ABSENT = "000000"


class Part(StrEnum):
    """What a changed file is to the gates.

    TEST and CONFIG judge the product. A MANIFEST judges in some of its sections. SOFT may: it builds or configures the
    product as well. All else is the PRODUCT.
    """

    TEST = "test"
    CONFIG = "config"
    MANIFEST = "manifest"
    SOFT = "soft"
    PRODUCT = "product"


MANIFESTS = ("pyproject.toml", "setup.cfg", "tox.ini", "package.json", "Cargo.toml")
_TEST_FOLDER = re.compile(
    r"(^|/)(tests?|specs?|__tests__|__mocks__|__snapshots__|__fixtures__|testing|testdata|test[_-]data|fixtures?|goldens?"
    r"|snapshots?|acceptance|e2e|integration[_-]tests?)(/|$)|\.(snap|golden|approved\.\w+|ambr)$|(^|/)conftest\.py$"
)
_CONFIG = re.compile(
    r"(^|/)("
    r"pytest\.(ini|toml)|tox\.toml|noxfile\.py|mypy\.ini|ruff\.toml|pyrightconfig\.json|pylintrc|(site|user)customize\.py"
    r"|[\w.-]*\.pth|(jest|vitest|ava|karma|playwright|cypress|web-test-runner|eslint|babel|stylelint|prettier|biome"
    r"|commitlint|nyc|c8|tap|wdio|rspec|phpunit|phpstan|psalm|clippy|rustfmt|detekt|checkstyle|knip|oxlint|oxlintrc|dprint"
    r"|deny|nextest|tslint|xo|standard|sonar|codecov|coverage|bandit|pylint|flake8|isort|yapf|pycodestyle|pyrefly|ty|djlint)"
    r"[\w-]*(\.[\w-]+)*\.(json|jsonc|json5|toml|ya?ml|ini|cfg|xml|neon|dist|[cm]?[jt]s)(\.dist)?"
    r"|tsconfig[\w.-]*\.json|jsconfig\.json|[\w-]+\.eslintrc[\w.]*|jest\.setup\.\w+|setup-?[Tt]ests?\.[cm]?[jt]sx?"
    r"|test_?(helper|setup|utils?|support)\.\w+|go\.work|\.?golangci\.ya?ml|WORKSPACE(\.bazel)?|BUILD(\.bazel)?"
    r"|cypress\.json|nightwatch\.conf\.\w+|protractor\.conf\.\w+|wallaby\.js|pytest\.py|unittest\.py|doctest\.py"
    r")$"
)
_SOFT = re.compile(
    r"(^|/)(GNUmakefile|[Mm]akefile|[Jj]ustfile|Taskfile\.ya?ml|Rakefile|Gruntfile\.\w+|gulpfile[\w.]*|CMakeLists\.txt"
    r"|build\.rs|setup\.py|meson\.build|SConstruct|Dockerfile[\w.-]*|Procfile)$"
    r"|\.(mk|mak|cmake|gradle(\.kts)?|bazel|bzl|sh|bash|zsh|bat|ps1|json5?|jsonc|toml|ya?ml|ini|cfg|conf|properties|xml|env"
    r"|plist|neon)$|(^|/)[\w.-]+\.(config|conf|rc)\.[cm]?[jt]s$"
)
# What is fetched from elsewhere: setup goes by it, and it fits the manifest of the change only.
_DEPENDENCIES = re.compile(
    r"(^|/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|poetry\.lock|uv\.lock"
    r"|pdm\.lock|Pipfile(\.lock)?|go\.(mod|sum)|requirements[\w./-]*\.(txt|in)|constraints[\w.-]*\.txt|Gemfile(\.lock)?"
    r"|[\w.-]+\.gemspec|composer\.(json|lock)|mix\.(exs|lock)|packages\.lock\.json|gradle\.lockfile|flake\.(nix|lock)"
    r"|deno\.lock|pubspec\.(yaml|lock))$"
)
_NAMES_TESTS = re.compile(
    r"(^|/)(tests?|specs?|__tests__|testing|acceptance)(/|$)|(^|/)test_|_test(\.|$)|\.(test|spec)\."
)


@dataclass(frozen=True, slots=True)
class Touched:
    """The files of a change that judge it, by what they are; those that the issue may change are left out.

    `sources` are files of the product that may hold tests of their own.
    """

    tests: tuple[FileChange, ...] = ()
    config: tuple[FileChange, ...] = ()
    manifests: tuple[FileChange, ...] = ()
    soft: tuple[FileChange, ...] = ()
    sources: tuple[FileChange, ...] = ()

    @property
    def hard(self) -> tuple[FileChange, ...]:
        """What has no other use than to judge."""
        return (*self.tests, *self.config)


def part_of(path: str, reached: Collection[str] = ()) -> Part:
    """Tell what a file is to the gates; `reached` are files that the gates' commands and scripts call."""
    if path.rpartition("/")[2] in MANIFESTS:
        return Part.MANIFEST
    if _TEST_FOLDER.search(path) or is_test_file(path):
        return Part.TEST
    if _DEPENDENCIES.search(path):
        return Part.PRODUCT
    if path in reached or _CONFIG.search(path) or path.startswith(".") or "/." in path:
        return Part.CONFIG
    return Part.SOFT if _SOFT.search(path) else Part.PRODUCT


def touched(changes: Iterable[FileChange], issue: Issue, reached: Collection[str] = ()) -> Touched:
    """Return which files of a change judge it. What the issue's `may_change` or `paths` name as such is its work."""
    found: dict[Part, list[FileChange]] = {part: [] for part in Part}
    for change in changes:
        part = part_of(change.path, reached)
        if part is Part.PRODUCT or not lifted(change.path, issue):
            found[part].append(change)
    sources = tuple(
        c
        for c in found[Part.PRODUCT]
        if c.path.endswith(HOLDERS)
        and _ABSENT not in (c.old_mode, c.new_mode)
        and not matches_any(c.path, issue.may_change)
    )
    return Touched(
        tuple(found[Part.TEST]),
        tuple(found[Part.CONFIG]),
        tuple(found[Part.MANIFEST]),
        tuple(found[Part.SOFT]),
        sources,
    )


def lifted(path: str, issue: Issue) -> bool:
    """Tell whether an issue is about a file that judges: `may_change` names it, or its own `paths` do.

    A path without wildcards names the file, one with them only tests. A part of a breakdown has its paths from a
    model, so they lift nothing.
    """
    if matches_any(path, issue.may_change):
        return True
    if issue.parent is not None:
        return False
    named = (p for p in issue.paths if _NAMES_TESTS.search(p) or path == p.strip("/"))
    return matches_any(path, tuple(named))


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


BROKEN = "noface canary: this file is broken on purpose )]}\n"
_BROKEN_PHP = f"<?php {BROKEN}"
_SOURCE = re.compile(
    r"\.(py|pyx|js|jsx|ts|tsx|mjs|cjs|mts|cts|vue|svelte|rs|go|java|kt|cs|fs|rb|php|ex|erl|c|cc|cpp|cxx|m|swift|scala"
    r"|clj|hs|ml|lua|jl|R|dart|zig|nim|cr|pl|pm)$"
)
# What builds, configures or describes a project: broken, it would have setup fail, or prove nothing about sources.
_NOT_SOURCES = re.compile(
    r"(^|/)(\.[^/]+/|node_modules/|vendor/|third_party/|docs?/|examples?/|benchmarks?/|scripts?/|tools?/|bin/|ci/)"
    r"|(^|/)\.|(^|/)(setup|conf|conftest|noxfile|fabfile|tasks|build|package|Package|versioneer|_version)\.[a-z]+$"
    r"|(^|/)[\w.-]*(config|conf|rc|setup)\.[cm]?[jt]s$|\.(gradle|config|d)\.[a-z]+$|(gulp|grunt|rake|mix|make)file\.\w+$"
    r"|(^|/)mix\.exs$",
    re.IGNORECASE,
)


def sources(paths: Iterable[str], but_not: tuple[str, ...]) -> tuple[str, ...]:
    """Return which of a tree's files are the product's sources; `but_not` are globs of what gates and setup go by."""
    return tuple(
        sorted(
            path
            for path in paths
            if _SOURCE.search(path)
            and not _NOT_SOURCES.search(path)
            and not is_test_file(path)
            and not matches_any(path, but_not)
        )
    )


def broken(path: str) -> str:
    """Return what stands in a broken source file: no language's parser accepts it."""
    return _BROKEN_PHP if path.endswith(".php") else BROKEN
