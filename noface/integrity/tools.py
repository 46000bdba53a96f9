"""Which of the packages that a change has installed in other versions judge it: those that its product does not use.

A runner, a plug-in, a linter, or what these need: an older one may accept what main's refuses. What the product
imports, names, declares, or gets with that is the product's, and a change may need another version of it. Pure.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Package:
    """A package that is installed in the kept path `place` of a workspace.

    Code uses it by one of its `modules`; it `needs` others, by name, and tools find it in `groups` of entry points.
    `files` are files or folders, counted from the workspace. `own`: it is the project itself, or a part of it.
    """

    place: str
    name: str
    version: str
    modules: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    own: bool = False

    @property
    def key(self) -> "Key":
        """What names a package in a workspace."""
        return self.place, self.name


Key = tuple[str, str]
Packages = Mapping[Key, Package]


def other_tools(main: Packages, now: Packages, by_main: Collection[str], by_change: Collection[str]) -> dict[Key, str]:
    """Return the tools that judge in other versions, and say which; of the product `by_main` and `by_change` are used.

    What main has and its product does not use stays a tool, even if the change's product now names it. What tools of
    main find by an entry point is one of them as far as it does that.
    """
    product = products(main, now, by_main, by_change)
    tools = {name for place, name in main if (place, name) not in product}
    result = {}
    for key in sorted({*main, *now}):
        before, after = main.get(key), now.get(key)
        extends = after is not None and any(
            belongs_to(group, tools) for group in after.groups if before is None or group not in before.groups
        )
        was, is_now = (side.version if side is not None else "" for side in (before, after))
        if extends or (key not in product and was != is_now):
            on_main = f"main has {was}" if was else "not on main"
            result[key] = f"{key[1]} {is_now} ({on_main})" if is_now else f"no {key[1]} (main has {was})"
    return result


def belongs_to(group: str, tools: Collection[str]) -> bool:
    """True if one of the tools loads a group of entry points: it has the tool's name, and what follows."""
    return _GROUP_OWNER.split(group)[0] in tools


def products(main: Packages, now: Packages, by_main: Collection[str], by_change: Collection[str]) -> set[Key]:
    """Return the keys of the packages that are the product's: the project itself, what it uses, and what that needs."""
    known = _with_needs(main, _used(main, by_main, declared=_declared(main)))
    new = {key for key in _used(now, by_change, declared=_declared(now)) if key not in main or now[key].own}
    own = {key for key, each in now.items() if each.own}  # what these need in the change is new, or as on main
    return known | own | _with_needs(now, (new | {key for key in known if key in now}) - own)


def entry_points(text: str, before: str, tools: Collection[str]) -> str:
    """Return a package's entry points without those by which `tools` find it, unless it had such `before`, on main."""
    had = set(_GROUP.findall(before))
    kept, keeps = [], True
    for line in text.splitlines(keepends=True):
        group = _GROUP.match(line)
        if group is not None:
            keeps = group[1] in had or not belongs_to(group[1], tools)
        kept += [line] if keeps else []
    return "".join(kept)


_GROUP = re.compile(r"^[ \t]*+\[\s*+([^\]\s]++)\s*+\]", re.MULTILINE)
_GROUP_OWNER = re.compile(r"[.\d:-]")


def _declared(packages: Packages) -> set[Key]:
    """Return what the project's own packages need: it may be loaded by a name that no code shows."""
    return {(each.place, name) for each in packages.values() if each.own for name in each.needs}


def _used(packages: Packages, words: Collection[str], declared: Collection[Key]) -> set[Key]:
    return {
        key
        for key, each in packages.items()
        if each.own or key in declared or not {each.name, *each.modules}.isdisjoint(words)
    }


def _with_needs(packages: Packages, start: Iterable[Key]) -> set[Key]:
    result: set[Key] = set()
    left = [key for key in start if key in packages]
    while left:
        key = left.pop()
        if key not in result:
            result.add(key)
            left += [(key[0], name) for name in packages[key].needs if (key[0], name) in packages]
    return result


_IMPORTED = re.compile(r"^[ \t]*+(?:from|import)[ \t]++([\w., \t]++)", re.MULTILINE)
_SPECIFIER = re.compile(r"""(?:\bfrom|\bimport|\brequire|\bresolve)\s*+\(?\s*+["'`]((?:@[\w.-]++/)?[\w.-]++)""")
_QUOTED = re.compile(r"""["']((?:@[\w-]++/)?[A-Za-z_][\w.+:/-]{1,80}+)["']""")
_CUT = re.compile(r"[^\w-]+")


def words_used(text: str) -> set[str]:
    """Return the names by which code may use packages: what it imports, and what it quotes that may be such a name.

    Packages are loaded by name from settings ("rest_framework", "postgresql+psycopg2").
    """
    words: set[str] = set()
    for names in _IMPORTED.findall(text):
        words.update(part for name in re.split(r"[, \t]+", names) for part in (name.partition(".")[0],) if part)
    for name in (*_SPECIFIER.findall(text), *_QUOTED.findall(text)):
        words.add(name)
        words.update(part for part in _CUT.split(name) if part)
    return words
