"""Whether main's tests contradict a commit, found with plain git and the tests that the commit touches; no noface."""

import os
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path

from histories.history import Commit, Project, changes

_LIMIT_S = 180
_PASSED, _FAILED, _SKIPPED = "passed", "failed", "skipped"
_NO_TESTS = 5


def environment(python: Path, home: Path) -> dict[str, str]:
    """Return the environment in which a project's tests run: those of `python`, a home of its own, no bytecode."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "NOFACE_", "PYTEST_", "PYTHON"))}
    more = {"HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1", "TZ": "UTC", "NO_COLOR": "1"}
    return {**kept, **more, "PATH": f"{python}{os.pathsep}{kept.get('PATH', os.defpath)}"}


class Scratch:
    """A checkout of one project, in which commits are tried."""

    def __init__(self, project: Project, git_dir: Path, folder: Path, python: Path) -> None:
        self.project, self.git_dir, self.folder = project, git_dir, folder
        self.env = environment(python, folder.parent)
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            self._git("clone", "-q", "--shared", "--no-checkout", str(git_dir), str(folder), where=folder.parent)

    def tried(self, commit: str, lines: int) -> Commit:
        """Return what main's tests and the commit's own say of a commit."""

        def row(state: str, contradicts: int = 0, gone: int = 0, skipped: int = 0) -> Commit:
            return Commit(self.project.name, commit, state, lines, contradicts, gone, skipped)

        touched = [change for change in changes(self.git_dir, commit) if self.project.is_test(change.path)]
        old = [change.path for change in touched if change.status != "A"]
        new = [change.path for change in touched if change.status != "D"]
        self._checkout(f"{commit}^")
        green, main = self._run(old) if old else (True, {})
        if not green:
            return row("main is red")
        self._checkout(commit)
        green, own = self._run(new)
        if not green:
            return row("its tests are red")
        for path in (change.path for change in touched if change.status == "A"):
            (self.folder / path).unlink()
        if old:
            self._git("checkout", "-q", f"{commit}^", "--", *old)
        agrees, theirs = self._run(old) if old else (True, {})
        # A name that comes and goes while all is green (it holds the time, say) tells nothing.
        passed = [test for test, how in main.items() if how == _PASSED and (test in theirs or not agrees)]
        against = [] if agrees else [test for test in passed if theirs.get(test) != _PASSED]
        gone = [test for test in passed if test not in own]
        skipped = [test for test in passed if own.get(test) == _SKIPPED]
        return row("green", len(against), len(gone), len(skipped))

    def _run(self, touched: Iterable[str]) -> tuple[bool, dict[str, str]]:
        """Run the tests of these files (all, where a helper or data are touched); return if green, and how each ended."""
        there = [path for path in touched if (self.folder / path).exists()]
        plain = all(path.endswith(".py") and self._holds_tests(path) for path in there)
        report = self.folder.with_suffix(".xml")
        report.unlink(missing_ok=True)
        command = f"{self.project.command} --junitxml={report} " + (" ".join(there) if plain else "")
        try:
            done = subprocess.run(
                ["bash", "-c", f"ulimit -v 8000000; exec env {command}"], cwd=self.folder, env=self.env,
                capture_output=True, timeout=_LIMIT_S, check=False, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return False, {}
        green = done.returncode == 0 or (done.returncode == _NO_TESTS and not there)
        return green, _outcomes(report) if report.exists() else {}

    def _holds_tests(self, path: str) -> bool:
        helper = path.endswith(("conftest.py", "__init__.py"))
        return not helper and "def test" in (self.folder / path).read_text(errors="replace")

    def _checkout(self, commit: str) -> None:
        self._git("checkout", "-q", "-f", "--detach", commit)
        self._git("clean", "-qfdx")

    def _git(self, *args: str, where: Path | None = None) -> None:
        subprocess.run(["git", *args], cwd=where or self.folder, env=self.env, check=True, capture_output=True)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _outcomes(report: Path) -> dict[str, str]:
    """Return how each test of a report ended; a name that comes more than once ended as its worst."""
    worst = (_FAILED, _SKIPPED, _PASSED)
    ended: dict[str, str] = {}
    for case in ET.parse(report).iter("testcase"):
        tags = {child.tag for child in case}
        how = _FAILED if tags & {"failure", "error"} else _SKIPPED if "skipped" in tags else _PASSED
        name = f"{case.get('classname')}::{case.get('name')}"
        ended[name] = min(how, ended.get(name, how), key=worst.index)
    return ended
