"""Reads the files of a project, which may be anything, and of its CI the commands: what cannot be read is empty."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from noface import data

_READ_BYTES_MAX = 1_000_000
_FOLDERS_MAX = 2_000
_NOT_OWN = ("node_modules", "vendor", "third_party", "thirdparty", "build", "dist", "target", "site-packages")


def text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_READ_BYTES_MAX).decode("utf-8", "replace")
    except OSError:
        return ""


def is_committed(root: Path, name: str) -> bool:
    """True if a file is there and not ignored by name: workspaces don't have what git ignores."""
    return (root / name).is_file() and not {name, f"/{name}"} & set(ignore_lines(root))


def ignore_lines(root: Path) -> tuple[str, ...]:
    return tuple(line.strip() for line in text_of(root / ".gitignore").splitlines())


def present(root: Path, patterns: Iterable[str]) -> tuple[str, ...]:
    top = root.resolve()
    named = (path for pattern in patterns for path in sorted(root.glob(pattern)))
    found = (path for path in named if path.is_file() and path.resolve().is_relative_to(top))
    return tuple(dict.fromkeys(path.relative_to(root).as_posix() for path in found))


def is_inner(path: str) -> bool:
    """True if a path that a project's file names lies inside the project, spelled so that it can be kept."""
    parts = PurePosixPath(path).parts
    unusual = path.startswith(("/", "~")) or "\\" in path or not path.isprintable()
    return bool(parts) and not unusual and not {"..", ".git"} & set(parts)


def table(value: object, *names: str) -> dict[str, Any]:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def first_file(root: Path, patterns: tuple[str, ...]) -> str:
    """Return a file of the project that is named so, "" without one; what is installed or built is not its own."""
    for seen, (folder, folders, names) in enumerate(os.walk(root)):
        if seen == _FOLDERS_MAX:
            break
        here = Path(folder)
        own = (name for name in folders if not name.startswith(".") and name not in _NOT_OWN)
        folders[:] = sorted(name for name in own if not (here / name / "pyvenv.cfg").exists())
        for name in sorted(names):
            if any(fnmatchcase(name, pattern) for pattern in patterns):
                return (here / name).relative_to(root).as_posix()
    return ""


def yaml_of(path: Path) -> dict[Any, Any]:
    """Return the mapping that a YAML file holds, an empty one if it holds something else."""
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc,unused-ignore]
        """Takes tags of other programs, such as GitLab's !reference, for nothing."""

    Loader.add_multi_constructor("", lambda *_: None)
    try:
        document = yaml.load(text_of(path), Loader=Loader)  # noqa: S506 -- it is a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


_CI = data.table("ecosystems")["ci"]
_NO_CHECKS = re.compile(_CI["no_checks"])
_CHANGES = ("push", "pull_request", "pull_request_target", "merge_group", "workflow_call")


def ci_files(root: Path) -> tuple[str, ...]:
    return present(root, _CI["files"])


def ci_commands(root: Path) -> tuple[tuple[str, str], ...]:
    """Return each line that CI runs for a change once, with the file and the job where it stands."""
    found: dict[str, str] = {}
    for file in ci_files(root):
        document = yaml_of(root / file)
        if file.startswith(".github/") and not _checks_changes(document):
            continue
        for name, job in (table(document, "jobs") or document).items():
            if not _NO_CHECKS.search(f"{Path(file).stem} {name}"):
                for line in _lines(job, str(name)):
                    found.setdefault(line, f"{file}, {name}")
    return tuple((command, where) for command, where in found.items())


def _checks_changes(document: Mapping[Any, Any]) -> bool:
    """True if a workflow runs for changes of code, and not only by a timetable, for a tag or by hand."""
    triggers = document.get("on", document.get(True))  # YAML 1.1 takes `on` for a truth
    names = [triggers] if isinstance(triggers, str) else triggers if isinstance(triggers, list | dict) else []
    tags_only = table(triggers, "push").keys() == {"tags"} and "pull_request" not in names
    return not tags_only and any(name in names for name in _CHANGES)


def _lines(value: object, key: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _lines(part, str(name))
    elif isinstance(value, list) and not texts(value):
        for part in value:
            yield from _lines(part, key)
    elif key in _CI["commands"]:
        script = value if isinstance(value, str) else "\n".join(texts(value))
        for line in script.replace("\\\n", " ").splitlines():
            if (plain := " ".join(line.split())) and not plain.startswith("#"):
                yield plain
