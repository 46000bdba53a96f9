"""The files an attempt left behind: which there are, and their text in bounded memory, fit to be shown."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from noface.system.files import read_bounded
from noface.views.text import clean_block

_HEAD_BYTES = 64 * 1024
_TAIL_BYTES = 448 * 1024
_LOG_FOLDERS = ("gates", "landing")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A file's text, cleaned; `left_out_bytes` of its middle were not read."""

    name: str
    text: str
    size_bytes: int
    left_out_bytes: int


def gate_names(directory: Path) -> list[str]:
    """Return the gates of an attempt that left logs, by the names of their files."""
    found = {path.stem for folder in _LOG_FOLDERS for path in (directory / folder).glob("*.out")}
    return sorted(found)


def gate_files(directory: Path, gate: str) -> list[Path]:
    """Return the logs of a gate: of the attempt, then of the merge with main where that was gated by itself."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", gate)  # as gates/run.py names them
    return existing(*(directory / folder / f"{stem}{end}" for folder in _LOG_FOLDERS for end in (".out", ".err")))


def existing(*paths: Path) -> list[Path]:
    """Return those of the files that are there and not empty."""
    return [path for path in paths if path.is_file() and path.stat().st_size]


def excerpt(path: Path, directory: Path) -> Excerpt:
    """Read a file's beginning and end. Raises OSError."""
    size = path.stat().st_size
    text = read_bounded(path, _HEAD_BYTES, _TAIL_BYTES)
    left_out = max(size - _HEAD_BYTES - _TAIL_BYTES, 0)
    return Excerpt(str(path.relative_to(directory)), clean_block(text), size, left_out)


def chunks(path: Path, size_bytes: int = 1 << 20) -> Iterator[bytes]:
    """Read a file of any size piece by piece. Raises OSError."""
    with path.open("rb") as file:
        while piece := file.read(size_bytes):
            yield piece
