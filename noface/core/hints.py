"""The user's `[[failure_hints]]`: when a rule's conditions all hold, its hint goes into the prompt (N15)."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from noface.core.model import Failure, Issue

_LANGUAGE_SUFFIXES: dict[str, tuple[str, ...]] = {
    "python": (".py", ".pyi"),
    "javascript": (".js", ".jsx", ".mjs", ".cjs"),
    "typescript": (".ts", ".tsx", ".mts", ".cts"),
    "rust": (".rs",),
    "go": (".go",),
    "golang": (".go",),
    "java": (".java",),
    "kotlin": (".kt", ".kts"),
    "c": (".c", ".h"),
    "c++": (".cc", ".cpp", ".cxx", ".hpp"),
    "c#": (".cs",),
    "ruby": (".rb",),
    "php": (".php",),
    "elixir": (".ex", ".exs"),
    "erlang": (".erl", ".hrl"),
    "haskell": (".hs",),
    "scala": (".scala",),
    "swift": (".swift",),
    "shell": (".sh", ".bash"),
    "sql": (".sql",),
}
_POSITION = re.compile(r"(:\d+){1,2}$")
"""Line, or line and column, behind a path."""


@dataclass(frozen=True, slots=True)
class HintRule:
    """One rule; empty conditions always hold. `error_pattern` is literal text, `error_regex` an expression."""

    hint: str
    label: str = ""
    language: str = ""
    error_pattern: str = ""
    error_regex: str = ""


def matching(
    rules: tuple[HintRule, ...],
    issue: Issue,
    failure: Failure | None,
    touched: tuple[str, ...],
    search: Callable[[str, str], bool],
) -> tuple[str, ...]:
    """Return the hints for an issue's next prompt, without repeats.

    `touched` are the files of the last diff; `search(expression, text)` matches a regular expression within a
    time limit (the clock is the caller's).
    """
    error = "" if failure is None else "\n".join((failure.message, failure.excerpt, *failure.evidence))
    found = [
        rule.hint
        for rule in rules
        if (not rule.label or rule.label in issue.labels)
        and (not rule.language or _speaks(rule.language, touched + issue.paths, failure))
        and (not rule.error_pattern or rule.error_pattern in error)
        and (not rule.error_regex or search(rule.error_regex, error))
    ]
    return tuple(dict.fromkeys(found))


def _speaks(language: str, paths: tuple[str, ...], failure: Failure | None) -> bool:
    name = language.strip().lower()
    suffixes = _LANGUAGE_SUFFIXES.get(name, (f".{name.removeprefix('.')}",))
    location = _POSITION.sub("", failure.location or "") if failure is not None else ""
    return any(path.endswith(suffixes) for path in (*paths, location) if path)
