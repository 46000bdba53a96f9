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
