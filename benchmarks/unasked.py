"""Counts what the chapters of integrity/unasked find in honest commits: how dear their caution is.

    nice .venv/bin/python benchmarks/unasked.py CLONES/* [--newest 300] [--row ROW] [--show]

CLONES are git directories, bare or not (also folders that hold one as `repo`); they are only read. Each commit without
merges stands for a change: main is its first parent, the issue is its message. Rows are those of data/unasked.toml:
`righted` is put right without a word to anybody, `told` is told once, `asked` is asked about if it is done again (of
those told). `--show` prints each commit with what was found; `--row` counts this row only, `all-but` all but `undone`.
"""

import argparse
import subprocess
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from functools import cache, cached_property
from pathlib import Path

from noface.data import table
from noface.integrity.unasked.chapters import find_unasked, together
from noface.integrity.unasked.finding import LEFT_OUT, Brought, Changed, Ground, Held, Right, Unasked
from noface.model.attempt import ABSENT
from noface.model.issue import Issue

BYTES_MAX = 2_000_000
FILES_MAX = 400
RECENT = 10
"""So many commits before each stand for what landed in the same night."""
SUBMODULE = "160000"


class History:
    """A repository's commits and files, through one running git."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.batch = subprocess.Popen(
            self._git("cat-file", "--batch"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def _git(self, *args: str) -> list[str]:
        return ["git", "-c", "safe.directory=*", "-C", str(self.folder), *args]

    def ask(self, *args: str) -> bytes:
        return subprocess.run(self._git(*args), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout

    def read(self, name: str) -> bytes | None:
        assert self.batch.stdin is not None
        assert self.batch.stdout is not None
        self.batch.stdin.write(name.encode("utf-8", "surrogateescape") + b"\n")
        self.batch.stdin.flush()
        fields = self.batch.stdout.readline().split()
        if len(fields) != 3 or not fields[2].isdigit():
            return None
        data = self.batch.stdout.read(int(fields[2]) + 1)[:-1]
        return data if fields[1] == b"blob" and len(data) <= BYTES_MAX else None

    def held(self, mode: str, oid: str) -> bytes | None:
        if mode in (ABSENT, SUBMODULE):
            return oid.encode() if mode == SUBMODULE else None
        return self.read(oid)

    def commits(self, newest: int) -> Iterator[tuple[str, str, str, list[Changed]]]:
        """Yield id, parent and message of commits, with their files."""
        log = self.ask("log", "--no-merges", f"-{newest}", "-z", "--format=%H %P", "HEAD").decode()
        for line in filter(None, log.split("\0")):
            commit, _, parent = line.partition(" ")
            if not parent:
                continue
            fields = self.ask("diff-tree", "-r", "-z", "--no-renames", parent, commit).decode(
                "utf-8", "surrogateescape"
            )
            parts = fields.split("\0")[:-1]
            if not parts or len(parts) > 2 * FILES_MAX:
                continue
            message = self.ask("log", "-1", "--format=%B", commit).decode("utf-8", "replace")
            yield commit, parent, message, [self._changed(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]

    def before(self, commit: str) -> list[str]:
        return self.ask("log", "--no-merges", f"-{RECENT}", "--format=%H", commit).decode().split()

    @cache  # noqa: B019 - one history is read
    def changed(self, commit: str) -> dict[str, tuple[str, str]]:
        """Return the old and the new blob of each file of a commit."""
        fields = self.ask("diff-tree", "-r", "-z", "--no-renames", "--no-commit-id", commit)
        parts = fields.decode("utf-8", "surrogateescape").split("\0")[:-1]
        return {path: (raw.split()[2], raw.split()[3]) for raw, path in zip(parts[::2], parts[1::2], strict=True)}

    def _changed(self, raw: str, path: str) -> Changed:
        old_mode, new_mode, old, new, _ = raw.lstrip(":").split()
        return Changed(path, self.held(old_mode, old), self.held(new_mode, new), old_mode, new_mode)


class Paths(Collection[str]):
    """The paths of a commit, read if somebody asks for them."""

    def __init__(self, history: History, commit: str) -> None:
        self.history, self.commit = history, commit

    @cached_property
    def paths(self) -> frozenset[str]:
        listed = self.history.ask("ls-tree", "-r", "-z", "--name-only", self.commit)
        return frozenset(listed.decode("utf-8", "surrogateescape").split("\0")[:-1])

    def __contains__(self, path: object) -> bool:
        return path in self.paths

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)


def ground_of(history: History, parent: str, message: str, *, recent: bool) -> Ground:
    title, _, body = message.partition("\n")

    def holding(texts: tuple[str, ...]) -> tuple[str, ...]:
        asked = [part for text in texts for part in ("-e", text)]
        listed = history.ask("grep", "-zlIF", *asked, parent, "--").decode("utf-8", "surrogateescape")
        return tuple(name.removeprefix(f"{parent}:") for name in listed.split("\0")[:-1])

    def content(path: str) -> Held | None:
        listed = history.ask("ls-tree", "-z", parent, "--", path).decode("utf-8", "surrogateescape")
        mode, _, rest = listed.partition(" ")
        data = history.held(mode, rest.split(" ")[1].partition("\t")[0]) if rest else None
        return (mode, data) if data is not None else None

    def brought(path: str) -> list[Brought]:
        made = []
        for commit in history.before(parent) if recent else ():
            if (pair := history.changed(commit).get(path)) is not None:
                old, new = (history.read(oid) or b"" for oid in pair)
                made.append(Brought(commit[:8], old.decode("utf-8", "replace"), new.decode("utf-8", "replace")))
        return made

    return Ground(Issue(id="1", title=title, body=body), Paths(history, parent), holding, content, brought=brought)


def weight(found: tuple[Unasked, ...], files: list[Changed]) -> str:
    """Say what comes of what was found; what would leave nothing of a change is not put right."""
    right = together(found)
    left = any(_as_right(file, right) != (file.old_mode, file.old) for file in files)
    rest = [one for one in found if not (one.right and left) or one.then == LEFT_OUT]
    if not rest:
        return "righted"
    return "asked" if any(one.then == "ask" or (one.then == LEFT_OUT and not left) for one in rest) else "told"


def _as_right(file: Changed, right: dict[str, Right | None]) -> tuple[str, bytes | None]:
    to_be = right.get(file.path, ("", None))
    if to_be is None:
        return ABSENT, None
    return to_be[0] or file.new_mode, file.new if to_be[1] is None else to_be[1]


def main() -> None:
    """Print a line for each row and one for all of them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--newest", type=int, default=300)
    parser.add_argument("--row", default="")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    commits = 0
    seen = defaultdict[str, Counter[str]](Counter)
    for clone in options.clones:
        folder = clone / "repo" if (clone / "repo").is_dir() else clone
        history = History(folder)
        for commit, parent, message, files in history.commits(options.newest):
            commits += 1
            ground = ground_of(history, parent, message, recent=options.row in ("", "undone"))
            found = find_unasked(files, ground)
            found = tuple(one for one in found if options.row in ("", "all-but", one.row))
            for row in dict.fromkeys(one.row for one in found):
                seen[row][weight(tuple(one for one in found if one.row == row), files)] += 1
            if found:
                seen["(all)"][weight(found, files)] += 1
            for one in found if options.show else ():
                print(f"{clone.name} {commit[:12]} {message.partition(chr(10))[0][:60]!r}")
                print(f"    {one.row} {'righted ' if one.right else ''}{one.path}: {one.lines[:2]}")
        history.batch.kill()
    print(f"{commits} commits of {len(options.clones)} projects")
    print(f"{'row':24}{'righted':>9}{'told':>7}{'asked':>7}   told in 100, asked in 100")
    for row in (*table("unasked")["rows"], "(all)"):
        righted, told, asked = (seen[row][kind] for kind in ("righted", "told", "asked"))
        per = 100 / max(1, commits)
        print(f"{row:24}{righted:9}{told + asked:7}{asked:7}   {(told + asked) * per:.2f} {asked * per:.2f}")


if __name__ == "__main__":
    main()
