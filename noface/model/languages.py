"""Knows a programming language by its files' names (languages.toml)."""

import re

from noface.data import table

_POSITION = re.compile(r"(:\d+){1,2}$")
"""Line, or line and column, behind a path."""


def is_in(language: str, path: str) -> bool:
    """Tell whether a file is in a language; of a language that is not listed, its name is taken as the suffix."""
    name = language.strip().lower()
    return path.endswith(tuple(table("languages").get(name, (f".{name.removeprefix('.')}",))))


def language_of(path: str) -> str:
    """Return the language a file is in, "" where it is none of the listed ones."""
    return next((name for name, suffixes in table("languages").items() if path.endswith(tuple(suffixes))), "")


def file_of(location: str | None) -> str:
    """Return the path of a failure's location, without its line; "" where there is none."""
    return _POSITION.sub("", location or "")
