"""Finds lines of a change by which a linter or type checker passes over a whole file: it is green then, and blind.

What is excused on single lines counts where main excuses nothing in that way: then it is a habit of this change alone.
Neither counts where no gate runs a tool that reads such words.
"""

import re
from collections.abc import Iterable

from noface.core.classify.diff_names import is_generated
from noface.core.patch_lines import Line

_WHOLE_FILE = re.compile(
    r"^\s*#\s*(ruff|flake8)\s*:\s*noqa\b|^\s*#\s*mypy\s*:\s*(ignore[-_]errors|disable)|^\s*#\s*pyright\s*:\s*(ignore|off|basic\b)"
    r"|^\s*#\s*pylint\s*:\s*(skip-file|disable=\s*all)|^\s*#\s*pytype\s*:\s*skip-file|^\s*#\s*isort\s*:\s*skip_file"
    r"|^\s*#\s*fmt\s*:\s*off|^\s*/\*\s*(eslint|oxlint|jshint|stylelint|tslint)[-:]disable(?!-)\s*(\*/|[\w@/, -]+\*/)"
    r"|^\s*/\*\s*eslint\s+[\w@/-]+\s*:\s*(0|[\"']?off)|^\s*//\s*@ts-nocheck|^\s*//\s*(biome-ignore-all|deno-lint-ignore-file)"
    r"|^\s*//\s*tslint:disable\s*$|^\s*/\*\s*istanbul\s+ignore\s+file|^\s*//\s*swiftlint:disable\s+all"
    r"|^\s*#!\[allow\(|^\s*#\s*rubocop\s*:\s*disable\s+(all|[A-Z])|^\s*//\s*(phpcs:ignoreFile|@phpstan-ignore-file)"
    r"|^\s*//\s*golangci-lint|^\s*//\s*nolint\s*$|^\s*//go:build\s+ignore|^\s*#\s*shellcheck\s+disable=all"
)
_BARE_IGNORE = re.compile(r"^\s*#\s*type\s*:\s*ignore\s*$")
# Words, and the tools that read them; of words that stand in none of the rows it is not known.
_READERS = (
    (r"\b(type|mypy|pyright|pytype)\s*:|type_check|TYPE_CHECKING", r"mypy|pyright|pyre\b|pytype|\bty\b|pyrefly"),
    (r"\bnoqa\b", r"ruff|flake8|pycodestyle|pyflakes|pylama|yesqa|bandit"),
    (r"\bpylint\b", r"pylint|ruff|prospector"),
    (r"\bnosec\b", r"bandit|ruff"),
    (r"\b(isort|fmt)\s*:", r"isort|black|ruff|yapf"),
    (r"no\s*cover|istanbul|\b(c8|v8)\s+ignore", r"cov|nyc|c8|istanbul"),
    (r"@ts-|tslint", r"tsc|typecheck|type-check|tslint|tsd\b|svelte-check|ts-jest|ts-node"),
    (r"eslint|oxlint|jshint|stylelint", r"eslint|oxlint|jshint|stylelint|\bxo\b|\bstandard\b|biome"),
    (r"biome|prettier", r"biome|prettier"),
    (r"nolint|golangci", r"golangci|staticcheck|revive"),
    (r"allow\(", r"clippy|-D\s*warnings|RUSTFLAGS|cargo"),
    (r"rubocop", r"rubocop|standardrb"),
    (r"shellcheck", r"shellcheck"),
    (r"phpcs|phpstan|noinspection", r"phpcs|phpstan|psalm"),
    (r"swiftlint", r"swiftlint"),
)
_RUNS_OTHERS = re.compile(r"\b(pre-commit|prek|tox|nox|hatch|trunk|lefthook|megalinter|sonar\w*)\b")


def read_by(words: str, commands: str) -> bool:
    """Tell whether `commands`, what the gates run with the scripts they call, may run a tool that reads such words."""
    if _RUNS_OTHERS.search(commands):
        return True
    tools = [tools for known, tools in _READERS if re.search(known, words)]
    return not tools or any(re.search(each, commands) for each in tools)


_ONE_LINE = re.compile(
    r"#\s*noqa\b(?:\s*:\s*[A-Z]+[0-9]*(?:[,\s]+[A-Z]+[0-9]+)*)?|#\s*type\s*:\s*ignore(?:\[[\w, -]+\])?"
    r"|#\s*pyright\s*:\s*ignore(?:\[[\w, -]+\])?|#\s*pylint\s*:\s*disable=[\w,-]+|#\s*nosec\b"
    r"|#\s*pragma\s*:\s*no\s*cover"
    r"|(?://|/\*)\s*(?:eslint|oxlint)-disable-(?:next-)?line(?:\s+[\w@/-]+)?|(?://|/\*)\s*@ts-(?:ignore|expect-error)"
    r"|(?://|/\*)\s*(?:biome|prettier)-ignore(?:\s+[\w/]+)?|(?://|/\*)\s*(?:istanbul|c8|v8)\s+ignore\s+\w+"
    r"|//\s*nolint(?::[\w,]+)?|#\[allow\([\w:, ]+\)\]|#\s*rubocop\s*:\s*disable\s+[\w/]+|#\s*shellcheck\s+disable=\w+"
    r"|@(?:typing\.)?no_type_check\b|\bif not (?:typing\.)?TYPE_CHECKING\b"
    r"|//\s*(?:phpcs:ignore|@phpstan-ignore|NOSONAR|swiftlint:disable|noinspection)[\w:-]*|@SuppressWarnings\([^)]*\)"
)


def one_line(lines: Iterable[Line]) -> dict[str, str]:
    """Return what excuses single lines from a check, more often than before: its words, and where it stands.

    Who asks sees whether main uses the same words.
    """
    balance: dict[str, int] = {}
    places: dict[str, str] = {}
    for line in lines:
        for match in _ONE_LINE.finditer(line.text):
            balance[match[0]] = balance.get(match[0], 0) + (-1 if line.removed else 1)
            if not line.removed:
                places.setdefault(match[0], line.path)
    return {words: places[words] for words, number in balance.items() if number > 0 and words in places}


def suppressions(lines: Iterable[Line]) -> tuple[str, ...]:
    """Return the lines that switch a check off for a whole file, as phrases; only more of them than before count."""
    balance: dict[tuple[str, str], int] = {}
    for line in lines:
        if (_WHOLE_FILE.search(line.text) or _BARE_IGNORE.search(line.text)) and not is_generated(line.path):
            key = (line.path, " ".join(line.text.split()))
            balance[key] = balance.get(key, 0) + (-1 if line.removed else 1)
    more = (where for where, number in balance.items() if number > 0)
    return tuple(f"{path}: `{text}` switches a check off for the whole file" for path, text in more)
