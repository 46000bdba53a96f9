"""The demonstration, for a seed that nobody tuned for: everything it promises to show really happens.

Its worker plays a script, but the run is an ordinary one: a whole backlog under noface's own loop and gates.
"""

import os
import subprocess
import sys

import pytest
from support.project import Project

from noface.demo.catalogue import BugClass, catalogue
from noface.demo.sample import build, commit
from noface.store.database import Database
from noface.store.reader import Reader

SEED = 777


class Demonstration:
    """What one demonstration left in its folder: an issue's row and its attempts by id, and by class of bug."""

    def __init__(self, folder):
        self.path = folder / "oddments"
        self.done = subprocess.run(
            [sys.executable, "-m", "noface", "tools", "demo", str(self.path), "--seed", str(SEED)],
            env={**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "COLUMNS": "80"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert self.done.returncode == 0, self.done.stdout + self.done.stderr
        database = Database.open(self.path / ".git" / "noface" / "state.db")
        reader = Reader(database)
        self.stories = {row.id: (row, reader.attempts(row.id)) for row in reader.issues()}
        database.close()

    @property
    def merged(self):
        return {name: story for name, story in self.stories.items() if story[0].status == "merged"}

    def ways(self, kind):
        """The attempts of each bug of a class: (model, outcome) of each."""
        titles = {bug.title for bug in catalogue() if bug.kind is kind}
        return [
            [(attempt.model, attempt.outcome) for attempt in attempts]
            for row, attempts in self.stories.values()
            if row.title in titles
        ]

    def git(self, *arguments):
        return subprocess.run(["git", *arguments], cwd=self.path, capture_output=True, text=True, check=True).stdout

    def logs(self):
        return [log.read_text() for log in (self.path / ".git/noface/attempts").glob("*/*/agent.log")]

    def pytest(self, *paths):
        command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths]
        return subprocess.run(command, cwd=self.path, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return Demonstration(tmp_path_factory.mktemp("demo"))


def test_two_of_its_bugs_are_worked_as_in_the_demonstration(tmp_path):
    directory = tmp_path / "oddments"
    issues = build(directory, SEED, sys.executable)
    kinds = {BugClass.ONE_EDIT.value: "", BugClass.FEEDBACK.value: ""}
    kinds |= {kind: number for number, _, kind in issues if kind in kinds}
    for file in (directory / "issues").iterdir():
        if file.name.partition("-")[0] not in kinds.values():
            file.unlink()
    commit(directory, "Only two of them")
    project = Project(directory, tmp_path)
    project.run()
    ways = [[(one["model"], one["outcome"]) for one in project.attempts(number)] for number in kinds.values()]
    assert ways == [[("tier1", "PASSED")], [("tier1", "TEST_FAILURE"), ("tier1", "PASSED")]]
    assert not list(project.state.glob("attempts/*/1/again"))  # the other's landing is nothing that it lacked
    log = (project.state / "attempts" / kinds[BugClass.ONE_EDIT.value] / "1" / "agent.log").read_text()
    assert log.startswith("scripted stand-in (no model)")
