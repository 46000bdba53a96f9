"""Projects, their commits, and what a commit's message says as an issue. Reads git histories, and changes none."""

import csv
import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

LINES_MAX = 400
_SPLIT = "\x1e"
_TRAILER = re.compile(
    r"^(signed-off-by|co-authored-by|reviewed-by|acked-by|change-id|cherry picked)\b.*$", re.IGNORECASE | re.MULTILINE
)
_COMMIT_ID = re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b")
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Project:
    """A project of projects.toml: where it is, how its tests run, and which files are tests."""

    name: str
    repository: str
    gate: str = "python -m pytest -q -p no:cacheprovider --disable-plugin-autoload"
    tests: tuple[str, ...] = ("tests/*", "test/*", "*/tests/*", "*/test/*", "test_*.py", "*/test_*.py", "*conftest.py")
    leave_out: tuple[str, ...] = ()

    def is_test(self, path: str) -> bool:
        return any(fnmatch(path, pattern) for pattern in self.tests)

    @property
    def command(self) -> str:
        """The gate, without the tests that fail here for reasons of this machine; noface asks for their names by PYTHONPATH."""
        out = "".join(f" --deselect '{test}'" for test in self.leave_out)
        return f"PYTHONPATH=src:.:$PYTHONPATH {self.gate}{out}"

    def git_dir(self, histories: Path) -> Path | None:
        """Return the git dir of this project below a folder of clones, bare or not, under one of the usual names."""
        owner, _, name = self.repository.partition("/")
        for folder in (f"{owner}+{name}/repo", f"{owner}+{name}", f"{owner}/{name}", name, f"{name}.git"):
            for found in (histories / folder / ".git", histories / folder):
                if (found / "objects").is_dir():
                    return found
        return None


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that was tried: what its own tests and main's tests say of it.

    `state` is "green", or why it is no honest green commit here; `contradicts` counts main's tests that pass on main
    and fail on the commit's product, `gone` main's tests that the commit has no more, `skipped` those that it skips.
    """

    project: str
    commit: str
    state: str
    lines: int
    contradicts: int = 0
    gone: int = 0
    skipped: int = 0

    @property
    def in_question(self) -> bool:
        """True where the change of tests is more than an addition."""
        return self.contradicts + self.gone + self.skipped > 0


@dataclass(frozen=True, slots=True)
class Result:
    """What noface made of a commit in a mode of the judge."""

    project: str
    commit: str
    mode: str
    verdict: str
    kind: str
    rule: str
    seconds: int


class Change(NamedTuple):
    """A path that a commit touches; `status` is git's letter."""

    status: str
    path: str


def projects(path: Path) -> list[Project]:
    entries: list[dict[str, Any]] = tomllib.loads(path.read_text())["project"]
    return [Project(**{k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()}) for entry in entries]


def git(git_dir: Path, *args: str) -> str:
    command = ["git", "--git-dir", str(git_dir), *args]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=True).stdout


def candidates(git_dir: Path, project: Project) -> Iterator[tuple[str, int]]:
    """Yield the commits that touch product and tests, newest first, with how many lines each changes."""
    log = git(git_dir, "log", "--no-merges", "--no-renames", f"--format={_SPLIT}%H %P", "--numstat", "HEAD")
    for entry in log.split(_SPLIT)[1:]:
        head, *rows = entry.strip().splitlines()
        commit, *parents = head.split()
        changed = [row.split("\t") for row in rows if row.count("\t") == 2]
        lines = sum(int(number) for row in changed for number in row[:2] if number.isdigit())
        code = [path for *_, path in changed if path.endswith(".py") and path != "setup.py" and "docs/" not in path]
        both = {project.is_test(path) for path in code} == {True, False}
        if len(parents) == 1 and both and lines <= LINES_MAX:
            yield commit, lines


def changes(git_dir: Path, commit: str) -> list[Change]:
    told = git(git_dir, "diff", "--no-renames", "--name-status", "-z", f"{commit}^", commit).split("\0")
    return [Change(status, path) for status, path in zip(told[::2], told[1::2], strict=False)]


def issue_of(message: str) -> tuple[str, str]:
    """Return title and text of an issue that says what a commit's message says; it names no commit."""
    text = _COMMIT_ID.sub("", _TRAILER.sub("", message)).strip()
    title, _, body = text.partition("\n")
    return title.strip(" #") or "A change", body.strip()


def read(path: Path, kind: type[_Row]) -> list[_Row]:
    """Return the rows of a table; none where it is not there yet."""
    if not path.exists():
        return []
    types = {f.name: f.type for f in fields(kind)}  # type: ignore[arg-type]
    with path.open(newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return [kind(**{k: int(v) if types[k] is int else v for k, v in row.items()}) for row in rows]


def add(path: Path, row: Any) -> None:
    """Add a row to a table, so that a later run goes on from there."""
    values = asdict(row)
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, values, delimiter="\t", lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(values)


def counted(words: Iterable[str]) -> dict[str, int]:
    """Return how often each word comes, the most frequent first."""
    every = list(words)
    return {word: every.count(word) for word in sorted(set(every), key=lambda word: (-every.count(word), word))}
