"""The logs of an attempt, in the order of its story: the worker's, its gates', those of questions and of landing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_QUESTION = re.compile(r"ask-(\d+)-(\w+)")
_FILES_MAX = 500


@dataclass(frozen=True, slots=True)
class Source:
    """A log: its path, what a heading calls it, the gate that wrote it, or whether an agent's stream is in it."""

    path: Path
    title: str
    gate: str = ""
    streamed: bool = False


def sources(directory: Path, gate: str = "") -> list[Source]:
    """Return the logs that are there; with `gate`, those of that gate alone. What is not there yet may come."""
    if gate:
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", gate)  # as gates/run.py names them
        return [source for source in _gates(directory) if source.gate == stem]
    own = [Source(directory / "agent.log", "the worker", streamed=True), Source(directory / "agent.err", "agent.err")]
    return [source for source in [*own, *_gates(directory), *_questions(directory)] if source.path.exists()]


def _gates(directory: Path) -> Iterator[Source]:
    for folder, where in (("gates", ""), ("landing", " on the merge with main")):
        found = sorted((directory / folder).glob("**/*"), key=_age)
        for path in found[:_FILES_MAX]:
            if path.suffix in (".out", ".err"):
                again = ", once more" if path.parent.name.startswith("again-") else ""
                errors = ", errors" if path.suffix == ".err" else ""
                yield Source(path, f"gate {path.stem}{where}{again}{errors}", path.stem)


def _questions(directory: Path) -> Iterator[Source]:
    asked = [
        (int(match[1]), match[2], path) for path in _folders(directory) if (match := _QUESTION.fullmatch(path.name))
    ]
    for _, topic, path in sorted(asked)[:_FILES_MAX]:
        title = topic.replace("_", " ")
        for folder, more in ((path, ""), (path / "again", ", once more")):
            yield Source(folder / "agent.log", f"{title}{more}", streamed=True)
            yield Source(folder / "agent.err", f"{title}{more}, agent.err")


def _folders(directory: Path) -> list[Path]:
    try:
        return list(directory.iterdir())
    except OSError:
        return []


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
