"""Reads the files of a project, which may be anything: what cannot be read is empty."""

import tomllib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from noface.model.json_record import json_value

_TRUTH = "tag:yaml.org,2002:bool"
_READ_BYTES_MAX = 1_000_000
_FOLDERS_MAX = 2_000
_NOT_OWN = ("node_modules", "vendor", "third_party", "thirdparty", "build", "dist", "target", "site-packages")


def text_of(path: Path) -> str:
    """Return the beginning of a file of the project, "" if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(_READ_BYTES_MAX).decode("utf-8", "replace")
    except OSError:
        return ""


def is_committed(root: Path, name: str) -> bool:
    """True if a file is there and not ignored by name: workspaces don't have what git ignores."""
    return (root / name).is_file() and not {name, f"/{name}"} & set(ignore_lines(root))


def ignore_lines(root: Path) -> tuple[str, ...]:
    """Return the rules of the .gitignore at the top."""
    return tuple(line.strip() for line in text_of(root / ".gitignore").splitlines())


def present(root: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the files that are there."""
    return tuple(name for name in names if (root / name).is_file())


def is_inner(path: str) -> bool:
    """True if a path that a project's file names lies inside the project, spelled so that it can be kept."""
    parts = PurePosixPath(path).parts
    unusual = path.startswith(("/", "~")) or "\\" in path or not path.isprintable()
    return bool(parts) and not unusual and not {"..", ".git"} & set(parts)


def table(value: object, *names: str) -> dict[str, Any]:
    """Return the table that `names` lead to from `value`, an empty one if something else is on the way."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def texts(value: object) -> tuple[str, ...]:
    """Return the texts of a list, none if it is something else."""
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def first_file(root: Path, patterns: Iterable[str]) -> str:
    """Return the first file of a project that is named so, the one nearest to the top; "" without one.

    What is installed or built is not the project's.
    """
    wanted = tuple(patterns)
    folders, seen = [root], 0
    while folders and seen < _FOLDERS_MAX:
        inner = []
        for folder in folders:
            seen += 1
            try:
                paths = sorted(folder.iterdir())
            except OSError:
                continue
            for path in paths:
                if any(fnmatchcase(path.name, pattern) for pattern in wanted) and path.is_file():
                    return path.relative_to(root).as_posix()
            # A link may lead in a circle, and an environment holds the tests of all that is installed in it.
            named = (path for path in paths if not path.name.startswith(".") and path.name not in _NOT_OWN)
            inner += [
                path for path in named if path.is_dir() and not path.is_symlink() and not (path / "pyvenv.cfg").exists()
            ]
        folders = inner
    return ""


def scripts_in(folder: Path) -> dict[str, str]:
    """Return the scripts of a folder's package.json, none if there is none to read."""
    scripts = table(json_value(text_of(folder / "package.json")), "scripts")
    return {name: text for name, text in scripts.items() if isinstance(text, str)}


def toml_of(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file, none if there is none to read."""
    try:
        return tomllib.loads(text_of(path))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def yaml_of(path: Path) -> dict[Any, Any]:
    """Return the mapping that a YAML file holds, an empty one if it holds something else."""
    text = text_of(path)
    if not text:
        return {}
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc,unused-ignore]
        """Takes tags of other programs, such as GitLab's !reference, for nothing."""

    Loader.add_multi_constructor("", lambda *_: None)
    # YAML 1.1 takes `on` and `yes` for truths; in these files they are words, as in GO111MODULE: on.
    Loader.yaml_implicit_resolvers = {
        first: [(tag, form) for tag, form in known if tag != _TRUTH or first in "tTfF"]
        for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    try:
        document = yaml.load(text, Loader=Loader)  # noqa: S506 -- it is a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
