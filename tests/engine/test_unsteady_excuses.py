"""What unsteadiness must not excuse: failures that show in the whole run only, and what runs beside unsteady tests."""

import json

import pytest
from support.project import PYTEST

COUNTED = """
from pathlib import Path

def test_moody():
    counter = Path({counter!r})
    counter.write_text(counter.read_text() + "x" if counter.exists() else "x")
    assert {when}
"""
SHOP = "def value():\n    return 1\n"
MOODY = "tests/test_moody.py::test_moody"


@pytest.fixture
def shop(project):
    """A project with a gate of pytest, a moody test, and an issue that is done by changing shop.py."""

    def make(when="len(counter.read_text()) % 3", command=PYTEST, counted=0, work=None, **files):
        entry = {"name": "unit", "command": command, "canary": False}
        lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in entry.items())
        project.config(extra=f"\n[[gates]]\n{lines}")
        project.write(".gitignore", "__pycache__/\n.pytest_cache/\n")
        project.write("shop.py", SHOP)
        project.write("tests/test_moody.py", COUNTED.format(counter=str(project.folder / "counter"), when=when))
        for name, text in files.items():
            project.write(f"{name.replace('__', '/')}.py", text)
        project.issue(7, max_attempts=1)
        project.commit()
        (project.folder / "counter").write_text("x" * counted)
        project.play(("7", 0, [{"write": "shop.py", "text": work or "def value():\n    return 2\n"}]))
        return project

    return make


def unsteady(project):
    return [each["test"] for each in project.shown("status")["unsteady"]]


def refused(project):
    """Return the one attempt at issue 7, which did not land and was charged."""
    project.run(code=3)
    (attempt,) = project.attempts("7")
    assert (project.statuses()["7"], attempt["outcome"], attempt["charged"]) == ("blocked", "TEST_FAILURE", True)
    return attempt


@pytest.mark.thorough
def test_a_test_that_fails_alone_on_main_excuses_no_failure_in_the_whole_run(shop):
    """It needs the test before it; so when it runs alone, it fails on main as well, each time."""
    needs = "import shop\nseen = []\n\ndef test_first():\n    seen.append(1)\n\n"
    project = shop(
        "True", tests__test_order=f"{needs}def test_second():\n    assert seen\n    assert shop.value() == 1\n"
    )
    attempt = refused(project)
    assert "tests/test_order.py::test_second" in attempt["failure"]["failing_tests"]
    assert unsteady(project) == []


@pytest.mark.thorough
def test_a_main_whose_test_fails_in_the_whole_run_and_passes_alone_is_red(shop):
    spoils = "import shop\n\ndef test_first():\n    shop.spoiled = True\n\n"
    second = "def test_second():\n    assert not hasattr(shop, 'spoiled')\n"
    project = shop("True", tests__test_order=f"{spoils}{second}")
    out = project.run(code=3)
    assert "tests/test_order.py::test_second" in out
    assert project.statuses()["7"] != "merged"
    assert unsteady(project) == []


@pytest.mark.thorough
def test_what_a_runner_finds_at_its_end_is_not_excused_by_the_narrow_run_of_an_unsteady_test(shop):
    """The moody test fails in the third run, the work's; then main shows that it is unsteady."""
    ends = (
        "import shop\n\ndef pytest_sessionfinish(session):\n    if shop.value() != 1:\n        session.exitstatus = 1\n"
    )
    project = shop(counted=1, conftest=ends)
    refused(project)


@pytest.mark.thorough
def test_an_unsteady_test_of_main_excuses_no_run_that_breaks_off_now_and_then(shop):
    """The process ends in the middle in each second run; on main a whole run is red now and then, by a test's name."""
    marker = "Path(__file__).parents[3] / 'ended'"
    breaks = (
        "import os\nfrom pathlib import Path\n\ndef value():\n"
        f"    seen = {marker}\n    if not seen.exists():\n        seen.touch()\n        os._exit(3)\n    return 1\n"
    )
    value = "import shop\n\ndef test_value():\n    assert shop.value() == 1\n"
    project = shop(work=breaks, tests__test_early=value)
    attempt = refused(project)
    assert "" not in unsteady(project)
    assert attempt["failure"]["rule"] == "unsteady-by-change"


@pytest.mark.thorough
def test_the_parts_of_a_gate_after_a_known_unsteady_test_run(shop):
    """The first part ends the gate when its moody test fails; the work's own test in the second part is red."""
    two = f"{PYTEST} tests/test_moody.py && {PYTEST} tests/b"
    project = shop(command=two, counted=1, tests__b__test_b="def test_b():\n    assert 1 == 1\n")
    project.play(("7", 0, [{"write": "c.txt", "text": "c"}]))
    project.run()  # the moody test fails for the work, and is known from now on
    assert (project.statuses()["7"], unsteady(project)) == ("merged", [MOODY])
    project.issue(8, max_attempts=1)
    project.play(("8", 0, [{"write": "tests/b/test_new.py", "text": "def test_new():\n    assert 1 == 2\n"}]))
    (project.folder / "counter").write_text("x" * 2)
    project.run(code=3)
    (attempt,) = project.attempts("8")
    assert (attempt["outcome"], attempt["failure"]["failing_tests"]) == (
        "TEST_FAILURE",
        ["tests/b/test_new.py::test_new"],
    )


@pytest.mark.thorough
def test_a_known_unsteady_test_that_failed_when_work_landed_is_missed_when_it_is_skipped_later(shop):
    """The proof of main's present tree has it as failed; skipped by the product, it is missed all the same."""
    project = shop(counted=1)
    moody = (
        (project.path / "tests/test_moody.py")
        .read_text()
        .replace("def test_moody():\n", "import shop\n\ndef test_moody():\n    shop.value()\n")
    )
    project.write("tests/test_moody.py", moody)
    project.write("tests/test_steady.py", "def test_steady():\n    assert 1 == 1\n")
    project.commit()
    project.issue(8, max_attempts=1)
    project.commit()
    skips = "import unittest\n\ndef value():\n    raise unittest.SkipTest('not today')\n"
    project.play(
        ("7", 0, [{"write": "c.txt", "text": "c"}]),
        ("8", 0, [{"write": "shop.py", "text": skips}]),
    )
    project.run(code=3)
    assert (project.statuses()["7"], unsteady(project)) == ("merged", [MOODY])
    (attempt,) = project.attempts("8")
    assert attempt["outcome"] == "GATE_TAMPERING"
    assert MOODY in attempt["failure"]["message"]
