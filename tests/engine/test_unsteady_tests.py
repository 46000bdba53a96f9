"""Tests that fail now and then: they cost no attempt and keep nothing out, and no change can buy a green by them."""

import json
import sys

import pytest
from support.project import PYTEST

STEADY = "def test_steady():\n    assert 1 == 1\n"
COUNTED = """
from pathlib import Path

def test_{name}():
    counter = Path({counter!r})
    counter.write_text(counter.read_text() + "x" if counter.exists() else "x")
    assert {when}
"""
ONE_IN_THREE = "len(counter.read_text()) % 3"


def gate(name, command, **keys):
    keys = {"canary": False, **keys}
    lines = [f"name = {json.dumps(name)}", f"command = {json.dumps(command)}"]
    return (
        "\n[[gates]]\n" + "\n".join([*lines, *(f"{key} = {json.dumps(value)}" for key, value in keys.items())]) + "\n"
    )


@pytest.fixture
def shop(project):
    """A project with a gate of pytest, which counts its runs, and an issue that is done with one file."""

    def make(when="True", command=PYTEST, **keys):
        project.write("count.py", f"open({str(project.folder / 'runs')!r}, 'a').write('x\\n')\n")
        project.write(".gitignore", "__pycache__/\n.pytest_cache/\n")
        project.write("tests/test_steady.py", STEADY)
        counted = COUNTED.format(name="moody", counter=str(project.folder / "counter"), when=when)
        project.write("tests/test_moody.py", counted)
        project.config(extra=gate("unit", f"{sys.executable} count.py && {command}", **keys))
        project.issue(7, max_attempts=1)
        project.commit()
        return project

    return make


def runs(project):
    return len((project.folder / "runs").read_text().splitlines())


def counted(project, number):
    """Let the moody test count from `number` on."""
    (project.folder / "counter").write_text("x" * number)


def test_a_test_that_fails_one_time_in_three_costs_nothing_is_remembered_and_then_counts_for_nobody(shop):
    project = shop(ONE_IN_THREE)
    counted(project, 1)  # main's run at the start is the second, the work's the third
    out = project.run()
    assert project.statuses() == {"7": "merged"}
    (attempt,) = project.attempts("7")
    (unit,) = [each for each in attempt["gates"] if each["name"] == "unit"]
    assert (unit["passed"], unit["flaky"], unit["unsteady"]) == (True, True, ["tests/test_moody.py::test_moody"])
    assert "1 unsteady test on main, which counts for nobody: tests/test_moody.py::test_moody" in out
    assert "gate unit passed but for tests/test_moody.py::test_moody" in " ".join(attempt["notes"])
    assert "unit passed but for 1 unsteady test" in project.noface("show", "7").stdout
    (known,) = project.shown("status")["unsteady"]
    assert (known["gate"], known["test"], known["failed"]) == ("unit", "tests/test_moody.py::test_moody", 1)
    assert "1 unsteady test on main" in project.noface("status").stdout

    project.write("tests/test_moody.py", (project.path / "tests/test_moody.py").read_text().replace("% 3", "< 0"))
    project.commit()  # from now on it fails each time, and is known as unsteady
    project.issue(8, max_attempts=1)
    project.play(("8", 0, [{"write": "c.txt", "text": "c"}]))
    before = runs(project)
    project.run()
    assert project.statuses()["8"] == "merged"
    assert runs(project) - before == 2  # main's at the start, and the work's: nothing runs again


@pytest.mark.thorough
def test_a_change_that_makes_a_test_fail_now_and_then_is_charged_with_what_main_showed(shop):
    """The test is main's and untouched; with the change it fails on every other run, on main never."""
    project = shop("True")
    seen = project.folder / "seen"
    project.write("shop.py", "def ready():\n    return True\n")
    project.write("tests/test_shop.py", "import shop\n\ndef test_ready():\n    assert shop.ready()\n")
    project.commit()
    breaks = f"from pathlib import Path\n\ndef ready():\n    p = Path({str(seen)!r})\n    gone = p.exists()\n    p.touch()\n    return gone\n"
    project.play(("7", 0, [{"write": "shop.py", "text": breaks}]))
    project.run(code=3)
    (attempt,) = project.attempts("7")
    assert (attempt["outcome"], attempt["charged"]) == ("TEST_FAILURE", True)
    assert attempt["failure"]["rule"] == "unsteady-by-change"
    assert "on main it passed 9 times of 9" in attempt["failure"]["message"]
    assert attempt["failure"]["failing_tests"] == ["tests/test_shop.py::test_ready"]
    assert project.shown("status")["unsteady"] == []


@pytest.mark.parametrize(("words", "status"), [("chance", "merged"), ("coverage was not reached", "blocked")])
def test_a_test_that_fails_twice_by_chance_is_looked_for_on_main_unless_coverage_is_short(shop, words, status):
    project = shop(f"len(counter.read_text()) not in (2, 3, 4), {words!r}")
    project.noface("run")
    assert project.statuses() == {"7": status}


def test_a_main_that_fails_twice_by_chance_at_the_start_keeps_naming_its_tests(shop):
    project = shop("len(counter.read_text()) > 2")
    project.write("shop.py", "def value():\n    return 1\n")
    project.write("tests/test_shop.py", "import shop\n\ndef test_value():\n    assert shop.value() == 1\n")
    project.commit()
    skips = "import unittest\n\ndef value():\n    raise unittest.SkipTest('later')\n"
    project.play(("7", 0, [{"write": "shop.py", "text": skips}]))
    project.run(code=3)
    (attempt,) = project.attempts("7")
    assert attempt["outcome"] == "GATE_TAMPERING"


@pytest.mark.thorough
def test_an_unsteady_test_that_the_change_adds_or_touches_is_the_change_s_own(shop):
    project = shop("True")
    mine = COUNTED.format(name="mine", counter=str(project.folder / "mine"), when="len(counter.read_text()) > 1")
    project.play(("7", 0, [{"write": "tests/test_mine.py", "text": mine}]))
    project.run(code=3)
    (attempt,) = project.attempts("7")
    assert (attempt["outcome"], attempt["charged"]) == ("TEST_FAILURE", True)
    assert "a test that the change adds or touches must pass each time" in attempt["failure"]["message"]
