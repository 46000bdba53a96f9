"""Says shortly which files are put back before work is judged (law 11): those that matter, and how many more."""

from dataclasses import dataclass

from noface.core.named_files import named_paths
from noface.core.protection import always_protected, default_protected

NAMED_MAX = 8
_GLOB = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class ProtectedShown:
    """`usual`, `agents`: the built-in patterns all hold, so that words can stand for them; `more` are not named."""

    usual: bool = False
    agents: bool = False
    paths: tuple[str, ...] = ()
    more: int = 0


def protected_shown(protected: tuple[str, ...], accept: tuple[str, ...]) -> ProtectedShown:
    """Return what to say: first the files that the issue's `accept` commands name, then other files, then patterns."""
    usual = set(default_protected()) <= set(protected)
    agents = set(always_protected()) <= set(protected)
    in_words = {*(default_protected() if usual else ()), *(always_protected() if agents else ())}
    rest = [path for path in dict.fromkeys(protected) if path not in in_words]
    named = named_paths(accept)
    ranked = sorted(rest, key=lambda path: _rank(path, named))
    return ProtectedShown(usual, agents, tuple(ranked[:NAMED_MAX]), max(0, len(ranked) - NAMED_MAX))


def _rank(path: str, named: tuple[str, ...]) -> int:
    if path in named:
        return 0
    if any(path.startswith(f"{folder}/") for folder in named):
        return 1
    return 3 if _GLOB & set(path) else 2
