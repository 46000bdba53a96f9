"""Reads what `git diff-tree -r -z --raw --numstat -p` says about two trees."""

import hashlib
from dataclasses import dataclass

from noface.core.attempt import FileChange

_RAW_FIELDS = 5


@dataclass(frozen=True, slots=True)
class Diff:
    """The files that differ and the patch as git prints it."""

    changes: tuple[FileChange, ...]
    patch: bytes

    @property
    def hash(self) -> str:
        """A short name for exactly this change; empty where nothing changed."""
        return hashlib.sha256(self.patch).hexdigest()[:16] if self.changes else ""


def parse_diff(output: bytes) -> Diff:
    """Split the output into raw entries, line counts and patch.

    Layout: `:modes oids letter NUL path NUL` for each file, then `added TAB deleted TAB path NUL` for each, then
    NUL and the patch.
    """
    raw: list[tuple[list[str], str]] = []
    position = 0
    while output[position : position + 1] == b":":
        meta_end = output.index(b"\0", position)
        path_end = output.index(b"\0", meta_end + 1)
        raw.append((output[position + 1 : meta_end].decode().split(" "), _path(output[meta_end + 1 : path_end])))
        position = path_end + 1
    counts: dict[str, tuple[int | None, int | None]] = {}
    for _ in raw:
        end = output.index(b"\0", position)
        added, deleted, path = output[position:end].split(b"\t", 2)
        counts[_path(path)] = (_count(added), _count(deleted))
        position = end + 1
    changes = tuple(_change(fields, path, counts.get(path, (None, None))) for fields, path in raw)
    return Diff(changes, output[position + 1 :])


def _change(fields: list[str], path: str, counts: tuple[int | None, int | None]) -> FileChange:
    old_mode, new_mode, old_oid, new_oid, status = fields[:_RAW_FIELDS]
    return FileChange(path, status[0], old_mode, new_mode, old_oid, new_oid, *counts)


def _count(text: bytes) -> int | None:
    return None if text == b"-" else int(text)


def _path(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
