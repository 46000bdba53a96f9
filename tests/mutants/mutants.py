"""Changes one condition of noface at a time, and runs the tests that are to notice: `python tests/mutants/mutants.py [WORD]...`

mutants.toml is the table. Each mutant is tried in a process of its own, which loads the module with the change in place
of the file's text; no file is touched. A mutant is caught if a test fails. Only tests that `make test` runs count, so
that the table shows that none of what decides has lost its test. The tests must pass without any change first. A word
chooses the mutants with it in their file, text or tests. `--jobs N` runs N at a time.
"""

import argparse
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLE = HERE / "mutants.toml"
PASSED, FAILED = 0, 1
IMPORTED_BY_MOST = ("git", "jsonschema", "pydantic", "pytest", "regex", "rich.console", "typer.testing", "yaml")


@dataclass(frozen=True, slots=True)
class Mutant:
    """`text` stands once in one of noface's files of the name `file`; with `to` in its place a test of `tests` fails."""

    file: str
    text: str
    to: str
    tests: tuple[str, ...]

    def places(self) -> tuple[Path, ...]:
        """Return the files with the text, each as often as it holds it."""
        found = (
            (path, path.read_text("utf-8").count(self.text)) for path in sorted((ROOT / "noface").rglob(self.file))
        )
        return tuple(path for path, times in found for _ in range(times))

    def changed(self) -> tuple[Path, str]:
        """Return the file, and its text with the change; ValueError if it is not clear where that is."""
        match self.places():
            case (path,):
                return path, path.read_text("utf-8").replace(self.text, self.to)
            case places:
                raise ValueError(f"{self.text!r} stands {len(places)} times in noface's {self.file}, not once")

    def __str__(self) -> str:
        return f"{self.file}: {' '.join(self.text.split())}  →  {' '.join(self.to.split())}"


def mutants() -> tuple[Mutant, ...]:
    """Return the table: for each file of noface its changes, for each of those the tests that notice."""
    table = tomllib.loads(TABLE.read_text("utf-8"))
    return tuple(Mutant(**{**row, "tests": tuple(row["tests"].split())}) for row in table["mutant"])


class _Change(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Loads one module of noface with another text than its file has."""

    def __init__(self, path: Path, text: str) -> None:
        parts = path.relative_to(ROOT).with_suffix("").parts
        super().__init__(".".join(parts[:-1] if parts[-1] == "__init__" else parts), str(path))
        self._text = text

    def find_spec(self, fullname: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.path, loader=self)

    def get_code(self, _fullname: str) -> CodeType:
        return self.source_to_code(self._text.encode(), self.path)


def begin(tests: tuple[str, ...], mutant: Mutant | None) -> int:
    """Run tests in a fork of this process, which has imported nothing of noface; the process."""
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        import pytest

        if mutant is not None:
            sys.meta_path.insert(0, _Change(*mutant.changed()))
        output = tempfile.TemporaryFile()  # noqa: SIM115 - it stays open until the process ends
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        options = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
        code = pytest.main([*options, "-W", "ignore::pytest.PytestAssertRewriteWarning", *tests])
    finally:
        os._exit(code)


def codes(jobs: list[tuple[tuple[str, ...], Mutant | None]], most: int) -> list[int]:
    """Run up to `most` of these at a time; the exit code of each. A signal's number is negative."""
    ended: dict[int, int] = {}
    running: dict[int, int] = {}
    for number, (tests, mutant) in enumerate(jobs):
        if len(running) == most:
            _wait(running, ended)
        running[begin(tests, mutant)] = number
    while running:
        _wait(running, ended)
    return [ended[number] for number in range(len(jobs))]


def _wait(running: dict[int, int], ended: dict[int, int]) -> None:
    pid, status = os.wait()
    ended[running.pop(pid)] = os.waitstatus_to_exitcode(status)


def main() -> int:
    """Try the chosen mutants; 1 if one was not noticed, or the table no longer fits."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 3))
    parser.add_argument("words", nargs="*", metavar="WORD")
    given = parser.parse_args()
    chosen = [one for one in mutants() if not given.words or any(word in f"{one} {one.tests}" for word in given.words)]
    os.chdir(ROOT)
    for name in IMPORTED_BY_MOST:
        importlib.import_module(name)
    began = time.monotonic()
    unfit = [one for one in chosen if len(one.places()) != 1]
    for one in unfit:
        print(f"{one.file}: {one.text!r} stands there {len(one.places())} times, not once")
    chosen = [one for one in chosen if one not in unfit]
    files = sorted({tests for one in chosen for tests in one.tests})
    healthy = dict(zip(files, codes([((file,), None) for file in files], given.jobs), strict=True))
    for file, code in healthy.items():
        if code != PASSED:
            print(f"{file} does not pass without any change (pytest's exit code {code})")
    results = codes([(one.tests, one) for one in chosen], given.jobs)
    missed = [one for one, code in zip(chosen, results, strict=True) if code != FAILED]
    for one, code in zip(chosen, results, strict=True):
        if code != FAILED:
            print(f"{'not caught' if code == PASSED else f'exit code {code}'} by {' '.join(one.tests)}: {one}")
    print(f"{len(chosen) - len(missed)} of {len(chosen)} mutants are caught ({time.monotonic() - began:.0f} seconds).")
    return int(bool(missed or unfit or any(healthy.values())))


if __name__ == "__main__":
    sys.exit(main())
