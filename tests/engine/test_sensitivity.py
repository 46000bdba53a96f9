"""Of which changes it is asked whether main's tests can still turn red; no gate runs."""

import subprocess
import tempfile
from pathlib import Path

import pytest
from support.cases import cases
from support.trials import dry_trial

from noface.attempt.gate_session import GateTask
from noface.attempt.gating import Gated
from noface.attempt.sensitivity import Sensitivity
from noface.git.plumbing import Plumbing
from noface.git.repository import discover
from noface.model.gate import GateKind, GateSpec
from noface.model.issue import Issue

UNIT = GateSpec("unit", "pytest", GateKind.TEST)
MEASURING = GateSpec("unit", "pytest --cov", GateKind.TEST)
MAIN = {
    "calc.py": "def half(number):\n    return number // 2\n",
    "tests/test_a.py": "def test_a():\n    assert half(6) == 3\n",
    "tests/test_other.py": "def test_other():\n    assert name() == 'x'\n",
    "tests/check.py": "def check(found):\n    assert found == 1\n",
}
PRODUCT = {"calc.py": "def half(number):\n    return int(number / 2)\n"}
PROSE = {"README.md": "It halves numbers.\n"}
TESTS = {"tests/test_b.py": "def test_b():\n    assert half(8) == 4\n"}


@pytest.fixture
def asked(tmp_path):
    """The files with other values in each run of a test gate for a change, by [integrity] sensitivity."""

    def commit(folder, files):
        for name, text in files.items():
            Path(folder, name).parent.mkdir(exist_ok=True)
            Path(folder, name).write_text(text)
        for args in (("add", "-A"), ("commit", "-qm", "x")):
            subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *args], cwd=folder, check=True)
        return subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True
        ).stdout.strip()

    def ask(often, change, gate):
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True)
        main, now = commit(folder, MAIN), commit(folder, change)
        plumbing, runs = Plumbing(discover(folder, "main")), []
        task = GateTask("1", 1, "t", "gate", plumbing.tree(now), now, main, folder)

        def run(tree, gates, *, steady):
            assert not steady
            changed = tuple(change.path for change in plumbing.changes(task.tree, tree))
            runs.extend(changed for _ in gates)
            return Gated(tree, ())

        trial = dry_trial(plumbing, task, Issue("1", "x"), run, gates=(gate,), sensitivity=often)
        assert Sensitivity(trial).failure({}) is None
        plumbing.close()
        return runs

    return ask


@cases(
    ("often", "change", "gate", "runs"),
    [
        ("reaching", PRODUCT, UNIT, 1),
        ("reaching", PROSE, UNIT, 0),
        ("reaching", TESTS, UNIT, 0),
        ("always", PROSE, UNIT, 1),
        ("always", PRODUCT, MEASURING, 0),
        ("never", PRODUCT, UNIT, 0),
    ],
)
def test_it_is_asked_as_often_as_the_setting_says(asked, often, change, gate, runs):
    assert len(asked(often, change, gate)) == runs


@cases(
    ("often", "turned"),
    [
        ("reaching", ("tests/check.py", "tests/test_a.py")),
        ("always", ("tests/check.py", "tests/test_a.py", "tests/test_other.py")),
    ],
)
def test_only_the_tests_that_are_asked_and_what_they_share_have_other_values(asked, often, turned):
    assert asked(often, PRODUCT, UNIT) == [turned]
