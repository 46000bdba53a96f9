"""What the chapters read and find: changed files, what they are held against, and what nobody asked for. Pure."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from shlex import quote
from typing import NamedTuple

from noface.data import table
from noface.integrity.asked_for import words_of
from noface.model.issue import Issue
from noface.model.patch import decoded

LEFT_OUT = "left-out"
Held = tuple[str, bytes]
"""A file's mode and its bytes: of a link its target, of a submodule the id of its commit."""
Right = tuple[str, bytes | None]
"""What a file is to be: a mode, "" for that which it has, and bytes, None for those that it has."""


class Brought(NamedTuple):
    """What recent work made of a file: its texts before and after, and whose work it is."""

    by: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A file that is not as on main. Bytes are None if there is no file, or it is too large; modes are git's."""

    path: str
    old: bytes | None
    new: bytes | None
    old_mode: str
    new_mode: str


@dataclass(frozen=True, slots=True)
class Unasked:
    """What nobody asked for: a row of data/unasked.toml, the file, and the lines that show it.

    `right` is how it is put right without touching anything else, by paths; empty if only its worker can do that.
    """

    row: str
    path: str
    lines: tuple[str, ...]
    right: Mapping[str, Right | None] = field(default_factory=dict)

    @property
    def what(self) -> str:
        return str(table("unasked")["rows"][self.row]["what"])

    @property
    def then(self) -> str:
        """What comes of it if it is done again: "left-out", "ask" or "tell"."""
        return str(table("unasked")["rows"][self.row]["then"])

    def told(self, main: str) -> tuple[str, ...]:
        """Return what its worker reads: the lines, and the command that puts it right in a workspace."""
        mend = str(table("unasked")["rows"][self.row]["mend"]).replace("{main}", main)
        lines = (f"{self.what}: {line}" for line in self.lines or ("",))
        return (*lines, f"put right by: {mend.replace('{path}', quote(decoded(self.path)))}")


@dataclass(frozen=True, slots=True)
class Ground:
    """What a change is held against: its issue, main, and the machine.

    `on_main` are main's paths, `holding` gives those that hold one of some texts, `content` a file, None if there is
    none. `machine` are folders and names that tell this machine. `brought` is what work of the same night made of a
    file.
    """

    issue: Issue
    on_main: Collection[str]
    holding: Callable[[tuple[str, ...]], Collection[str]]
    content: Callable[[str], Held | None]
    machine: tuple[str, ...] = ()
    brought: Callable[[str], Sequence[Brought]] = lambda _: ()

    @property
    def removes(self) -> bool:
        """True if the issue asks for something of the project to go, and not for a feature or data that goes."""
        rows = table("unasked")["removal"]
        asks, adds, data = (re.compile(rows[key], re.IGNORECASE) for key in ("asks", "adds", "data"))
        sentences = (each for text in words_of(self.issue) for each in re.split(r"[.;\n]\s|\n", text))
        return any(asks.search(data.sub("", each)) for each in sentences if not adds.match(each))

    def asks_for(self, row: str) -> bool:
        """True if words of the issue ask for what a row is about."""
        asked = table("unasked")["rows"][row].get("asked")
        return bool(asked and re.search(asked, "\n".join(words_of(self.issue)), re.IGNORECASE))


Chapter = Callable[[Sequence[Changed], Ground], Iterator[Unasked]]
"""Finds what nobody asked for in the files of a change. Total: what it cannot read it says nothing of."""
