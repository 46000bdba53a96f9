"""The demonstration, for a seed that nobody tuned for: everything it promises to show really happens.

Its worker plays a script, but the run is an ordinary one: a whole backlog under noface's own loop and gates.
"""

import os
import subprocess
import sys

import pytest
from support.cases import cases
from support.project import Project

from noface.demo.catalogue import BugClass, catalogue
from noface.demo.sample import build, commit
from noface.store.database import Database
from noface.store.reader import Reader

SEED = 777
TIERS_IN_VAIN = [("tier1", "NO_DIFF"), ("tier1", "NO_DIFF"), ("tier2", "NO_DIFF"), ("tier2", "NO_DIFF")]


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
        """What the worker said in each attempt."""
        return [log.read_text() for log in (self.path / ".git/noface/attempts").glob("*/*/agent.log")]

    def pytest(self, *paths):
        command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths]
        return subprocess.run(command, cwd=self.path, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return Demonstration(tmp_path_factory.mktemp("demo"))


def the_demonstration_shows_each_important_thing(demo):
    stories, merged = demo.stories, demo.merged
    assert len(stories) >= 8
    assert len(merged) >= len(stories) - 2
    assert any(len(attempts) == 1 for _, attempts in merged.values())
    assert any(len(a) > 1 and a[-1].tier == a[0].tier == 1 for _, a in merged.values())
    assert any(a[-1].tier == 2 for _, a in merged.values())
    assert any(row.depends_on for row, _ in merged.values())
    failures = [x.failure for _, attempts in stories.values() for x in attempts if x.failure]
    assert any(failure.gate == "tests" for failure in failures)
    blocked = [row for row, _ in stories.values() if row.status == "blocked"]
    assert blocked
    assert blocked[0].block.next_steps


def a_bug_of_one_edit_is_merged_at_the_first_attempt(demo):
    ways = demo.ways(BugClass.ONE_EDIT)
    assert len(ways) >= 3
    assert all(way == [("tier1", "PASSED")] for way in ways)


def a_dependent_bug_is_merged_once_the_other_one_is(demo):
    assert demo.ways(BugClass.DEPENDENT) == [[("tier1", "PASSED")]]


def a_patch_that_breaks_the_suite_is_caught_and_feedback_leads_to_the_right_one(demo):
    ways = demo.ways(BugClass.FEEDBACK)
    assert ways
    assert all(way == [("tier1", "TEST_FAILURE"), ("tier1", "PASSED")] for way in ways)


def the_second_tier_does_what_the_first_cannot(demo):
    ways = demo.ways(BugClass.SECOND_TIER)
    assert ways
    assert all(way == [*TIERS_IN_VAIN[:2], ("tier2", "PASSED")] for way in ways)


def what_is_out_of_reach_ends_without_a_change(demo):
    assert demo.ways(BugClass.OUT_OF_REACH) == [TIERS_IN_VAIN]


def the_worker_begins_with_what_it_is_and_says_where_it_changed_nothing(demo):
    logs = demo.logs()
    assert len(logs) == sum(len(attempts) for _, attempts in demo.stories.values())
    assert all(log.startswith("scripted stand-in (no model)") for log in logs)
    in_vain = sum(attempt.outcome == "NO_DIFF" for _, attempts in demo.stories.values() for attempt in attempts)
    assert sum("no change made" in log.splitlines()[-1] for log in logs) == in_vain


def in_the_end_main_is_green_and_only_the_library_has_changed(demo):
    green = demo.pytest("tests")
    assert green.returncode == 0, green.stdout
    passed = demo.pytest(*(f"acceptance/test_{name}.py" for name in demo.merged))
    assert passed.returncode == 0, passed.stdout
    opened = demo.git("log", "--format=%H", "--grep=Open the backlog").strip()
    changed = demo.git("diff", "--name-only", opened, "main").split()
    assert changed
    assert all(path.startswith("oddments/") for path in changed)
    assert demo.git("status", "--porcelain") == ""


PROMISES = [
    the_demonstration_shows_each_important_thing,
    a_bug_of_one_edit_is_merged_at_the_first_attempt,
    a_dependent_bug_is_merged_once_the_other_one_is,
    a_patch_that_breaks_the_suite_is_caught_and_feedback_leads_to_the_right_one,
    the_second_tier_does_what_the_first_cannot,
    what_is_out_of_reach_ends_without_a_change,
    the_worker_begins_with_what_it_is_and_says_where_it_changed_nothing,
    in_the_end_main_is_green_and_only_the_library_has_changed,
]


@pytest.mark.thorough
@pytest.mark.timeout(600)
@cases("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_the_demonstration_keeps_its_promises(demo, promise):
    """One test, because the workers of xdist would each make the demonstration for tests of their own."""
    promise(demo)


def test_two_of_its_bugs_are_worked_as_in_the_demonstration(tmp_path):
    sample = build(tmp_path / "oddments", SEED, sys.executable)
    kinds = {BugClass.ONE_EDIT.value: "", BugClass.FEEDBACK.value: ""}
    kinds |= {kind: number for number, _, kind in sample.issues if kind in kinds}
    for file in (sample.directory / "issues").iterdir():
        if file.name.partition("-")[0] not in kinds.values():
            file.unlink()
    commit(sample.directory, "Only two of them")
    project = Project(sample.directory, tmp_path)
    project.run()
    ways = [[(one["model"], one["outcome"]) for one in project.attempts(number)] for number in kinds.values()]
    assert ways == [[("tier1", "PASSED")], [("tier1", "TEST_FAILURE"), ("tier1", "PASSED")]]
    log = (project.state / "attempts" / kinds[BugClass.ONE_EDIT.value] / "1" / "agent.log").read_text()
    assert log.startswith("scripted stand-in (no model)")


def test_a_folder_that_is_not_empty_is_refused(project):
    done = project.noface("tools", "demo", str(project.path))
    assert done.returncode == 2
    assert "not empty" in done.stderr
