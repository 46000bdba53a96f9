"""Reads refs from the files that git keeps of them, without a process: git is asked a lot.

Loose refs are read before packed ones: `git pack-refs` writes the line before it removes the file. What only git reads
(reftable, links, unreadable files) is None here, and the caller asks git.
"""

import os
import re
from pathlib import Path

from noface.process.files import read_regular

_BYTES_MAX = 4_096
_PACKED_BYTES_MAX = 1 << 30
_DEPTH_MAX = 5  # as many symbolic refs in a row as git follows
_OID = re.compile(r"([0-9a-f]{64}|[0-9a-f]{40})(?:\s|$)")
_BAD_NAME = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|/\.|\.lock(?:/|$)|\.$")
_Stamp = tuple[int, int, int, int]
_packed: dict[str, tuple[_Stamp, dict[str, str]]] = {}
"""What was read of a file of packed refs, with the times, size and number that it had."""


class _OnlyGitTellsError(Exception):
    """What stands there is read by git alone."""


def references(common: Path, *prefixes: str) -> dict[str, str] | None:
    """Return the refs below the prefixes as `git for-each-ref` lists them; None if only git can tell."""
    if (common / "reftable").exists():
        return None
    try:
        loose: dict[str, str] = {}
        for prefix in prefixes:
            _read_loose(common, prefix.rstrip("/"), loose)
        refs = _packed_refs(common)
        tops = tuple(f"{prefix.rstrip('/')}/" for prefix in prefixes)
        refs = {name: oid for name, oid in refs.items() if f"{name}/".startswith(tops)} | loose
        resolved = {name: _end_of(common, value) if value.startswith("ref:") else value for name, value in refs.items()}
    except (_OnlyGitTellsError, OSError):
        return None
    known = (name for name, oid in resolved.items() if oid and oid.strip("0") and not _BAD_NAME.search(name))
    return {name: resolved[name] for name in sorted(known, key=os.fsencode)}


def _read_loose(common: Path, name: str, refs: dict[str, str]) -> None:
    try:
        with os.scandir(common / name) as entries:
            present = list(entries)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        if not name.endswith(".lock"):
            _take(refs, name, common / name)
        return
    for entry in present:
        path = f"{name}/{entry.name}"
        if entry.is_symlink():
            raise _OnlyGitTellsError
        if entry.is_dir(follow_symlinks=False):
            _read_loose(common, path, refs)
        elif not entry.name.endswith(".lock"):
            _take(refs, path, Path(entry.path))


def _take(refs: dict[str, str], name: str, file: Path) -> None:
    try:
        value = _value(file)
    except FileNotFoundError:
        return  # deleted or packed meanwhile: what was packed is read after this
    refs[name] = value if value.startswith("ref:") else _oid(value)


def _value(file: Path) -> str:
    data = read_regular(file, _BYTES_MAX)
    if data is None:
        if not os.path.lexists(file):
            raise FileNotFoundError(file)
        raise _OnlyGitTellsError
    return data.decode("utf-8", "surrogateescape")


def _oid(value: str) -> str:
    match = _OID.match(value)
    return match[1] if match is not None else ""


def _end_of(common: Path, value: str) -> str:
    """Return the object of the ref at which a symbolic one ends, "" if that does not exist."""
    for _ in range(_DEPTH_MAX):
        name = value.removeprefix("ref:").strip()
        if not name.startswith("refs/") or _BAD_NAME.search(name):
            raise _OnlyGitTellsError
        loose: dict[str, str] = {}
        if not (common / name).is_dir():
            _read_loose(common, name, loose)
        value = loose[name] if name in loose else _packed_refs(common).get(name, "")
        if not value.startswith("ref:"):
            return value
    raise _OnlyGitTellsError


def _packed_refs(common: Path) -> dict[str, str]:
    """Return the refs of `packed-refs`; the file is read again if it is another one, which is how git decides, too."""
    file = common / "packed-refs"
    try:
        status = file.stat()
    except FileNotFoundError:
        return {}
    stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
    known = _packed.get(str(file))
    if known is not None and known[0] == stamp:
        return known[1]
    data = read_regular(file, _PACKED_BYTES_MAX)
    if data is None:
        raise _OnlyGitTellsError
    lines = (line.partition(" ") for line in data.decode("utf-8", "surrogateescape").split("\n"))
    refs = {name: oid for oid, _, name in lines if name and not oid.startswith(("#", "^"))}
    _packed[str(file)] = (stamp, refs)
    return refs
