"""What of a repository only its person changes: branches, tags, configuration and hooks, as a value to compare."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from noface.git.plumbing import Plumbing

_OWN = "refs/heads/noface/"
_SHORT = 12
_Stamp = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Outside:
    """The person's refs with their objects, and size and time of the files that decide what git does."""

    refs: Mapping[str, str]
    files: frozenset[_Stamp]


def look_outside(plumbing: Plumbing) -> Outside:
    """Return the present state; one git process and a few stats. Raises GitError where git cannot list refs."""
    refs = {
        name: oid
        for prefix in ("refs/heads", "refs/tags")
        for name, oid in plumbing.references(prefix).items()
        if not name.startswith(_OWN)
    }
    common = plumbing.repository.common_dir
    home = Path(os.environ.get("HOME") or "/")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git"
    named = os.environ.get("GIT_CONFIG_GLOBAL")
    paths = [common / "config", common / "config.worktree", common / "info" / "attributes", home / ".gitconfig"]
    paths += [config / "config", config / "attributes", *([Path(named)] if named else [])]
    return Outside(refs, frozenset(_stamps([*paths, *_inside(common / "hooks")])))


def differences(before: Outside, now: Outside, main: str) -> tuple[str, ...]:
    """Return what differs, each as a phrase; main, which noface moves too, is left to `main_moved`."""
    found = []
    for name in sorted(before.refs.keys() | now.refs.keys()):
        old, new = before.refs.get(name), now.refs.get(name)
        if name == main or old == new:
            continue
        kind = "tag" if name.startswith("refs/tags/") else "branch"
        short = name.split("/", 2)[2]
        if old is None:
            found.append(f"{kind} {short} is new")
        elif new is None:
            found.append(f"{kind} {short}, which was at {old[:_SHORT]}, is gone")
        else:
            found.append(f"{kind} {short} moved from {old[:_SHORT]} to {new[:_SHORT]}")
    changed = {path for path, *_ in before.files ^ now.files}
    return (*found, *(f"{path} was changed" for path in sorted(changed)))


def main_moved(plumbing: Plumbing, old: str, new: str, landed: Iterable[str]) -> bool:
    """Tell whether somebody else than noface moved main; `landed` are the commits that noface has put there."""
    if old == new:
        return False
    if not plumbing.is_ancestor(old, new):
        return True
    return not set(plumbing.first_parents(old, new)) <= set(landed)


def _inside(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _stamps(paths: Iterable[Path]) -> Iterable[_Stamp]:
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            continue
        yield str(path), status.st_size, status.st_mtime_ns
