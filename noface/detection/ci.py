"""The commands that a project's CI runs, as they stand in its files; nothing is worked out or followed."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from noface import data
from noface.detection.files import present, table, texts, yaml_of

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
        jobs = table(document, "jobs") or document
        for name, job in jobs.items():
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
