"""Path patterns as people write them in `[protect] paths` and an issue's `paths`."""

import re
from functools import lru_cache


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Translate a glob: `*` and `?` stay inside a folder, `**` crosses folders, a bare name also means all below."""
    text = pattern.strip().removeprefix("./").lstrip("/").rstrip("/")
    parts = []
    position = 0
    while position < len(text):
        if text.startswith("**/", position):
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
