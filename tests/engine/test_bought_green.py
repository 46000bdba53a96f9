"""A change that buys its green: it does not land by itself, the worker is told what and why, and a person may allow it."""

import sqlite3
import zlib
from contextlib import closing

import pytest
from support.project import PYTEST

GOOD = "def half(number):\n    return number // 2\n\n\ndef twice(number):\n    return number * 2\n"
BROKEN = GOOD.replace("// 2", "// 3")
TESTS = (
    "from calc import half, twice\n\n\ndef test_half():\n    assert half(6) == 3\n\n\n"
    "def test_twice():\n    assert twice(2) == 4\n"
)


@pytest.fixture
def calc(project):
    """A project with tests; `make` says what its worker writes, the product broken besides."""

    def make(*steps, attempts=1, broken=True, config="", **front):
        project.write("calc.py", GOOD)
        project.write("tests/test_calc.py", TESTS)
        project.write("pytest.ini", "[pytest]\npythonpath = .\n")
        project.config(config, gate=PYTEST)
        wrong = [{"write": "calc.py", "text": BROKEN}] if broken else []
        project.play(("*", 0, [*wrong, *steps]))
        project.issue(1, max_attempts=attempts, **front)
        project.commit()
        return project

    return make


def write(name, text):
    return {"write": name, "text": text}


def several(project, changes):
    """Let each of the changes be the work of an issue of its own, all of one run; their attempts, by name."""
    project.play(*[(str(number), 0, steps) for number, steps in enumerate(changes.values(), 1)])
    for number, name in enumerate(changes, 1):
        project.issue(number, name, max_attempts=1)
    project.commit()
    done = project.noface("run")
    assert done.returncode in (0, 3), done.stdout + done.stderr
    return {name: project.attempts(str(number))[0] for number, name in enumerate(changes, 1)}


WRONG = write("calc.py", BROKEN)
EXITS = "import os, sys\nif 'py' + 'test' in sys.argv[0]:\n    os._exit(0)\n" + GOOD
HIDES = "import calc\n\ncalc.half = lambda number: number // 2\n\n\ndef test_more():\n    assert True\n"
ZERO = "import atexit as at\nimport os as system\n\nat.register(system._exit, 0)\n" + GOOD
RED = "import calc\n\n\ndef test_more():\n    assert calc.half(6) == 4\n"

# What a worker writes, the rules of which one refuses it, and what is said of it: a row for each rule that only a run
# can show; for the others tests/integrity, or another test, has a table.
REFUSED = {
    "a green end does not agree with a new test that failed": (
        [write("calc.py", ZERO), write("tests/test_more.py", RED)],
        {"report-disagrees"},
        ["it ended as if no test had failed, but these did: tests/test_more.py::test_more"],
    ),
    "a process that ends before its tests is missed by their names": (
        [write("calc.py", EXITS)],
        {"tests-missing", "no-tests-where-main-has", "gates-weakened"},
        [],
    ),
    "a new file beside the tests that hides one cannot help": (
        [WRONG, write("tests/test_aaa.py", HIDES)],
        {"judge-altered"},
        [],
    ),
}


def test_what_buys_its_green_is_refused(calc):
    project = calc()
    attempts = several(project, {name: REFUSED[name][0] for name in REFUSED})
    for name in attempts:
        _, rules, said = REFUSED[name]
        failure = attempts[name]["failure"]
        assert attempts[name]["outcome"] == "GATE_TAMPERING", name
        assert rules is None or failure["rule"] in rules, name
        assert all(part in failure["message"] or part in failure["failing_tests"] for part in said), name
    assert project.git("show", "main:calc.py") == GOOD.strip()


@pytest.mark.thorough
def test_the_names_of_tests_are_kept_without_secrets(calc):
    value = "hunter2-hunter2-x9"
    named = "import os, pytest\n\n\n@pytest.mark.parametrize('key', [os.environ['MY_TOKEN']])\ndef test_key(key):\n    pass\n"
    project = calc(write("b.txt", "b\n"), broken=False)
    project.env["MY_TOKEN"] = value
    project.write("tests/test_key.py", named)
    config = (project.path / "noface.toml").read_text()
    project.write("noface.toml", config.replace('name = "check"\n', 'name = "check"\nenv_pass = ["MY_TOKEN"]\n'))
    project.commit()
    project.run()
    with closing(sqlite3.connect(project.state / "state.db")) as database:
        kept = [zlib.decompress(tests).decode() for (tests,) in database.execute("SELECT tests FROM gate_memo")]
    assert any("test_key[***MY_TOKEN" in names for names in kept)
    assert not any(value in names for names in kept)
