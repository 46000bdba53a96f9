"""What stands in a tree of git's, and where names lead to in it: through links, and from the words of a script."""

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_HOPS_MAX = 40
_WORD = re.compile(r"[\w.@+/-]+")


@dataclass(frozen=True, slots=True)
class Tree:
    """The paths of all files of a tree, and of those that are links where they lead to, as git keeps it."""

    paths: frozenset[str]
    links: Mapping[str, str] = field(default_factory=dict)

    def places(self, path: str) -> tuple[str, ...]:
        """Return the links that stand on the way from `path` to what it stands for, and that itself at last.

        A way that leaves the tree, or has no end, ends with the last link in it.
        """
        found: list[str] = []
        for _ in range(_HOPS_MAX):
            parts = path.split("/")
            link = next((p for p in ("/".join(parts[:n]) for n in range(1, len(parts) + 1)) if p in self.links), None)
            if link is None:
                return (*found, path)
            found.append(link)
            path = posixpath.normpath(posixpath.join(posixpath.dirname(link), self.links[link], path[len(link) + 1 :]))
            if path.startswith(("/", "..")) or path == ".":
                break
        return tuple(found)

    def files_named(self, text: str, folders: Iterable[str] = ("",)) -> tuple[str, ...]:
        """Return the files that words of a script or of settings name, seen from `folders`, with the links to them.

        What stands before the first slash of a word may be a variable with the tree's own place.
        """
        found: dict[str, None] = {}
        for word in dict.fromkeys(_WORD.findall(text)):
            for name in (word.strip("/"), word.partition("/")[2].strip("/")):
                for folder in folders if name else ():
                    places = self.places(posixpath.normpath(posixpath.join(folder, name)))
                    if places[-1] in self.paths:
                        found.update(dict.fromkeys(places))
        return tuple(found)
