"""Finds folders that a change makes into git repositories: whoever enters one runs what its configuration names.

Git takes a folder with HEAD, objects/ and refs/ for a bare repository, and reads `config` there before anything else.
"""

from collections.abc import Iterable

from noface.core.attempt import FileChange
from noface.core.patterns import matches_any

_PARTS = frozenset({"head", "objects", "refs", "config"})
_LINKED = frozenset({"head", "commondir"})
_FOLDERS = frozenset({"objects", "refs", "hooks"})
_RUNS = frozenset({"config", "config.worktree", "commondir", "hooks"})
_NAMES = _PARTS | _LINKED | _RUNS


def may_make_repository(changes: Iterable[FileChange]) -> bool:
    """Tell whether a change adds or rewrites files that are called like parts of a repository."""
    return any(_folders(change.path) for change in changes if change.status != "D")


def made_repositories(
    changes: tuple[FileChange, ...], on_main: frozenset[str], may_change: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Return the folders that are a repository after the change, and were none on main or have other settings now.

    Letter case counts for nothing: on a person's file system it may mean nothing. `may_change` lifts what it names.
    """
    touched = [change for change in changes if change.status != "D"]
    suspects = {folder for change in touched for folder in _folders(change.path)}
    if not suspects:
        return ()
    after = (on_main - {change.path for change in changes if change.status == "D"}) | {c.path for c in touched}
    steered = {folder for change in touched for folder in _folders(change.path, _RUNS)}
    now, before = _complete(after, suspects), _complete(on_main, suspects)
    made = (folder for folder in now if folder not in before or folder in steered)
    return tuple(sorted(folder for folder in made if not _lifted(folder, touched, may_change)))


def _folders(path: str, names: frozenset[str] = _NAMES) -> set[str]:
    """Return, in small letters, the folders of which the file is a part as a repository has it."""
    parts = path.casefold().split("/")
    found = {"/".join(parts[:at]) for at, part in enumerate(parts[:-1]) if part in _FOLDERS & names}
    return found | ({"/".join(parts[:-1])} if parts[-1] in names else set())


def _complete(paths: Iterable[str], suspects: set[str]) -> set[str]:
    held: dict[str, set[str]] = {folder: set() for folder in suspects}
    for path in paths:
        parts = path.casefold().split("/")
        for at, part in enumerate(parts):
            if part in _NAMES and (folder := "/".join(parts[:at])) in held:
                held[folder].add(part)
    return {folder for folder, names in held.items() if names >= _PARTS or names >= _LINKED}


def _lifted(folder: str, touched: list[FileChange], may_change: tuple[str, ...]) -> bool:
    parts = [change.path for change in touched if folder in _folders(change.path)]
    return all(matches_any(path, may_change) for path in parts)
