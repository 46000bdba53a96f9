"""Whose a failure is that came and went, and what is remembered of it."""

import pytest

from noface.integrity.inventory import Inventory, Outcome, disagreement
from noface.integrity.unsteady import excused, of_the_change, still_unsteady
from noface.model.listed import UnsteadyTest

KNOWN = {"a": UnsteadyTest("unit", "a", 1.0, 1, 2)}
MAIN = Inventory((("tests/test_a.py::test_a", Outcome.PASSED), ("shop::TestA", Outcome.PASSED)))


def test_what_main_has_not_shown_for_a_week_is_steady():
    assert still_unsteady(KNOWN, 7 * 86_400.0) == KNOWN
    assert still_unsteady(KNOWN, 7 * 86_400.0 + 1.0) == {}


def test_a_run_whose_unsteady_test_counts_as_passed_agrees_with_its_summary():
    green = Inventory((("a", Outcome.PASSED), ("b", Outcome.PASSED)), told=(2,))
    red = Inventory((("a", Outcome.FAILED), ("b", Outcome.PASSED)), told=(1,))
    assert disagreement(green, excused(red, ("a",)), green) == ""


@pytest.mark.parametrize(
    ("test", "changed", "own"),
    [
        ("tests/test_a.py::test_a", {"src/a.py"}, False),
        ("tests/test_a.py::test_a", {"tests/test_a.py"}, True),
        ("tests/test_a.py::test_new", {"src/a.py"}, True),
        ("shop::TestA", {"shop.go"}, False),
        ("shop::TestA", {"shop_test.go"}, True),  # its file is not known
    ],
)
def test_a_test_is_the_change_s_own_where_it_adds_it_or_touches_its_file(test, changed, own):
    assert of_the_change((test,), MAIN, changed) == ((test,) if own else ())
