"""Knows a programming language by its files' names."""

import re

SUFFIXES: dict[str, tuple[str, ...]] = {
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


def is_in(language: str, path: str) -> bool:
    """Tell whether a file is in a language; of a language that is not listed, its name is taken as the suffix."""
    name = language.strip().lower()
    return path.endswith(SUFFIXES.get(name, (f".{name.removeprefix('.')}",)))


def language_of(path: str) -> str:
    """Return the language a file is in, "" where it is none of the listed ones."""
    return next((name for name, suffixes in SUFFIXES.items() if path.endswith(suffixes)), "")


def file_of(location: str | None) -> str:
    """Return the path of a failure's location, without its line; "" where there is none."""
    return _POSITION.sub("", location or "")
