"""`noface show --why`: the evidence chain of an attempt, from the lines that decided to what the next attempt was told."""

import re

import pytest
from support.cli_story import Story, red_test, write_issue

from noface.model.actions import Mode, RunWorker
from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind

ALSO = (("words.error", "error: 401", "pytest.assertion is stronger evidence (diagnostic over words)"),)
PROMPT = """\
# Your task: Login

## This attempt

Tests failed. Make them pass.

## The issue

Secret body

## What happened before

Your previous attempt failed with: TEST_FAILURE: assert 401 == 200.

The changes so far, against main:

```diff
+secret patch
```
"""


@pytest.fixture
def login(project):
    """One issue whose first attempt failed at a gate, and a second one under way that was told of it."""
    write_issue(project.path, "1-login", "Login")
    story = Story(project.path, project.git("rev-parse", "HEAD")).sync().run()
    red = red_test(also_matched=ALSO, excerpt="E       assert 401 == 200\nin test_login", questions=("Which status?",))
    story.attempt(
        "1", 1, red, action=RunWorker(Mode.FEEDBACK, "claude-sonnet", "attempt 1 of 2 failed; it is told why")
    )
    gates = story.directory("1", 1) / "gates"
    gates.mkdir()
    (gates / "unit.out").write_text("E  assert 401 == 200\n")
    story.start("1", 2)
    (story.directory("1", 2) / "prompt.md").write_text(PROMPT)
    yield story
    story.close()


LONG = f'/repo/src/login.py:7: error: {"Handler[Request, Response], " * 30}has no attribute "status"'


@pytest.mark.parametrize("verb", [("show", "1", "--why"), ("show", "1"), ("blocked", "1")])
def test_the_point_of_a_long_line_is_shown(project, verb):
    write_issue(project.path, "1-login", "Login")
    story = Story(project.path).sync().run()
    begins = "\n".join(f"line {number}" for number in range(70))
    story.attempt("1", 1, red_test(message="short", evidence=(LONG,), excerpt=f"{begins}\n{LONG}\nlast line"))
    story.block("1")
    story.close()
    page = project.noface(*verb, COLUMNS="80").stdout
    assert "│ /repo/src/login.py:7: error: Handler" in page
    assert 'has no attribute "status"' in page
    assert "--why" not in verb or "│ last line" in page


def test_the_json_holds_the_whole_chain(project, login):
    document = project.shown("show", "1", "--why")
    assert (document["schema"], document["id"], document["attempt"]) == (1, "1", 1)
    failure = document["failure"]
    assert (failure["kind"], failure["category"], failure["rule"]) == (
        "TEST_FAILURE",
        "correctable",
        "pytest.assertion",
    )
    assert (failure["gate"], failure["location"]) == ("unit", "tests/test_login.py:41")
    assert failure["failing_tests"] == ["tests/test_login.py::test_login"]
    assert failure["evidence"][-1] == "E       assert 401 == 200"
    assert failure["also_matched"] == [list(ALSO[0])]
    assert failure["questions"] == ["Which status?"]
    assert [path.rpartition("/")[2] for path in document["logs"]] == ["unit.out"]
    assert document["action"]["kind"] == "RetryWithFeedback"
    following = document["next"]
    assert (following["number"], following["prompt"].endswith("1/2/prompt.md")) == (2, True)
    assert "Make them pass." in following["told"]
    assert "failed with: TEST_FAILURE" in following["told"]
    assert "ecret" not in following["told"], "only what it was told about this attempt"


def test_the_newest_failure_is_meant_unless_an_attempt_is_named(project, night):
    assert project.shown("show", "002", "--why")["attempt"] == 3
    first = project.shown("show", "2", "1")
    assert (first["attempt"], first["failure"]["message"]) == (1, "assert 401 == 200")
    assert first["next"]["number"] == 2
    assert project.shown("show", "7", "--why")["attempt"] == 1, "the second is under way"


def test_an_attempt_that_passed_has_nothing_to_explain(project, night):
    assert project.shown("show", "1", "--why")["failure"] is None
    assert "every hard gate passed" in project.noface("show", "1", "--why").stdout
    assert "no verdict yet" in project.noface("show", "7", "2").stdout


def test_a_worker_s_own_failure_shows_its_log_and_when_it_ends(project):
    write_issue(project.path, "1-x", "X")
    story = Story(project.path).sync().run()
    limit = Failure(
        FailureKind.RATE_LIMITED, "usage limit", rule="claude-rate-limit", retry_at=1_795_490_120.0, charged=False
    )
    story.attempt("1", 1, limit, gates=(), charged=False)
    (story.directory("1", 1) / "agent.log").write_text("{}\n")
    page = project.noface("show", "1", "--why").stdout
    assert "not charged to the worker" in page
    assert re.search(r"retry at: \w+ 2026-11-2", page)
    assert "agent.log" in page
    story.close()
