"""The house has budgets: a room grows only if another shrinks in the same commit."""

import subprocess
import tomllib

import pytest
from conventions.budgets import BUDGETS, ROOT, above, count, rises


def test_no_figure_is_above_its_budget():
    assert above(count(), tomllib.loads(BUDGETS.read_text())) == []


def test_no_budget_rose_without_another_that_fell_in_the_same_commit():
    path, git = BUDGETS.relative_to(ROOT).as_posix(), ("git", "-C", str(ROOT))
    asked = (*git, "log", "--format=%H", "--", path)
    commits = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    stored = [
        subprocess.run((*git, "show", f"{commit}:{path}"), capture_output=True, text=True, check=True).stdout
        for commit in reversed(commits)
    ]
    assert rises([tomllib.loads(text) for text in (*stored, BUDGETS.read_text())]) == []


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"lines": {"a": 1}}, {"lines": {"a": 2}}, ["lines: 1 -> 2"]),
        ({"lines": {"a": 1, "b": 5}}, {"lines": {"a": 2, "b": 4}}, []),
        ({"lines": {"a": 5}}, {"lines": {"a": 2, "new": 3}}, []),
        ({"lines": {"a": 5}, "files": {"a": 1}}, {"lines": {"a": 4}, "files": {"a": 2}}, ["files: 1 -> 2"]),
        ({"whole": {"keys": 1, "verbs": 9}}, {"whole": {"keys": 2, "verbs": 8}}, ["keys: 1 -> 2"]),
    ],
)
def test_a_rise_is_paid_by_a_fall_of_the_same_kind(before, after, told):
    assert rises([before, after]) == told


def test_a_room_without_a_budget_is_above_it():
    assert above({"lines": {"new": 1}}, {"lines": {}}) == ["lines of new: 1 of at most 0"]
