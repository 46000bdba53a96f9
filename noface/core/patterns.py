"""Path patterns as people write them in `[protect] paths` and an issue's `paths`."""

import re
from functools import lru_cache


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Translate a glob: `*` and `?` stay inside a folder, `**` crosses folders, a bare name also means all below.

    `**/` at the start of a name stands for any number of folders, none included. `.` and `/` mean everything; square
    brackets are plain characters, as in the file names of web frameworks.
    """
    text = pattern.strip()
    if text in (".", "./", "/"):
        return re.compile(".*", re.DOTALL)
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
    return re.compile("".join(parts) + "(?:/.*)?", re.DOTALL)


def matches(path: str, pattern: str) -> bool:
    """Tell whether `path` is meant by `pattern`: the file itself, or a folder above it."""
    return _compiled(pattern).fullmatch(path) is not None


def matches_any(path: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether any of `patterns` means `path`."""
    return any(matches(path, pattern) for pattern in patterns)
