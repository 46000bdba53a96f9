"""Data of main's tests with fewer cases is no green, though main's version of it passes; converted data lands as it is."""

import json

import pytest
from support.project import PYTEST

SHOP = "def price(cents):\n    return f'{cents / 100:.2f}'\n"
MORE = f"{SHOP}\n\ndef total(basket):\n    return sum(basket)\n"
CASES = [[0, "0.00"], [5, "0.05"], [250, "2.50"], [3211, "32.11"]]
TEST = """\
import json
from pathlib import Path

from shop import price

HERE = Path(__file__).parent


def test_prices():
    for cents, text in json.loads((HERE / "cases.json").read_text()):
        assert price(cents) == text
"""
NEW_TEST = "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n    assert total([]) == 0\n"
TOTAL = [{"write": "shop.py", "text": MORE}, {"write": "tests/test_total.py", "text": NEW_TEST}]
YAML = "".join(f"- [{cents}, '{text}']\n" for cents, text in CASES)
REVIEWER = '[roles]\nreviewer = "big"\n[review]\nwhen = "never"\n'
GOES = "Remove the cases of the price, they are tested elsewhere"


@pytest.fixture
def shop(project):
    """A shop whose prices are tested by a table in a file of data."""
    project.write("shop.py", SHOP)
    project.write("tests/test_shop.py", TEST)
    project.write("tests/cases.json", json.dumps(CASES))
    project.config(REVIEWER, gate=PYTEST)
    return project


def test_cases_that_go_beside_a_new_test_do_not_land_unless_the_issue_asks_for_that_by_a_model_s_yes(shop):
    work = [*TOTAL, {"write": "tests/cases.json", "text": "[]\n"}]
    yes = {"asked_for": True, "sentence": GOES, "reason": "it names them"}
    shop.play(("2", 0, [{"say": json.dumps(yes)}], "changed_tests"), ("*", 0, work))
    shop.issue(1, "A basket has a total", "total() adds up what is in a basket.", max_attempts=1)
    shop.issue(2, "Totals in place of prices", f"total() adds up a basket. {GOES}.", max_attempts=1)
    shop.commit()
    shop.run(code=3)
    failure = shop.attempts("1")[0]["failure"]
    assert (failure["kind"], failure["rule"]) == ("GATE_TAMPERING", "tests-emptied")
    assert "tests/cases.json holds nothing any more (8 values before)" in failure["message"]
    assert failure["failing_tests"] == ["tests/cases.json"]
    assert [attempt["outcome"] for attempt in shop.attempts("2")] == ["PASSED"]
    assert shop.git("show", "main:tests/cases.json") == "[]"
    assert "tests of main are changed" in " ".join(shop.noface("show", "2").stdout.split())
