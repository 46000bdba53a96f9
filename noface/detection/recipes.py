"""The recipes of makefiles and justfiles: of each target what it needs, and its lines."""

import re
from pathlib import Path

from noface.detection.files import text_of

Recipes = dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
"""By target: the targets that it needs, and its lines without what only hides them."""
_TARGET = re.compile(
    r"^([\w./-]+)([ \t]+[^:\n]*?)?::?(?![=:])([^\n=]*)\n((?:\t.*\n?|[ ]{2,}.*\n?|[ \t]*\n)*)", re.MULTILINE
)


def make_targets(root: Path) -> tuple[str, Recipes]:
    """Return the makefile's name, and of each target what it needs and its lines."""
    file = next((name for name in ("GNUmakefile", "makefile", "Makefile") if (root / name).is_file()), "")
    return file, _recipes(text_of(root / file)) if file else {}


def just_recipes(root: Path) -> Recipes:
    """Return the recipes of a justfile, none without one."""
    file = next((name for name in ("justfile", "Justfile", ".justfile") if (root / name).is_file()), "")
    return _recipes(text_of(root / file)) if file else {}


def _recipes(text: str) -> Recipes:
    found = {}
    for match in _TARGET.finditer(text.replace("\\\n", " ")):
        # A line behind a `-` may fail.
        given = (re.fullmatch(r"\s*([@+-]*)\s*([^#\s].*?)\s*", line) for line in match[4].split("\n"))
        lines = tuple(line[2] for line in given if line and "-" not in line[1])
        for name in (match[1], *(word for word in (match[2] or "").split() if re.fullmatch(r"[\w./-]+", word))):
            found[name] = (tuple(match[3].split("#")[0].split()), lines)
    return found
