"""Path patterns as people write them in `[protect] paths` and an issue's `paths`."""

import re
from functools import lru_cache


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Translate one glob."""
    return re.compile(_expression(pattern), re.DOTALL)


@lru_cache(maxsize=64)
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Translate several globs at once: there are hundreds of them, asked about each of many files."""
    return re.compile("|".join(_expression(pattern) for pattern in patterns), re.DOTALL)


def _expression(pattern: str, below: str = "(?:/.*)?") -> str:
    """Translate a glob: `*` and `?` stay inside a folder, `**` crosses folders, a bare name also means all below.

    `**/` at the start of a name stands for any number of folders, none included. `.` and `/` mean everything; square
    brackets are plain characters, as in the file names of web frameworks.
    """
    text = pattern.strip()
    if text in (".", "./", "/"):
        return ".*"
    text = text.removeprefix("./").lstrip("/").rstrip("/")
    while "**/**/" in text:
        text = text.replace("**/**/", "**/")
    parts = []
    position = 0
    while position < len(text):
        if text.startswith("**/", position) and (position == 0 or text[position - 1] == "/"):
            parts.append("(?:.*/)?")
            position += 3
        elif text.startswith("**", position):
            parts.append(".*")
            position += 2
        elif text[position] == "*":
            parts.append("[^/]*")
            position += 1
        elif text[position] == "?":
            parts.append("[^/]")
            position += 1
        else:
            parts.append(re.escape(text[position]))
            position += 1
    return "".join(parts) + below


def matches(path: str, pattern: str) -> bool:
    """Tell whether `path` is meant by `pattern`: the file itself, or a folder above it."""
    return _compiled(pattern).fullmatch(path) is not None


def matches_any(path: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether any of `patterns` means `path`."""
    return bool(patterns) and _any_of(patterns).fullmatch(path) is not None


def is_folder_of(path: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether any of `patterns` names something in the folder `path` in so many words, as `a/b` names of `a`."""
    return _folders(patterns).fullmatch(path) is not None


@lru_cache(maxsize=64)
def _folders(patterns: tuple[str, ...]) -> re.Pattern[str]:
    found = {}
    for pattern in patterns:
        start = "**/" if pattern.startswith("**/") else ""
        parts = pattern.strip().removeprefix("./").removeprefix(start).strip("/").split("/")
        for end in range(1, len(parts)):
            if "**" in parts[end - 1]:
                break
            found[start + "/".join(parts[:end])] = True
    return re.compile("|".join(_expression(folder, below="") for folder in found) or "(?!)", re.DOTALL)
