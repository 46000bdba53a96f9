"""A library that is not installed: two calls at most, then a person is told; a worker that adds it to the manifest lands."""

import sys

import pytest

PYTEST = f"PYTHONPATH=lib:. {sys.executable} -m pytest -q -p no:cacheprovider --disable-plugin-autoload"
GATE = f'\n[[gates]]\nname = "unit"\ncommand = "{PYTEST}"\ncanary = false\n'
INSTALL = "mkdir -p lib && for name in $(cat requirements.txt); do cp {shelf}/$name.py lib/; done"


@pytest.mark.thorough
def test_a_library_that_is_not_installed_costs_two_calls_at_most(project):
    """Issue 1's worker does the same again, or nothing; issue 2 adds it to the manifest when it is told how, and setup runs again."""
    shelf = project.folder / "shelf"
    shelf.mkdir()
    (shelf / "leftpad.py").write_text("pad = 1\n")
    setup = INSTALL.format(shelf=shelf)
    project.config(extra=GATE)
    text = f'[project]\nsetup = "{setup}"\nsetup_inputs = ["requirements.txt"]\nkeep = ["lib"]\n\n'
    project.write("noface.toml", text + (project.path / "noface.toml").read_text())
    project.write("requirements.txt", "")
    project.write(".gitignore", "__pycache__/\nlib/\n")
    project.write("tests/test_a.py", "def test_a():\n    assert 1 == 1\n")
    project.issue(1)
    project.issue(2)
    uses = [
        {"write": "tests/test_pad.py", "text": "import os\nimport leftpad\n\ndef test_pad():\n    assert leftpad.pad\n"}
    ]
    project.play(("1", 0, uses), ("2", 1, uses), ("2", 2, [*uses, {"write": "requirements.txt", "text": "leftpad\n"}]))
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"1": "blocked", "2": "merged"}
    first, second = project.attempts("1")
    assert {a["outcome"] for a in (first, second)} == {"ENVIRONMENT"}
    (blocked,) = project.shown("blocked")["blocked"]
    for said in ("leftpad", "tests/test_pad.py:2", "add leftpad to requirements.txt", "[project] setup"):
        assert said in blocked["summary"]
    prompt = (project.state / "attempts/2/2/prompt.md").read_text()
    assert "the library leftpad, which tests/test_pad.py:2 imports, is not installed" in prompt
    assert len(project.attempts("2")) == 2
