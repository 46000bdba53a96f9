"""The packages of a JavaScript monorepo: each has a node_modules of its own."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from noface.config.detection import is_inner, table, text_of, texts

_ITEM = re.compile(r"""\s*-\s*(?:"([^"]*)"|'([^']*)'|([^#\s][^#]*?))\s*(?:#.*)?""")
_MEMBERS_MAX = 200
_SKIPPED = ("node_modules", ".git")


def patterns(root: Path, package: dict[str, Any]) -> tuple[str, ...]:
    """Return where the packages lie, as globs: what pnpm-workspace.yaml says, or package.json's `workspaces`."""
    told = package.get("workspaces")
    found = texts(told) or texts(table(package, "workspaces").get("packages"))
    plain = (pattern.replace("!./", "!").removeprefix("./").rstrip("/") for pattern in (*_pnpm(root), *found))
    return tuple(pattern for pattern in plain if is_inner(pattern.removeprefix("!")))


def members(root: Path, globs: Iterable[str]) -> tuple[str, ...]:
    """Return the folders of the packages, in order; a glob that begins with `!` takes out what others named."""
    found: set[str] = set()
    out: set[str] = set()
    for glob in globs:
        (out if glob.startswith("!") else found).update(_folders(root, glob.removeprefix("!")))
    return tuple(sorted(found - out)[:_MEMBERS_MAX])


def scripts_of(root: Path, member: str) -> dict[str, Any]:
    """Return the scripts of a package."""
    try:
        return table(json.loads(text_of(root / member / "package.json")), "scripts")
    except (ValueError, RecursionError):
        return {}


def _folders(root: Path, pattern: str) -> set[str]:
    try:
        places = {path.parent.relative_to(root) for path in root.glob(f"{pattern}/package.json")}
    except (ValueError, NotImplementedError, OSError):
        return set()
    return {place.as_posix() for place in places if place.parts and not set(_SKIPPED) & set(place.parts)}


def _pnpm(root: Path) -> tuple[str, ...]:
    """Return the list `packages` of pnpm-workspace.yaml."""
    found: list[str] = []
    inside = False
    for line in text_of(root / "pnpm-workspace.yaml").splitlines():
        if line.strip() and not line.lstrip().startswith(("#", "-")):
            inside = line.startswith("packages:")
        item = _ITEM.fullmatch(line) if inside else None
        if item:
            found.append(item[1] or item[2] or item[3] or "")
    return tuple(found)
