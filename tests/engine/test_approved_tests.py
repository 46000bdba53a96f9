"""A person's yes to changed tests holds for what it names: in every check, for every role, for all later attempts."""

import json

import pytest
from support.project import PYTEST

SHOP = "def total(prices):\n    return sum(prices)\n"
NEW_SHOP = "def total(prices):\n    return round(sum(prices), 2)\n"
TESTS = (
    "from shop import total\n\n\ndef test_total():\n    assert total([1.005, 2]) == 3.005\n\n\n"
    "def test_nothing():\n    assert total([]) == 0\n"
)
NEW_TESTS = TESTS.replace("== 3.005", "== 3.0")
ASKS = {
    "status": "blocked",
    "blocked_reason": "contract_change",
    "summary": "test_total in tests/test_shop.py wants an amount that is not rounded",
    "questions": ["May tests/test_shop.py be changed?"],
}
BLOCKED = [{"say": "```json\n" + json.dumps(ASKS) + "\n```"}]
WORK = [{"write": "shop.py", "text": NEW_SHOP}, {"write": "tests/test_shop.py", "text": NEW_TESTS}]


@pytest.fixture
def shop(project):
    """A shop whose issue cannot be done without a change of main's test, which its worker asks for."""

    def make(*plays, config="", **front):
        project.write("shop.py", SHOP)
        project.write("tests/test_shop.py", TESTS)
        project.write("tests/test_other.py", "def test_other():\n    assert 1 + 1 == 2\n")
        project.config(config, gate=PYTEST)
        project.play(*(plays or (("2", 1, BLOCKED), ("2", 0, WORK))))
        project.issue(2, "Round amounts", "total() rounds to cents.", **front)
        project.commit()
        return project

    return make


def test_what_a_person_approves_may_be_changed(shop):
    project = shop()
    project.run(code=3)
    asked = project.shown("blocked")["blocked"][0]
    assert asked["paths"] == ["tests/test_shop.py"]
    done = project.noface("approve", "2", "--note", "it may change tests/test_shop.py as well")
    assert done.returncode == 0, done.stderr
    assert "it may change tests/test_shop.py as well" in done.stdout
    project.run()
    assert project.git("show", "main:tests/test_shop.py") == NEW_TESTS.strip()
    assert [each["outcome"] for each in project.attempts("2")] == ["BOUNDARY_VIOLATION", "PASSED"]
    assert project.shown("show", "2")["granted_paths"] == ["tests/test_shop.py"]
    prompt = project.prompt("2", 2)
    rules = prompt[prompt.index("## Rules") :]
    assert "tests/test_shop.py" in rules


def test_work_that_alters_its_judges_is_asked_about_before_it_is_blocked_and_lands_by_a_yes(shop):
    project = shop(("2", 0, WORK), max_attempts=1)
    project.run(code=3)
    asked = project.shown("blocked")["blocked"][0]
    assert (asked["status"], asked["paths"]) == ("approval", ["tests/test_shop.py"])
    assert "noface approve 2" in asked["commands"]
    assert project.noface("approve", "2").returncode == 0
    project.run()
    assert len(project.attempts("2")) == 1
    assert project.git("show", "main:tests/test_shop.py") == NEW_TESTS.strip()
