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


@pytest.mark.thorough
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


HELPER = """\
from pathlib import Path

from shop import receipt

CASES = Path(__file__).parent / "cases"


def check(name):
    lines = (CASES / f"{name}.txt").read_text().splitlines()
    shown = receipt([int(line) for line in lines])
    assert shown == (CASES / f"{name}-out.txt").read_text()
"""
GOLDEN = (
    "from golden import check\n\n\ndef test_basic():\n    check('basic')\n\n\ndef test_none():\n    check('none')\n"
)
RECEIPT = "\n\ndef receipt(basket):\n    return ''.join(f'item {price(each)}\\n' for each in basket)\n"
LAX = HELPER.replace("shown ==", "shown[:4] ==").replace(".read_text()\n", ".read_text()[:4]\n")
REFACTORED = """\
from pathlib import Path

from shop import receipt


def read(name):
    return (Path(__file__).parent / "cases" / name).read_text()


def check(name):
    basket = [int(line) for line in read(f"{name}.txt").splitlines()]
    assert receipt(basket) == read(f"{name}-out.txt")
"""


@pytest.fixture
def receipts(shop):
    """A shop that prints receipts, which are compared with files by a helper."""
    shop.write("shop.py", f"{SHOP}{RECEIPT}")
    shop.write("tests/golden.py", HELPER)
    shop.write("tests/test_receipts.py", GOLDEN)
    shop.write("tests/cases/basic.txt", "250\n5\n")
    shop.write("tests/cases/basic-out.txt", "item 2.50\nitem 0.05\n")
    shop.write("tests/cases/none.txt", "")
    shop.write("tests/cases/none-out.txt", "")
    return shop


@pytest.mark.thorough
def test_a_helper_that_looks_at_less_of_a_file_is_found_while_main_s_version_passes(receipts):
    work = [
        {"write": "shop.py", "text": MORE + RECEIPT},
        TOTAL[1],
        {"write": "tests/golden.py", "text": LAX},
    ]
    receipts.play(("1", 0, work))
    receipts.issue(1, "A basket has a total", "total() adds up what is in a basket.", max_attempts=1)
    receipts.commit()
    receipts.run(code=3)
    failure = receipts.attempts("1")[0]["failure"]
    assert failure["rule"] == "tests-emptied"
    assert failure["failing_tests"] == ["tests/test_receipts.py::test_basic"]
    assert "test_basic cannot fail any more" in failure["message"]


@pytest.mark.thorough
def test_converted_data_and_a_helper_that_looks_at_as_much_land_and_asked_output_does_by_a_yes(receipts):
    as_yaml = TEST.replace("import json\n", "").replace("from shop", "import yaml\nfrom shop")
    as_yaml = as_yaml.replace('json.loads((HERE / "cases.json")', 'yaml.safe_load((HERE / "cases.yaml")')
    converted = [
        {"shell": "rm tests/cases.json"},
        {"write": "tests/cases.yaml", "text": YAML},
        {"write": "tests/test_shop.py", "text": as_yaml},
    ]
    named = RECEIPT.replace("item", "product")
    output = [
        {"write": "shop.py", "text": SHOP + named},
        {"write": "tests/cases/basic-out.txt", "text": "product 2.50\nproduct 0.05\n"},
    ]
    asked = "A receipt says product in place of item"
    yes = {"asked_for": True, "sentence": asked, "reason": "it says so"}
    receipts.play(
        ("1", 0, converted),
        ("2", 0, [{"write": "tests/golden.py", "text": REFACTORED}]),
        ("3", 0, [{"say": json.dumps(yes)}], "changed_tests"),
        ("3", 0, output),
    )
    receipts.issue(1, "Cases in YAML", "The cases of the price are YAML.", max_attempts=1)
    receipts.issue(2, "A shorter helper", "The helper of the golden tests reads files in one place.", max_attempts=1)
    receipts.issue(3, "Products", f"{asked}.", max_attempts=1)
    receipts.commit()
    receipts.run()
    assert [[attempt["outcome"] for attempt in receipts.attempts(issue)] for issue in "123"] == [["PASSED"]] * 3
    asked_of = {folder.parts[-3] for folder in (receipts.state / "attempts").glob("*/*/ask-*")}
    assert asked_of == {"3"}
