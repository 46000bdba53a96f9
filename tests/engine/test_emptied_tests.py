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


@pytest.mark.thorough
def test_rewritten_tests_land_and_nobody_is_asked_and_a_test_goes_with_its_feature_if_the_issue_says_so(project):
    tests = (
        "from shop import price\n\n\ndef test_all():\n    assert price(250) == '2.50'\n    assert price(5) == '0.05'\n"
        "    assert price(0) == '0.00'\n    assert price(17) == '0.17'\n\n\n"
        "def test_large():\n    assert price(99999) == '999.99'\n    assert price(100000) == '1000.00'\n"
    )
    now = (
        "import pytest\n\nfrom shop import price, total\n\n\n"
        "@pytest.mark.parametrize(('cents', 'text'), [(250, '2.50'), (5, '0.05')])\n"
        "def test_usual(cents, text):\n    assert price(cents) == text\n\n\n"
        "def test_small():\n    assert price(0) == '0.00'\n    assert price(17) == '0.17'\n\n\n"
        "def costs(cents, text):\n    assert price(cents) == text\n\n\n"
        "def test_much():\n    costs(99999, '999.99')\n    costs(100000, '1000.00')\n\n\n"
        "def test_total():\n    assert total([1, 2]) == 3\n"
    )
    project.write("shop.py", SHOP)
    project.write("tests/test_shop.py", tests)
    project.config(REVIEWER, gate=PYTEST)
    project.write("old.py", "def legacy(x):\n    return -x\n")
    project.write("tests/test_old.py", "from old import legacy\n\n\ndef test_legacy():\n    assert legacy(3) == -3\n")
    yes = {"asked_for": True, "sentence": "Remove legacy() from the shop", "reason": "it goes"}
    project.play(
        ("1", 0, [WORK[0], {"write": "tests/test_shop.py", "text": now}]),
        ("2", 0, [{"say": json.dumps(yes)}], "changed_tests"),
        ("2", 0, [{"shell": "rm old.py tests/test_old.py"}]),
    )
    project.issue(1, "A basket has a total", "total() adds up what is in a basket.", max_attempts=1)
    project.issue(2, "No legacy prices", "Remove legacy() from the shop. Nobody uses it.", max_attempts=1)
    project.commit()
    project.run()
    assert [attempt["outcome"] for attempt in project.attempts("1")] == ["PASSED"]
    assert not list((project.state / "attempts/1").glob("*/ask-*"))
    assert "tests of main are changed" in " ".join(project.noface("show", "2").stdout.split())
