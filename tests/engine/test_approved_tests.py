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


def test_what_was_approved_is_neither_charged_nor_asked_again_in_a_later_attempt(shop):
    """Its worker changes the one line of main's test; the code is wrong once more before it is right."""
    wrong = [*WORK[1:], {"write": "shop.py", "text": NEW_SHOP.replace("prices), 2", "prices) + 1, 2")}]
    project = shop(("2", 1, BLOCKED), ("2", 2, wrong), ("2", 0, WORK))
    project.run(code=3)
    assert project.shown("blocked")["blocked"][0]["paths"] == ["tests/test_shop.py"]
    assert "it may change" in project.noface("approve", "2", "--note", "it may change tests/test_shop.py").stdout
    project.run()
    outcomes = [(each["outcome"], each["charged"]) for each in project.attempts("2")]
    assert outcomes == [("BOUNDARY_VIOLATION", True), ("TEST_FAILURE", True), ("PASSED", True)]
    assert project.git("show", "main:tests/test_shop.py") == NEW_TESTS.strip()
    (decided,) = project.shown("show", "2")["decisions"]
    assert (decided["verdict"], decided["paths"]) == ("approved", ["tests/test_shop.py"])
    prompt = project.prompt("2", 2)
    assert prompt.index("What the owner of this project decided") < prompt.index("## The issue")
    assert "This issue may change `tests/test_shop.py`" in prompt
    assert "tests/test_shop.py" in prompt[prompt.index("## Rules") :]


def test_the_attempt_that_a_person_calls_right_lands_without_another_worker(shop):
    other = [WORK[0], {"write": "tests/test_shop.py", "text": "def test_total():\n    pass\n"}]
    project = shop(("2", 1, WORK), ("2", 0, other), max_attempts=2)
    project.run(code=3)
    assert project.noface("approve", "2", "--attempt", "1").returncode == 0
    project.run()
    assert project.git("show", "main:tests/test_shop.py") == NEW_TESTS.strip()
    (again,) = project.attempts("2")[2:]
    assert again["outcome"] == "PASSED"
    assert "the work of attempt 1 was judged again; no worker was called" in again["notes"]


def test_a_note_that_calls_an_attempt_right_has_the_next_one_start_from_it(shop):
    other = [WORK[0], {"write": "tests/test_shop.py", "text": "def test_total():\n    pass\n"}]
    project = shop(("2", 1, WORK), ("2", 2, other), ("2", 0, [{"say": "nothing to add"}]), max_attempts=2)
    project.run(code=3)
    assert project.noface("retry", "2", "--note", "Yes: attempt 1 is right.").returncode == 0
    project.noface("run")
    prompt = project.prompt("2", 3)
    assert "the changes of attempt 1" in prompt
    assert prompt.index("Yes: attempt 1 is right.") < prompt.index("## The issue")


def test_an_attempt_called_right_whose_gate_is_red_is_gone_on_from_by_a_worker(shop):
    red = [{"write": "shop.py", "text": "def total(prices):\n    return 7\n"}]
    project = shop(("2", 1, red), ("2", 2, [{"write": "shop.py", "text": SHOP + "\n\nRATE = 1\n"}]), max_attempts=1)
    project.run(code=3)
    assert project.noface("approve", "2", "--attempt", "1").returncode == 0
    project.run()
    assert [each["outcome"] for each in project.attempts("2")] == ["TEST_FAILURE", "PASSED"]
    assert "the changes of attempt 1: the owner of this project wants you to go on" in project.prompt("2", 2)
