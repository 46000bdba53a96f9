"""Finds lines of a change by which a linter or type checker passes over a whole file: it is green then, and blind.

What is excused on one line is honest work's own affair; so is what is excused in a file that the change does not judge
by: no rule looks at that.
"""

import re
from collections.abc import Iterable

from noface.core.classify.diff_paths import is_generated
from noface.core.patch_lines import Line

_WHOLE_FILE = re.compile(
    r"^\s*#\s*(ruff|flake8)\s*:\s*noqa\b|^\s*#\s*mypy\s*:\s*(ignore[-_]errors|disable)|^\s*#\s*pyright\s*:\s*(ignore|off|basic\b)"
    r"|^\s*#\s*pylint\s*:\s*(skip-file|disable=\s*all)|^\s*#\s*pytype\s*:\s*skip-file|^\s*#\s*isort\s*:\s*skip_file"
    r"|^\s*#\s*fmt\s*:\s*off|^\s*/\*\s*(eslint|oxlint|jshint|stylelint|tslint)[-:]disable\s*(\*/|[\w@/, -]+\*/)"
    r"|^\s*/\*\s*eslint\s+[\w@/-]+\s*:\s*(0|[\"']?off)|^\s*//\s*@ts-nocheck|^\s*//\s*(biome-ignore-all|deno-lint-ignore-file)"
    r"|^\s*//\s*tslint:disable\s*$|^\s*/\*\s*istanbul\s+ignore\s+file|^\s*//\s*swiftlint:disable\s+all"
    r"|^\s*#!\[allow\(|^\s*#\s*rubocop\s*:\s*disable\s+(all|[A-Z])|^\s*//\s*(phpcs:ignoreFile|@phpstan-ignore-file)"
    r"|^\s*//\s*golangci-lint|^\s*//\s*nolint\s*$|^\s*//go:build\s+ignore|^\s*#\s*shellcheck\s+disable=all"
)
_BARE_IGNORE = re.compile(r"^\s*#\s*type\s*:\s*ignore\s*$")


def suppressions(lines: Iterable[Line]) -> tuple[str, ...]:
    """Return the lines that switch a check off for a whole file, as phrases; only more of them than before count."""
    balance: dict[tuple[str, str], int] = {}
    for line in lines:
        if (_WHOLE_FILE.search(line.text) or _BARE_IGNORE.search(line.text)) and not is_generated(line.path):
            key = (line.path, " ".join(line.text.split()))
            balance[key] = balance.get(key, 0) + (-1 if line.removed else 1)
    more = (where for where, number in balance.items() if number > 0)
    return tuple(f"{path}: `{text}` switches a check off for the whole file" for path, text in more)
