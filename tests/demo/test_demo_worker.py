"""The demonstration's scripted worker: what it plays depends on what noface gives it, and on nothing else."""

import json
import os
import subprocess
import sys

import pytest

from noface.demo.catalogue import BugClass, catalogue
from noface.demo.worker import edit_for, play


def bug_of(kind):
    return next(bug for bug in catalogue() if bug.kind is kind)


def order_of(title, *failing_tests):
    return {
        "issue": {"id": "7", "title": title},
        "earlier": [{"failing_tests": list(names)} for names in failing_tests],
    }


@pytest.fixture
def checkout(tmp_path):
    def make(bug):
        path = tmp_path / bug.path
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# before\n{bug.wrong}\n# after\n")
        return path

    return make


def test_the_script_of_each_class():
    for bug in catalogue():
        edits = [edit_for(bug, tier, informed=informed) for tier, informed in ((1, False), (1, True), (2, False))]
        assert (
            edits
            == {
                BugClass.ONE_EDIT: [bug.right] * 3,
                BugClass.DEPENDENT: [bug.right] * 3,
                BugClass.FEEDBACK: [bug.first, bug.right, bug.first],
                BugClass.SECOND_TIER: [None, None, bug.right],
                BugClass.OUT_OF_REACH: [None] * 3,
            }[bug.kind]
        )


def test_the_edit_of_an_earlier_attempt_makes_way_for_the_better_one(tmp_path, checkout):
    bug = bug_of(BugClass.FEEDBACK)
    path = checkout(bug)
    assert play(order_of(bug.title), 1, tmp_path) == f"edited {bug.path}"
    assert path.read_text() == f"# before\n{bug.first}\n# after\n"
    assert play(order_of(bug.title, ["tests/test_dates.py::test_x"]), 1, tmp_path) == f"edited {bug.path}"
    assert path.read_text() == f"# before\n{bug.right}\n# after\n"


def test_an_attempt_that_is_not_told_what_broke_changes_nothing_more(tmp_path, checkout):
    bug = bug_of(BugClass.FEEDBACK)
    checkout(bug)
    play(order_of(bug.title), 1, tmp_path)
    assert "no change made" in play(order_of(bug.title, []), 1, tmp_path)


def test_what_the_script_does_not_have_is_said(tmp_path, checkout):
    assert "no change made" in play(order_of(bug_of(BugClass.OUT_OF_REACH).title), 2, tmp_path)
    assert "has no issue 'Make coffee'" in play(order_of("Make coffee"), 2, tmp_path)


def test_an_order_that_noface_did_not_write_is_refused(tmp_path):
    order = tmp_path / "order.json"
    for text in ("{}", "[]", "no JSON", json.dumps(order_of(bug_of(BugClass.ONE_EDIT).title))):
        order.write_text(text)
        done = subprocess.run(
            [sys.executable, "-m", "noface.demo.worker"],
            cwd=tmp_path,
            env={**os.environ, "NOFACE_ORDER_FILE": str(order)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert "not an order" in done.stderr
