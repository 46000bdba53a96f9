"""Which files a worker's edits are undone in, and who may lift that: `[protect]` < the issue's `paths` < `may_change`.

An issue's `paths` lift what `[protect]` lists only if a person names the very file, without a wildcard: `src/**` is
a boundary and says nothing of a conftest.py in it. A part of a breakdown has its paths from a model, so they lift
nothing. `may_change`, which only the issue's own file can set, lifts everything it names. noface's own configuration
is never lifted by `paths`.
"""

from dataclasses import dataclass, replace
from functools import cache, lru_cache

from noface.data import table
from noface.model.issue import Issue
from noface.model.patterns import is_folder_of, matches_any

_LINK = "120000"
_ANYWHERE = "**/"
GROWING = "**/conftest.py"
_OWN = ("noface.toml", ".noface.toml")
_WILDCARDS = frozenset("*?")


@cache
def default_protected() -> tuple[str, ...]:
    return tuple(table("protected")["default"])


@cache
def always_protected() -> tuple[str, ...]:
    """Return what is protected whatever `[protect]` says: what starts by itself, and what agents read first."""
    return (*_self_starting(), *table("protected")["instructions"])


@cache
def _self_starting() -> tuple[str, ...]:
    return tuple(path for paths in table("protected")["self_starting"].values() for path in paths)


def starts_by_itself(path: str) -> bool:
    return path in _OWN or matches_any(path, always_protected())


@dataclass(frozen=True, slots=True)
class Protection:
    """Globs of files whose edits are undone, and of those among them that the issue's work may change.

    `any_case`: names that differ in letter case alone are the same. `growing`: shared fixtures may be added
    (git/guarded).
    """

    patterns: tuple[str, ...] = ()
    may_change: tuple[str, ...] = ()
    any_case: bool = False
    paths: tuple[str, ...] = ()
    growing: bool = True

    def covers(self, path: str, mode: str = "") -> bool:
        """True if an edit of `path` is undone; `mode` is git's, of what the edit puts there.

        A link is also covered where protected files would be read through it.
        """
        if matches_any(path, self.may_change):
            return False
        folded = path.casefold()
        if matches_any(path, self.patterns) or matches_any(folded, _any_case(self.patterns)):
            return True
        if self.any_case and matches_any(folded, _folded(self.patterns)):
            return True
        return mode == _LINK and is_folder_of(folded, _folded(self.patterns))

    def may_grow(self, path: str) -> bool:
        """True if a file that is covered holds shared fixtures, and is protected as such, not by its own name."""
        within = not self.paths or matches_any(path, self.paths)
        if not (self.growing and within and matches_any(path, (GROWING,))):
            return False
        return not replace(self, patterns=tuple(each for each in self.patterns if each != GROWING)).covers(path)


def protection_of(
    issue: Issue, listed: tuple[str, ...], judges: tuple[str, ...] = (), *, any_case: bool = False
) -> Protection:
    """Return what is protected from an issue's work: `listed` by `[protect]`, `judges` that decide on this issue."""
    named = frozenset(named_exactly(issue))
    lifted = tuple(
        path
        for path in sorted(named)
        if path not in judges and not starts_by_itself(path) and matches_any(path, listed)
    )
    patterns = tuple(dict.fromkeys((*listed, *always_protected(), *judges)))
    return Protection(patterns, (*issue.may_change, *lifted), any_case, issue.paths)


def named_exactly(issue: Issue) -> tuple[str, ...]:
    """Return the paths that a person names in an issue without a wildcard; a breakdown's part has a model's."""
    return tuple(path for path in issue.paths if not _WILDCARDS & set(path)) if issue.parent is None else ()


def asked_paths(issue: Issue) -> tuple[str, ...]:
    """Return the patterns of what an issue may have changed though nobody else may: links, submodules, odd names."""
    return (*issue.may_change, *named_exactly(issue))


@lru_cache(maxsize=64)
def _folded(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(pattern.casefold() for pattern in patterns)


@lru_cache(maxsize=64)
def _any_case(patterns: tuple[str, ...]) -> tuple[str, ...]:
    self_starting = _self_starting()
    if not set(self_starting) <= set(patterns):
        return ()
    # On a person's file system `.CLAUDE/` may be `.claude/`. Below the top, `docs/agents.md` is more likely a page.
    top = (pattern.removeprefix(_ANYWHERE) for pattern in table("protected")["instructions"])
    return tuple(pattern.casefold() for pattern in (*self_starting, *top))
