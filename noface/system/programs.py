"""What the programs that gates call are on this machine, told cheaply: a gate's result counts for these only."""

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

_SHEBANG_BYTES = 256
_PACKAGES = ("lib/python*/site-packages", "lib/python*/dist-packages")


def programs_digest(names: Iterable[str]) -> str:
    """Return a digest of where the programs lead to, and when that, or the packages beside it, last changed.

    A program that is not there counts as well: what a gate needs may have gone since it was green. Names with a slash
    are of the checkout and are not looked at.
    """
    digest = hashlib.sha256()
    for name in sorted(set(names)):
        if "/" in name and not name.startswith("/"):
            continue
        found = shutil.which(name)
        digest.update(repr((name, *_facts(found))).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:16]


def _facts(program: str | None) -> tuple[object, ...]:
    if program is None:
        return ()
    told: list[object] = []
    for path in dict.fromkeys((program, *_interpreter(program))):
        try:
            real = os.path.realpath(path)
            status = Path(real).stat()
        except OSError:
            told.append((path, "gone"))
            continue
        told.append((path, real, status.st_size, status.st_mtime_ns))
        told += _packages(path)
    return tuple(told)


def _interpreter(program: str) -> tuple[str, ...]:
    """Return what runs a script, by its first line."""
    try:
        with open(program, "rb") as file:  # noqa: PTH123 - asked before each gate
            line = file.read(_SHEBANG_BYTES).partition(b"\n")[0]
    except OSError:
        return ()
    words = os.fsdecode(line).removeprefix("#!").split() if line.startswith(b"#!") else []
    return tuple(words[:1])


def package_folders(prefix: Path) -> list[Path]:
    """Return the folders in which a Python installation, or a virtual environment, has its packages."""
    return [folder for pattern in _PACKAGES for folder in sorted(prefix.glob(pattern)) if folder.is_dir()]


def _packages(program: str) -> list[tuple[str, int]]:
    """Return when packages were last added to a Python installation or removed from it; [] for other programs."""
    place = Path(program)
    if not place.name.startswith(("python", "pypy")):
        return []
    return sorted((str(folder), folder.stat().st_mtime_ns) for folder in package_folders(place.parent.parent))
