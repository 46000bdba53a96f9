import json
from ast import literal_eval
from pathlib import Path

import pytest

from till.prices import receipt, total
from till.testing import check_total

TOP = Path(__file__).parent.parent


@pytest.mark.parametrize("case", sorted((TOP / "cases").glob("*.txt")), ids=lambda path: path.stem)
def test_a_receipt(case):
    prices, discount, wanted = case.read_text().splitlines()
    assert receipt(literal_eval(prices), int(discount)).strip() == wanted


def test_half():
    case = json.loads((TOP / "expected" / "half.json").read_text())
    assert total(case["prices"], case["discount"]) == case["total"]


def test_a_total():
    check_total(total([5, 6]), 11)
    check_total(total([200], 20), 160)
