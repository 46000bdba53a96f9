"""Reads commits and trees through one running git, and writes them through others; what was read is remembered."""

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from noface.errors import GitError
from noface.git.command import Git
from noface.git.objects import CommitWriter, ObjectReader, TreeWriter
from noface.model.attempt import ABSENT, FileChange

_BYTES_KEPT_MAX = 16 << 20
_NEAR_MAX = 100
"""So many commits are looked at before git is asked, which may have an index of them."""
_TABLES_MAX = 64
_TREE = "040000"
LINK_MODE = "160000"
"""Git's mode of a path that stands for a commit of another repository."""
_KINDS = {_TREE: "tree", LINK_MODE: "commit"}
_NO_NAMES = frozenset({"", ".", "..", ".git"})

Entry = tuple[str, str]
"""Mode and object id of a file, as git writes them."""


class StoredObjects:
    """The commits and trees of a repository. Threads may share it. Ids are whole; raises GitError if one is gone."""

    def __init__(self, git: Git, reader: ObjectReader) -> None:
        self._git = git
        self._reader = reader
        self._commits, self._trees = CommitWriter(git, reader.packs), TreeWriter(git, reader.packs)
        self._kept: dict[str, bytes] = {}
        self._bytes_kept = 0
        self._author = ""

    def close(self) -> None:
        self._commits.close()
        self._trees.close()

    def _content(self, oid: str, kind: str) -> bytes:
        content = self._kept.get(oid)
        if content is None:
            content = self._reader.whole(oid, kind)
            if self._bytes_kept > _BYTES_KEPT_MAX:
                self._kept.clear()
                self._bytes_kept = 0
            self._kept[oid] = content
            self._bytes_kept += len(content)
        return content

    def commit(self, oid: str) -> tuple[str, tuple[str, ...]]:
        head = self._content(oid, "commit").partition(b"\n\n")[0].decode("utf-8", "replace")
        fields = [line.partition(" ")[::2] for line in head.split("\n")]
        return fields[0][1], tuple(value for name, value in fields[1:] if name == "parent")

    def message(self, oid: str) -> bytes:
        """Return the message of a commit; GitError if it is not in UTF-8."""
        head, _, message = self._content(oid, "commit").partition(b"\n\n")
        if b"\nencoding " in head:
            raise GitError(f"the message of {oid} is not in UTF-8")
        return message

    def line(self, tip: str) -> Iterator[str]:
        """Yield a commit and the nearest of its first-parent ancestors."""
        for _ in range(_NEAR_MAX):
            yield tip
            parents = self.commit(tip)[1]
            if not parents:
                return
            tip = parents[0]

    def _entries(self, tree: str) -> Iterator[tuple[str, Entry]]:
        content, at, size = self._content(tree, "tree"), 0, len(tree) // 2
        while at < len(content):
            end = content.index(b"\0", at)
            mode, _, name = content[at:end].decode("utf-8", "surrogateescape").partition(" ")
            at = end + 1 + size
            if mode.startswith("100"):  # as git lists it: a file of an old history may have another, such as 100664
                mode = "100755" if int(mode, 8) & 0o100 else "100644"
            yield name, (mode.zfill(6), content[end + 1 : at].hex())

    def files(self, tree: str, prefix: str = "") -> Iterator[tuple[str, str, str]]:
        """Yield path, mode and object id of the files of a tree, in git's order."""
        pending = [(prefix, self._entries(tree))]  # no recursion: folders may be deeper than Python's stack
        while pending:
            above, entries = pending[-1]
            for name, (mode, oid) in entries:
                if mode == _TREE:
                    pending.append((f"{above}{name}/", self._entries(oid)))
                    break
                yield f"{above}{name}", mode, oid
            else:
                pending.pop()

    def at(self, tree: str, paths: Iterable[str]) -> Iterator[tuple[str, str, str]]:
        """Yield path, mode and object id of the files at the paths, and of those in the folders there."""
        table = lru_cache(maxsize=_TABLES_MAX)(lambda oid: dict(self._entries(oid)))
        for path in paths:
            parts = [part for part in path.split("/") if part not in ("", ".")]
            entry: Entry | None = (_TREE, tree)
            for part in parts:
                entry = table(entry[1]).get(part) if entry is not None and entry[0] == _TREE else None
            if entry is not None and entry[0] == _TREE:
                yield from self.files(entry[1], "".join(f"{part}/" for part in parts))
            elif entry is not None:
                yield "/".join(parts), *entry

    def changes(self, old: str, new: str) -> Iterator[FileChange]:
        """Yield the files in which two trees differ, without line counts."""
        absent = (ABSENT, "0" * len(new))
        pending: list[tuple[str, str, str]] = [("", old, new)]
        while pending:
            above, before, after = pending.pop()
            olds = dict(self._entries(before)) if before else {}
            news = dict(self._entries(after)) if after else {}
            for name in sorted({*olds, *news}):
                was, now = olds.get(name, absent), news.get(name, absent)
                if was == now:
                    continue
                inner = tuple(oid if mode == _TREE else "" for mode, oid in (was, now))
                was, now = (absent if tree else one for tree, one in zip(inner, (was, now), strict=True))
                if was != now:
                    letter = "A" if was[0] == ABSENT else "D" if now[0] == ABSENT else "MT"[was[0][:3] != now[0][:3]]
                    yield FileChange(f"{above}{name}", letter, was[0], now[0], was[1], now[1])
                if any(inner):
                    pending.append((f"{above}{name}/", inner[0], inner[1]))

    def write_commit(self, tree: str, parents: tuple[str, ...], message: str) -> str:
        """Make a commit by whom git says it is by."""
        # As git itself makes it of name and address, which need not be fit for a commit: other bytes are Latin-1 to it.
        name = self._author or self._git.ask("var", "GIT_COMMITTER_IDENT").rpartition(">")[0]
        self._author = re.sub("[\udc80-\udcff]", lambda byte: chr(ord(byte[0]) - 0xDC00), name)
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in dict.fromkeys(parents))]
        now = f"{int(time.time())} {time.strftime('%z')}"
        lines += [f"{role} {self._author}> {now}" for role in ("author", "committer")]
        content = "\n".join((*lines, "", message.replace("\0", "")))
        return self._commits.write(content.encode("utf-8", "replace"))

    def write_tree(self, tree: str, files: Mapping[str, Entry | None]) -> str:
        """Make a tree like `tree` but for these files; None: there is no such file. Folders never stay empty."""
        folders = {"": dict(self._entries(tree))}  # each behind the one that it is in; no recursion here, either
        for path, entry in files.items():
            above, names = "", path.split("/")
            if unfit := [name for name in names if name.lower() in _NO_NAMES]:
                raise GitError(f"git takes no path with the name {unfit[0]!r}")
            for name in names[:-1]:
                inner, own = f"{above}{name}/", folders[above].get(name, ("", ""))
                if inner not in folders and entry is None and own[0] != _TREE:
                    break
                if inner not in folders:
                    folders[inner] = dict(self._entries(own[1])) if own[0] == _TREE else {}
                    folders[above][name] = (_TREE, "")
                above = inner
            else:
                if entry is not None:
                    folders[above][names[-1]] = entry
                elif folders[above].get(names[-1], (_TREE, ""))[0] != _TREE:
                    del folders[above][names[-1]]
        for place in list(folders)[:0:-1]:
            head, _, name = place[:-1].rpartition("/")
            holder = folders[f"{head}/" if head else ""]
            if holder[name][0] == _TREE:  # no file has taken its place
                del holder[name]
                holder |= {name: (_TREE, self._put(folders[place]))} if folders[place] else {}
        return self._put(folders[""])

    def _put(self, entries: Mapping[str, Entry]) -> str:
        lines = (f"{mode} {_KINDS.get(mode, 'blob')} {oid}\t{name}\0" for name, (mode, oid) in entries.items())
        return self._trees.write("".join(lines).encode("utf-8", "surrogateescape"))
