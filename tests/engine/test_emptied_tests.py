"""A test of main that a change empties is no green, though main's version of it passes and another test was added."""

import json

import pytest
from support.project import PYTEST

SHOP = "def price(cents):\n    return f'{cents / 100:.2f}'\n"
EMPTIED = "    assert price(250) == '2.50'\n    assert price(5) == '0.05'\n"
TESTS = f"from shop import price\n\n\ndef test_price():\n{EMPTIED}"
MORE = "def total(basket):\n    return sum(basket)\n"
NEW_TEST = "\n\ndef test_total():\n    assert total([1, 2]) == 3\n    assert total([]) == 0\n"
WORK = [
    {"write": "shop.py", "text": f"{SHOP}\n\n{MORE}"},
    {
        "write": "tests/test_shop.py",
        "text": TESTS.replace("import price", "import price, total").replace(EMPTIED, "    price(250)\n") + NEW_TEST,
    },
]
REVIEWER = '[roles]\nreviewer = "big"\n[review]\nwhen = "never"\n'
ASKED = "test_price may be a smoke test from now on"


@pytest.fixture
def shop(project):
    """A shop whose worker adds a total with a test, and empties the test of the price."""

    def make(body, *plays, attempts=1):
        project.write("shop.py", SHOP)
        project.write("tests/test_shop.py", TESTS)
        project.config(REVIEWER, gate=PYTEST)
        project.play(*plays, ("*", 0, WORK))
        project.issue(1, "A basket has a total", body, max_attempts=attempts)
        project.commit()
        return project

    return make


def test_an_emptied_test_does_not_land_beside_a_new_one_and_nobody_is_asked_whom_the_issue_gives_no_reason(shop):
    project = shop("total() adds up what is in a basket.", attempts=2)
    project.run(code=3)
    first, second = project.attempts("1")
    assert (first["outcome"], first["failure"]["rule"]) == ("GATE_TAMPERING", "tests-emptied")
    assert first["failure"]["failing_tests"] == ["tests/test_shop.py::test_price"]
    assert "test_price asserts nothing any more (2 before)" in project.prompt("1", 2)
    assert second["outcome"] == "GATE_TAMPERING"
    assert not list((project.state / "attempts/1").glob("*/ask-*"))
    assert project.git("show", "main:shop.py") == SHOP.strip()


@pytest.mark.thorough
def test_what_an_issue_says_of_a_test_lets_it_ask_for_less_by_a_model_s_yes(shop):
    yes = {"asked_for": True, "sentence": ASKED, "reason": "it names the test"}
    project = shop(f"total() adds up a basket. {ASKED}.", ("1", 0, [{"say": json.dumps(yes)}], "changed_tests"))
    project.run()
    assert project.git("show", "main:tests/test_shop.py") == WORK[1]["text"].strip()
    (folder,) = (project.state / "attempts/1/1").glob("ask-*")
    assert "asserts nothing any more" in (folder / "prompt.md").read_text()
    assert "tests of main are changed" in " ".join(project.noface("show", "1").stdout.split())
