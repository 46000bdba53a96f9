"""Choose passing tests to compare with: of a large suite, the files that mention the code under suspicion."""

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

FILES_ALL = 8
FILES_MAX = 12


def neighbour_tests(roots: tuple[str, ...], suspects: Iterable[str], skip: frozenset[str], top: Path) -> list[str]:
    """Test files under `roots` (files, folders or node ids of a gate's command), at most FILES_MAX."""
    found: set[str] = set()
    for root in roots or tuple(name for name in ("tests", "test") if (top / name).is_dir()):
        place = top / root.partition("::")[0]
        files = [place] if place.is_file() else [*place.rglob("test_*.py"), *place.rglob("*_test.py")]
        found.update(file.relative_to(top).as_posix() for file in files)
    chosen = sorted(found - skip)
    if len(chosen) <= FILES_ALL:
        return chosen
    names = {_module_name(path) for path in suspects}
    word = re.compile(r"\b(" + "|".join(sorted(map(re.escape, names))) + r")\b")
    return [path for path in chosen if names and word.search(_text(top / path))][:FILES_MAX]


def _module_name(path: str) -> str:
    parts = PurePosixPath(path)
    return parts.parent.name if parts.stem == "__init__" else parts.stem


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")
