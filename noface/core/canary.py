"""The canary: main's tree with every source file of the product broken. A test gate that stays green tests another."""

import re
from collections.abc import Iterable

from noface.core.patterns import matches_any
from noface.core.tampering import is_test_file

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
