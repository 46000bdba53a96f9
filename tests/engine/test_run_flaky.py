"""A gate that fails now and then, and a main that is red already: told from outside, with real gates."""

import json
import sqlite3

import pytest
from support.project import PYTEST

from noface.gates.run import comparable

# Fails the first time on each tree in which b.txt stands, passes the second time; elsewhere it is green.
ONCE_RED = (
    "test ! -e b.txt || {{ mkdir -p {folder}; f={folder}/$(cat b.txt); echo x >> $f; test $(wc -l < $f) -ge {times}; }}"
)


def gate(name, command, **keys):
    lines = [f"name = {json.dumps(name)}", f"command = {json.dumps(command)}"]
    return (
        "\n[[gates]]\n" + "\n".join([*lines, *(f"{key} = {json.dumps(value)}" for key, value in keys.items())]) + "\n"
    )


@pytest.fixture
def unsteady(project):
    """A project whose gate `unit` is red on its first run for each content of b.txt."""

    def make(times=2, retries=1, extra=""):
        command = ONCE_RED.format(folder=project.folder / "seen", times=times)
        project.config(extra=gate("unit", command, retries=retries) + extra)
        project.issue(7, max_attempts=1)
        project.commit()
        return project

    return make


def events(project, kind):
    done = sqlite3.connect(project.state / "state.db").execute(
        "SELECT issue_id, data FROM events WHERE kind = ? ORDER BY id", (kind,)
    )
    return [(issue, json.loads(data)) for issue, data in done]


def test_a_gate_that_passes_when_run_again_lets_the_change_land_and_is_shown_as_flaky(unsteady):
    project = unsteady()
    out = project.run()
    assert project.statuses() == {"7": "merged"}
    (attempt,) = project.attempts("7")
    assert [(g["name"], g["passed"], g["flaky"]) for g in attempt["gates"]] == [
        ("check", True, False),
        ("unit", True, True),
    ]
    assert any(note.startswith("gate unit is flaky: it failed (") for note in attempt["notes"])
    assert "gate unit is flaky" in out
    assert "unit passed when run again: flaky" in project.noface("show", "7").stdout


def test_a_gate_that_fails_each_time_is_red_after_its_retries(unsteady):
    project = unsteady(times=4, retries=2)
    project.run(code=3)
    assert project.statuses() == {"7": "blocked"}
    (seen,) = (project.folder / "seen").iterdir()
    assert seen.read_text() == "x\n" * 3
    assert events(project, "gate_flaky") == []


def test_what_a_failed_run_left_behind_does_not_let_the_next_one_pass(project):
    golden = "test ! -e b.txt || cmp b.txt golden 2> /dev/null || { cp b.txt golden; false; }"
    project.config(extra=gate("golden", golden, retries=3))
    project.issue(7, max_attempts=1)
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"7": "blocked"}


def test_a_flaky_main_is_told_and_is_no_red_baseline(project):
    seen = project.folder / "seen"
    project.config(extra=gate("unit", f"echo x >> {seen}; test $(wc -l < {seen}) -ge 2", retries=1))
    project.issue(7)
    project.commit()
    out = project.run()
    assert "main: gate unit is flaky" in out
    ((issue, data),) = events(project, "gate_flaky")
    assert (issue, data["number"]) == (None, 0)


def test_an_environment_that_only_the_change_breaks_is_the_change_s(project):
    project.config(extra=gate("unit", "if test -e b.txt; then a-tool-of-nobody; fi", retries=1))
    project.issue(7, max_attempts=1)
    project.commit()
    project.run(code=3)
    (attempt,) = project.attempts("7")
    assert (attempt["outcome"], attempt["charged"]) == ("ENVIRONMENT", True)


TESTS = "def test_one():\n    assert 1 == 1\n\n\ndef test_two():\n    assert {two}\n"


@pytest.fixture
def red_main(project):
    """A project whose main fails test_two, under the baseline "only-new"."""

    def make(command, play, report="", **issue):
        project.write("test_x.py", TESTS.format(two="1 == 2"))
        project.write(".gitignore", "__pycache__/\n.pytest_cache/\nreport.xml\n")
        extra = gate("unit", command, **({"report": report} if report else {}))
        project.config(extra=extra)
        text = (project.path / "noface.toml").read_text()
        project.write("noface.toml", text.replace("[run]\n", '[run]\nbaseline = "only-new"\n'))
        project.play(("*", 0, play))
        project.issue(7, max_attempts=1, **issue)
        project.commit()
        return project

    return make


NEW_RED = [{"write": "test_y.py", "text": "def test_new():\n    assert 3 == 4\n"}]


def test_of_a_red_main_only_a_new_failure_counts(red_main):
    project = red_main(PYTEST, NEW_RED)
    project.play(("7", 0, NEW_RED), ("8", 0, [{"write": "b.txt", "text": "b"}]))
    project.issue(8)
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"7": "blocked", "8": "merged"}
    (attempt,) = project.attempts("7")
    assert attempt["outcome"] == "TEST_FAILURE"
    assert any("test_new" in test for test in attempt["failure"]["failing_tests"])


@pytest.mark.parametrize(
    ("log", "report"),
    [
        ("pkg/test_x.py::test_two", "pkg.test_x.test_two"),
        ("test_x.py::TestA::test_two[a/b::c]", "test_x.TestA.test_two[a/b::c]"),
        ("test_two (test_x.TestA)", "test_x.TestA.test_two"),
        ("test_two (test_x.TestA.test_two)", "test_x.TestA.test_two"),
        ("adds numbers", "adds numbers"),
    ],
)
def test_a_test_has_one_name_in_logs_and_reports(log, report):
    assert comparable(log) == comparable(report)


def test_other_tests_keep_other_names():
    names = ("test_x.py::test_one", "test_x.py::test_two", "test_y.py::test_one", "test_x.py::T::test_one")
    assert len({comparable(name) for name in names}) == len(names)


@pytest.mark.thorough
def test_a_gate_without_readable_test_names_must_be_green_on_main(red_main):
    project = red_main("exit 1", [{"write": "b.txt", "text": "b"}])
    assert "BASELINE_RED" in project.run(code=3)
    assert project.noface("status", "--json").returncode == 0
    assert events(project, "attempt_finished") == []
