"""Fixtures that a worker adds to conftest.py for its new tests, and what is told of other edits of protected files."""

import pytest
from support.project import PYTEST

GOOD = "def half(number):\n    return number // 2\n"
TWICE = GOOD + "\n\ndef twice(number):\n    return number * 2\n"
TESTS = "from calc import half\n\n\ndef test_half(six):\n    assert half(six) == 3\n"
SHARED = "import pytest\n\n\n@pytest.fixture\ndef six():\n    return 6\n"
SEVEN = "\n\n@pytest.fixture\ndef seven():\n    return 7\n"
MORE = "from calc import twice\n\n\ndef test_twice(seven):\n    assert twice(seven) == 14\n"


@pytest.fixture
def calc(project):
    def make(*attempts, **front):
        project.write("calc.py", GOOD)
        project.write("tests/conftest.py", SHARED)
        project.write("tests/test_calc.py", TESTS)
        project.write("pytest.ini", "[pytest]\npythonpath = .\n")
        project.config("", gate=PYTEST)
        project.play(*(("1", n, [write(*each) for each in files.items()]) for n, files in enumerate(attempts, 1)))
        project.issue(1, max_attempts=len(attempts), **front)
        project.commit()
        return project

    return make


def write(name, text):
    return {"write": name, "text": text}


WORK = {"calc.py": TWICE, "tests/test_twice.py": MORE}


@pytest.mark.thorough
def test_a_fixture_for_new_tests_lands_with_them(calc):
    project = calc({**WORK, "tests/conftest.py": SHARED + SEVEN})
    project.run(code=0)
    assert project.statuses() == {"1": "merged"}
    assert "def seven" in project.git("show", "main:tests/conftest.py")
